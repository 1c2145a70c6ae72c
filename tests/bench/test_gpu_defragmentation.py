"""What a plan of moves costs on a large cluster."""

from random import Random

import pytest
from support.addons.gpu.asked_scheduler import checked_plan
from support.addons.gpu.hami_cluster import NOW, node, on, pod
from support.yardstick import measure_work

MAX_YARDSTICKS = 60
"""It takes 4."""


@pytest.mark.slow
def test_a_fragmented_cluster_of_200_nodes_is_planned_and_checked_with_little_work() -> None:
    random = Random(7)
    nodes = [node(f"n{at:03}", 8) for at in range(200)]
    pods = []
    for at, each in enumerate(nodes):
        for card in range(8):
            for number in range(random.randint(1, 2)):
                made = pod(f"p{at}-{card}-{number}", random.choice((10, 20, 30, 40)))
                pods.append(on(made, each, card))
    waiting = [pod(f"waits-{number}", 100, cards=2) for number in range(5)]
    found, yardsticks = measure_work(
        lambda: checked_plan(nodes, [*pods, *waiting], NOW, free=10, max_moves=40)
    )
    assert yardsticks < MAX_YARDSTICKS
    helped = [step for step in found.steps if step.places is not None]
    assert (len(helped), found.unplaced) == (5, ())
    # Two cards with a pod each make room for one that waits, and each further card has one.
    assert [len(step.moves) for step in helped] == [2] * 5
    assert [len(step.moves) for step in found.steps if step.frees is not None] == [1] * 10
    assert found.idle_after == 10

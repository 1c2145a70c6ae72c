"""One pod of a tenant does not stop scheduling for all: a budget for whatever fits into an object.

Every pod that an API server stores is tried within `MAX_YARDSTICKS` of work in a cluster of a
thousand nodes, and those who come after it do not notice that it was there.
"""

import json
from collections.abc import Iterator

import pytest
from support.suite.slow_cases import few_of
from support.yardstick import measure_work

from podium.bench.hostile_claims import TABLES, HostileScene
from podium.bench.hostile_pods import MAX_OBJECT_BYTES
from podium.scheduler.engine.garbage import seldom_collected

MAX_YARDSTICKS = 60
CASES = [(kind, what) for kind, table in TABLES.items() for what in table]


@pytest.fixture(scope="module")
def scene() -> Iterator[HostileScene]:
    with seldom_collected():
        yield HostileScene()


@pytest.mark.parametrize("case", few_of(CASES, 8), ids=": ".join)
def test_a_hostile_pod_is_tried_within_the_budget(
    scene: HostileScene, case: tuple[str, str]
) -> None:
    kind, what = case
    visit = scene.prepare(TABLES[kind][what])
    spent: dict[str, float] = {}
    try:
        _, spent["what it brings"] = measure_work(visit.bring)
        _, spent["arrival"] = measure_work(visit.arrive)
        _, spent["attempt"] = measure_work(visit.attempt)
        _, spent["change of a node"] = measure_work(scene.change_node)
        _, spent["next attempt"] = measure_work(visit.attempt)
        placed, spent["others"] = measure_work(scene.schedule_others)
    finally:
        _, spent["end"] = measure_work(visit.leave)

    assert {step: work for step, work in spent.items() if work > MAX_YARDSTICKS} == {}
    assert placed >= 9  # the pod itself may be due again, and then has one of their turns


def test_hostile_objects_are_as_large_as_an_object_can_be() -> None:
    for kind, what in CASES[::8]:
        hostile = TABLES[kind][what]
        sizes = [len(json.dumps(each)) for each in (hostile.pod, *hostile.objects)]
        assert max(sizes) <= 1.2 * MAX_OBJECT_BYTES

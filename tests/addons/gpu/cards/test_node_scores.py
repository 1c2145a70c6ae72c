"""Which node is the best for a pod, and how fragmented nodes are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.addons.gpu.fleets import unused

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fitting import node_values, scores
from podium.addons.gpu.cards.fragmentation import Fragmentation, fragmentation, node_fragmentation
from podium.addons.gpu.cards.requests import NodePolicy, PodRequest


def three_nodes() -> CardTable:
    """Empty; 100 cores used; 30 cores and all memory but one unit used."""
    table = CardTable()
    for row in range(3):
        table.put_node(row, unused(2, memory=4, slots=10))
    table.charge(1, {0: CardUse(100, 1, 1)})
    table.charge(2, {0: CardUse(30, 4, 1), 1: CardUse(0, 3, 1)})
    return table


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        (NodePolicy.NONE, [0, 1, 2]),
        (NodePolicy.FULLEST_BY_CORES, [1, 2, 0]),
        (NodePolicy.EMPTIEST_BY_CORES, [0, 2, 1]),
        (NodePolicy.BINPACK, [2, 1, 0]),
        (NodePolicy.SPREAD, [0, 1, 2]),
    ],
)
def test_policies_order_nodes(policy: NodePolicy, order: list[int]) -> None:
    values = node_values(three_nodes(), None, PodRequest((), node_policy=policy))
    assert sorted(range(3), key=lambda row: -values[row]) == order
    some = node_values(three_nodes(), np.array([2, 0]), PodRequest((), node_policy=policy))
    assert some.tolist() == [values[2], values[0]]


def test_shares_of_slots_cores_and_memory_are_added_up() -> None:
    values = node_values(three_nodes(), None, PodRequest((), node_policy=NodePolicy.BINPACK))
    assert values.tolist() == [0, 50_000 + 500_000 + 125_000, 100_000 + 150_000 + 875_000]


@given(st.lists(st.tuples(st.integers(-50, 300), st.integers(-5, 40)), min_size=2, max_size=9))
def test_policies_by_cores_compare_free_cores_first_and_free_memory_second(
    used: list[tuple[int, int]],
) -> None:
    table = CardTable()
    for row, (cores, memory) in enumerate(used):
        table.put_node(row, unused(2, memory=16))
        table.charge(row, {0: CardUse(cores, memory, 1)})
    request = PodRequest((), node_policy=NodePolicy.FULLEST_BY_CORES)
    values = node_values(table, None, request)
    free = [(200 - cores, 32 - memory) for cores, memory in used]
    rows = range(len(used))
    assert sorted(rows, key=lambda row: (-values[row], row)) == sorted(
        rows, key=lambda row: (free[row], row)
    )


def test_scores_lie_between_the_smallest_and_the_largest_value() -> None:
    assert scores(np.array([5, 5, 5])).tolist() == [10, 10, 10]
    assert scores(np.array([0, 99, 100])).tolist() == [0, 9, 10]
    assert scores(np.array([-7])).tolist() == [10]
    assert scores(np.array([], np.int64)).tolist() == []


@given(st.lists(st.integers(-(1 << 58), 1 << 58), min_size=1, max_size=9))
def test_only_the_best_nodes_have_the_best_score(values: list[int]) -> None:
    found = scores(np.array(values)).tolist()
    assert [i for i, score in enumerate(found) if score == 10] == [
        i for i, value in enumerate(values) if value == max(values)
    ]
    assert min(found) >= 0


def test_free_cores_beside_used_ones_are_in_pieces() -> None:
    table = CardTable()
    table.put_node(0, unused(3, memory=8))
    table.charge(0, {1: CardUse(60, 2, 1), 2: CardUse(100, 8, 1)})
    table.put_node(1, NodeCards((Card(0, memory=8), Card(1, memory=8, healthy=False))))
    table.put_node(2, NodeCards((Card(0, memory=8),), Reason.HEARTBEAT_TIMEOUT))
    nodes = node_fragmentation(table)
    first = fragmentation(nodes, 0)
    assert first == Fragmentation(3, 1, 1, 140, 40, 14, 6)
    assert (first.of_cores, first.of_memory) == (40 / 140, 6 / 14)
    assert fragmentation(nodes, 1) == Fragmentation(1, 1, 0, 100, 0, 8, 0)
    assert fragmentation(nodes, 2) == Fragmentation()
    assert fragmentation(nodes, 2).of_cores == 0.0
    assert fragmentation(nodes) == Fragmentation(4, 2, 1, 240, 40, 22, 6)

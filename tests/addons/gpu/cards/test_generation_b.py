"""The vectors of the first GPU admission: nodes walked from the fullest on, exact cards."""

import numpy as np
import pytest
from support.addons.gpu.fleets import unused

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.fitting import fit, node_values
from podium.addons.gpu.cards.requests import ContainerRequest, NodePolicy, PodRequest

NAMES = ("testnode0", "testnode1", "testnode2")

Pod = tuple[tuple[int, int], ...]
PODS: dict[str, Pod] = {
    "pod-0": ((10, 1), (10, 1)),
    "pod-1": ((100, 3), (80, 3)),
    "pod-2": ((200, 10), (0, 0)),
    "pod-3": ((10, 2), (0, 0)),
    "pod-4": ((50, 2),),
    "pod-5": ((100, 1),),
    "pod-6": ((40, 1), (40, 1)),
}
CHOSEN = {
    "pod-0": ("testnode0", [(0,), (0,)], []),
    "pod-1": ("testnode1", [(0,), (1,)], ["testnode0"]),
    "pod-2": ("testnode2", [(0, 1), ()], ["testnode1", "testnode0"]),
    "pod-3": ("testnode0", [(0,), ()], ["testnode2", "testnode1"]),
    "pod-4": ("testnode0", [(1,)], ["testnode2", "testnode1"]),
    "pod-5": (None, [], ["testnode2", "testnode1", "testnode0"]),
    "pod-6": (None, [], ["testnode2", "testnode1", "testnode0"]),
}


def request_of(pod: Pod) -> PodRequest:
    def container(cores: int, memory: int) -> ContainerRequest | None:
        if cores >= 100:
            return ContainerRequest(cards=cores // 100, cores=100, exclusive=True, whole=True)
        return ContainerRequest(cores=cores, memory=memory) if cores and memory else None

    return PodRequest(
        tuple(container(*each) for each in pod), node_policy=NodePolicy.FULLEST_BY_CORES
    )


class Walk:
    """The filter of generation B: nodes in order, the first that fits is taken at once."""

    def __init__(self) -> None:
        self.table = CardTable(256 << 20)
        for row in range(len(NAMES)):
            self.table.put_node(row, unused(2, memory=4))

    def schedule(self, pod: Pod) -> tuple[str | None, list[tuple[int, ...]], list[str]]:
        request = request_of(pod)
        values = node_values(self.table, None, request)
        refused: list[str] = []
        for row in sorted(range(len(NAMES)), key=lambda row: (-values[row], NAMES[row])):
            allocation = allocate(self.table, row, request)
            assert fit(self.table, np.array([row]), request).fits[0] == isinstance(
                allocation, Allocation
            )
            if isinstance(allocation, Allocation):
                self.table.charge(row, card_uses(allocation))
                indexes = [tuple(s.card for s in shares) for shares in allocation.containers]
                return NAMES[row], indexes, refused
            refused.append(NAMES[row])
        return None, [], refused


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_gets_the_node_and_the_cards_of_generation_b(pod: str) -> None:
    walk = Walk()
    for name, containers in PODS.items():
        result = walk.schedule(containers)
        if name == pod:
            assert result == CHOSEN[pod]


def test_what_is_left_after_the_vectors_is_what_generation_b_counts() -> None:
    walk = Walk()
    for containers in PODS.values():
        walk.schedule(containers)
    table = walk.table
    assert (table.cores - table.used_cores)[0, :2].tolist() == [70, 50]
    assert (table.memory - table.used_memory)[0, :2].tolist() == [0, 2]

"""From what an agent registers to what it finds on the pod, and back, through the allocator."""

import pytest
from support.addons.gpu.dialect_objects import NOW, bound, node, pod, registered, written

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.fitting import node_values
from podium.addons.gpu.dialects import find_dialect
from podium.kubernetes.kinds.pod import Pod

CORE, MEMORY = "tencent.com/vcuda-core", "tencent.com/vcuda-memory"
GPU_MANAGER = find_dialect("gpu-manager")


class Fleet:
    """Nodes testnode0 to testnode2 with two cards each, known from their metadata only."""

    def __init__(self) -> None:
        capacity = {CORE: 200, MEMORY: 8}
        self.nodes = [GPU_MANAGER.node_cards(node(capacity), NOW) for _ in range(3)]
        self.pods: list[Pod] = []

    def place(self, *containers: tuple[int, int]) -> dict[str, str]:
        """Where the pod goes: the annotations that its agent reads; none if it fits nowhere."""
        asking = pod(*({CORE: cores, MEMORY: memory} for cores, memory in containers))
        request = GPU_MANAGER.pod_request(asking)
        assert request is not None
        table = self.table()
        order = sorted(range(3), key=lambda row: (-node_values(table, None, request)[row], row))
        for row in order:
            taken = allocate(table, row, request)
            if isinstance(taken, Allocation):
                name = f"testnode{row}"
                write = GPU_MANAGER.write_decision(asking, name, self.nodes[row], taken, NOW)
                decided = written(asking, write)
                self.pods.append(bound(decided, name))
                return {
                    key.removeprefix("tencent.com/predicate-"): text
                    for key, text in (decided.metadata.annotations or {}).items()
                    if "idx" in key or "node" in key
                }
        return {}

    def table(self) -> CardTable:
        """Built from scratch out of what stands on the pods."""
        table = CardTable()
        for row, cards in enumerate(self.nodes):
            table.put_node(row, cards)
        for each in self.pods:
            row = int(GPU_MANAGER.decided_node(each)[-1])
            decision = GPU_MANAGER.decision(each, self.nodes[row])
            assert decision is not None
            table.charge(row, card_uses(decision.allocation))
        return table


def test_pods_go_where_gpu_admission_puts_them() -> None:
    fleet = Fleet()
    pods = [
        ((10, 1), (10, 1)),
        ((100, 3), (80, 3)),
        ((200, 10), (0, 0)),
        ((10, 2), (0, 0)),
        ((50, 2),),
        ((100, 1),),
        ((40, 1), (40, 1)),
    ]
    assert [fleet.place(*containers) for containers in pods] == [
        {"node": "testnode0", "gpu-idx-0": "0", "gpu-idx-1": "0"},
        {"node": "testnode1", "gpu-idx-0": "0", "gpu-idx-1": "1"},
        {"node": "testnode2", "gpu-idx-0": "0,1"},
        {"node": "testnode0", "gpu-idx-0": "0"},
        {"node": "testnode0", "gpu-idx-0": "1"},
        {},
        {},
    ]


CARDS = tuple(
    Card(at, f"GPU-{at}", "NVIDIA A10", memory=1000, slots=10, numa=at // 2) for at in range(4)
)
ALL_ALIKE = tuple(Card(at, memory=1000) for at in range(4))


@pytest.mark.parametrize(
    ("name", "cards", "limits"),
    [
        ("gpu-manager", ALL_ALIKE, {CORE: 30, MEMORY: 100}),
        ("gpu-manager", ALL_ALIKE, {CORE: 200}),
        ("gpu-scheduler", CARDS, {"nvidia.com/vcuda-core": 30, "nvidia.com/vcuda-memory": 100}),
        ("gpushare", ALL_ALIKE, {"aliyun.com/gpu-mem": 100}),
        ("hami", CARDS, {"nvidia.com/gpu": 2, "nvidia.com/gpumem": 100}),
        ("hami", CARDS, {"nvidia.com/gpu": 1}),
        ("vgpu-manager", CARDS, {"nvidia.com/vgpu-number": 2, "nvidia.com/vgpu-cores": 5}),
    ],
)
def test_what_is_allocated_is_what_the_written_decision_charges(
    name: str, cards: tuple[Card, ...], limits: dict[str, int]
) -> None:
    dialect = find_dialect(name)
    found: NodeCards = dialect.node_cards(registered(dialect.register(cards, NOW)), NOW)
    table = CardTable()
    table.put_node(0, found)
    asking = pod(limits, {"cpu": 1})
    request = dialect.pod_request(asking)
    assert request is not None
    taken = allocate(table, 0, request)
    assert isinstance(taken, Allocation), taken
    decided = bound(written(asking, dialect.write_decision(asking, "n1", found, taken, NOW)), "n1")
    decision = dialect.decision(decided, found)
    assert decision is not None
    assert card_uses(decision.allocation) == card_uses(taken)
    assert table.charge(0, card_uses(decision.allocation)) == ()

"""Remembered answers must be those that a search from scratch would give."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.scheduler.plugins.device_builders import (
    DRIVER,
    DeviceWorld,
    allocated,
    alternative,
    claiming_pod,
    device,
    exactly,
    first_of,
    make_claim,
    make_slice,
)

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceSlice
from podium.testing import make_node

NODES = ["n0", "n1", "n2", "n3"]
BIG = f'device.attributes["{DRIVER}"].size > 1'
QUESTIONS = [
    [exactly("r")],
    [exactly("r", 2)],
    [exactly("r", 1, BIG)],
    [first_of("r", alternative("two", 2, BIG), alternative("one", 1))],
]
STALE = "a question whose devices changed"


class Remembering(RuleBasedStateMachine):
    """Claims come and go, slices and nodes change; after each step every question is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.world = DeviceWorld(nodes=[])
        self.number = 0

    @initialize()
    def two_nodes(self) -> None:
        for name in NODES[:2]:
            self.world.cluster.put_node(make_node(name))

    @rule(node=st.sampled_from(NODES), zone=st.sampled_from(["a", "b"]))
    def put_node(self, node: str, zone: str) -> None:
        self.world.cluster.put_node(make_node(node, labels={"zone": zone}))

    @rule(node=st.sampled_from(NODES))
    def remove_node(self, node: str) -> None:
        self.world.cluster.remove_node(node)

    @rule(node=st.sampled_from(NODES), sizes=st.lists(st.integers(1, 2), max_size=3))
    def put_slice(self, node: str, sizes: list[int]) -> None:
        devices = [device(f"d{i}", {"size": size}) for i, size in enumerate(sizes)]
        self.world.put(make_slice(node, devices, node=node))

    @rule(zone=st.sampled_from(["a", "b"]), count=st.integers(0, 2))
    def put_zone_slice(self, zone: str, count: int) -> None:
        term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}
        devices = [device(f"d{i}", {"size": 2}) for i in range(count)]
        self.world.put(make_slice("zone", devices, nodeSelector={"nodeSelectorTerms": [term]}))

    @rule(pool=st.sampled_from([*NODES, "zone"]), index=st.integers(0, 2))
    def allocate(self, pool: str, index: int) -> None:
        # upstream: what is left of a device that two claims hold depends on who lets go first
        if self._is_held(pool, f"d{index}"):
            return
        self.number += 1
        status = allocated(f"r=pool/{index}".replace("pool/", f"{pool}/d"))
        self.world.put(make_claim(f"held{self.number}", exactly("r"), status=status))

    def _is_held(self, pool: str, device: str) -> bool:
        allocations = (c.status.allocation for c in self.world.cluster.catalog.all(ResourceClaim))
        return any(
            (result.pool, result.device) == (pool, device)
            for allocation in allocations
            if allocation is not None
            for result in allocation.devices.results or ()
        )

    @rule(number=st.integers(1, 5))
    def release(self, number: int) -> None:
        claim = self.world.cluster.catalog.get(ResourceClaim, f"held{number}", "default")
        if claim is not None:
            self.world.cluster.catalog.remove(claim)

    @invariant()
    def remembered_answers_are_fresh_answers(self) -> None:
        cluster = self.world.cluster
        nodes = [
            cluster.nodes.node(row)
            for row in range(cluster.nodes.size)
            if cluster.nodes.present[row]
        ]
        objects: list[Any] = [
            *cluster.catalog.all(ResourceSlice),
            *cluster.catalog.all(ResourceClaim),
        ]
        fresh = DeviceWorld(*objects, nodes=nodes)
        for number, requests in enumerate(QUESTIONS):
            assert _ask(self.world, number, requests) == _ask(fresh, number, requests), STALE


def _ask(world: DeviceWorld, number: int, requests: list[Any]) -> dict[str, Any]:
    claim = make_claim(f"question{number}", *requests)
    world.put(claim)
    cycle, _ = world.start(claiming_pod("pod", claim.metadata.name))
    rejected = world.reasons(cycle)
    nodes = world.cluster.nodes
    scores = world.plugin.score(cycle, nodes.all_rows())
    found: dict[str, Any] = {}
    for row in range(nodes.size):
        if nodes.present[row]:
            name = nodes.names[row]
            found[name] = rejected.get(name) or int(scores[row])
    world.cluster.catalog.remove(claim)
    return found


Remembering.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
TestRemembering = Remembering.TestCase

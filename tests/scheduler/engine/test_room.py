"""Room on nodes under the default profile: never overcommitted, never overlooked.

Pods of many sizes come, are bound, undone, deleted; nodes come and go. Whatever the order, no node
holds more than it has, and a pod is left pending only when it fits nowhere.
"""

from typing import Any

import msgspec
from hypothesis import strategies as st
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.host_ports import conflicts
from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

NAMES = ("a", "b", "c", "d")
RESOURCES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")

amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 4))
allocatables = st.fixed_dictionaries(
    {name: st.integers(0, 8) for name in RESOURCES} | {"pods": st.integers(0, 5)}
)
fleets = st.fixed_dictionaries(dict.fromkeys(NAMES, allocatables))


@st.composite
def containers(draw: st.DrawFn) -> list[dict[str, Any]]:
    ports = draw(st.sampled_from(((), (), (80,), (81,), (80, 81))))
    ip = draw(st.sampled_from(("", "10.0.0.1")))
    return [
        {
            "name": "main",
            "resources": {"requests": draw(amounts)},
            "ports": [{"containerPort": p, "hostPort": p, "hostIP": ip} for p in ports],
        }
    ]


pods = st.fixed_dictionaries(
    {"containers": containers()},
    optional={
        "overhead": amounts,
        "initContainers": amounts.map(
            lambda asked: [{"name": "init", "resources": {"requests": asked}}]
        ),
    },
)
steps = st.one_of(
    st.tuples(st.just("schedule"), pods),
    st.tuples(st.just("schedule"), pods),
    st.tuples(st.sampled_from(("confirm", "undo", "delete")), st.integers(0, 5)),
    st.tuples(st.sampled_from(("drop node", "put node")), st.sampled_from(NAMES)),
)


class World:
    def __init__(self, fleet: dict[str, dict[str, int]]) -> None:
        self.engine = Engine(
            load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
        )
        self.nodes = {n: make_node(n, allocatable=a) for n, a in fleet.items()}
        self.placed: list[tuple[PodInfo, str, Any]] = []
        self.count = 0
        for node in self.nodes.values():
            self.engine.cluster.put_node(node)

    def schedule(self, spec: dict[str, Any]) -> None:
        self.count += 1
        info = self.engine.cluster.infos.of(make_pod(f"p{self.count}", **spec))
        free = [n.metadata.name for n in self.present() if self.has_room(n, info)]
        attempt = self.engine.schedule(info)
        if attempt.binding is None:
            assert free == [], attempt.decision.message
        else:
            assert attempt.binding.node_name in free
            self.placed.append((info, attempt.binding.node_name, attempt.binding))

    def present(self) -> list[Node]:
        nodes = self.engine.cluster.nodes
        return [node for name, node in self.nodes.items() if nodes.is_present(name)]

    def guests(self, name: str) -> list[PodInfo]:
        return [info for info, where, _ in self.placed if where == name]

    def has_room(self, node: Node, info: PodInfo) -> bool:
        """The rule said for one node and its pods."""
        guests = self.guests(node.metadata.name)
        have = allocatable_vector(node.status.allocatable)
        used = [port for guest in guests for port in guest.shape.ports]
        return (
            len(guests) < have["pods"]
            and not conflicts(info.shape.ports, used)
            and all(
                asked == 0
                or asked + sum(g.shape.accounted.get(name, 0) for g in guests) <= have.get(name, 0)
                for name, asked in info.shape.requests.items()
            )
        )

    def change(self, what: str, number: int) -> None:
        if number >= len(self.placed):
            return
        info, node_name, binding = self.placed[number]
        cluster = self.engine.cluster
        if what == "confirm":
            if cluster.is_assumed(info.uid):
                cluster.add_pod(bound(info.pod, node_name))
            return
        if what == "undo" and not cluster.is_assumed(info.uid):
            return
        del self.placed[number]
        if what == "undo":
            assert self.engine.undo(binding) == []
        else:
            cluster.remove_pod(info.uid)

    def check(self) -> None:
        cluster = self.engine.cluster
        for name, node in self.nodes.items():
            have = allocatable_vector(node.status.allocatable)
            guests = self.guests(name)
            assert len(guests) <= max(have["pods"], 0)
            for resource in RESOURCES:
                asked = sum(g.shape.accounted.get(resource, 0) for g in guests)
                assert asked <= have.get(resource, 0)
            for guest in guests:
                rest = [p for other in guests if other is not guest for p in other.shape.ports]
                assert not conflicts(guest.shape.ports, rest)
            row = cluster.nodes.row(name)
            if row >= 0:
                assert {i.uid for i in cluster.usage.pods(row)} == {i.uid for i in guests}


def bound(pod: Pod, node_name: str) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node_name))


@given_examples(20, 100, fleet=fleets, steps=st.lists(steps, max_size=25))
def test_no_node_is_ever_overcommitted_and_no_room_is_overlooked(
    fleet: dict[str, dict[str, int]], steps: list[tuple[str, Any]]
) -> None:
    world = World(fleet)
    for what, detail in steps:
        if what == "schedule":
            world.schedule(detail)
        elif what == "drop node":
            world.engine.cluster.remove_node(detail)
        elif what == "put node":
            world.engine.cluster.put_node(world.nodes[detail])
        else:
            world.change(what, detail)
        world.check()

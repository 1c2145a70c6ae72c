"""The cache under any sequence of events, held against a model that keeps plain lists.

The model does what upstream's `NodeInfo` does and nothing else: each node has a list of pods,
leaving pods are replaced by the last of the list, ports are a set, everything else is summed
afresh.
"""

from collections import Counter
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from podium.kubernetes.rules.host_ports import HostPort
from podium.kubernetes.rules.labels import EVERYTHING, selector_of_map
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node, make_pod

NODES = ("a", "b", "c")
NAMES = ("p", "q", "r", "s")
RESOURCES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi", "odd")
APP = PodQuery(((None, selector_of_map({"app": "x"})),), terminating=False)
ALL = PodQuery(((None, EVERYTHING),))


def containers(requests: dict[str, int], port: int) -> list[dict[str, Any]]:
    ports = [{"containerPort": port, "hostPort": port}] if port else []
    return [{"name": "main", "resources": {"requests": requests}, "ports": ports}]


requests = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 9))
templates = st.fixed_dictionaries(
    {
        "labels": st.dictionaries(st.just("app"), st.sampled_from("xy")),
        "containers": st.builds(containers, requests, st.sampled_from((0, 80, 81))),
        "volumes": st.lists(
            st.sampled_from("cd").map(
                lambda c: {"name": c, "persistentVolumeClaim": {"claimName": c}}
            ),
            max_size=2,
            unique_by=str,
        ),
        "metadata": st.sampled_from(({}, {"deletionTimestamp": "2026-01-01T00:00:00Z"})),
    }
)
pod_names = st.sampled_from(NAMES)
node_names = st.sampled_from(NODES)


class NodeModel:
    def __init__(self) -> None:
        self.pods: list[PodInfo] = []
        self.ports: set[HostPort] = set()

    def add(self, info: PodInfo) -> None:
        self.pods.append(info)
        self.ports |= set(info.shape.ports)

    def remove(self, uid: str) -> None:
        at = [info.uid for info in self.pods].index(uid)
        self.ports -= set(self.pods[at].shape.ports)
        self.pods[at] = self.pods[-1]
        self.pods.pop()


class CacheMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cluster = Cluster(ALL_REQUESTS)
        self.present: set[str] = set()
        self.nodes = {name: NodeModel() for name in NODES}
        self.place: dict[str, str] = {}
        self.assumed: set[str] = set()

    def info(self, name: str, template: dict[str, Any], node: str = "") -> PodInfo:
        return self.cluster.infos.of(make_pod(name, node=node, **template))

    def taken_out(self, uid: str) -> None:
        self.nodes[self.place.pop(uid)].remove(uid)
        self.assumed.discard(uid)

    def put_in(self, info: PodInfo, node: str) -> None:
        self.nodes[node].add(info)
        self.place[info.uid] = node

    @rule(name=node_names)
    def put_node(self, name: str) -> None:
        self.cluster.put_node(make_node(name))
        self.present.add(name)

    @rule(name=node_names)
    def remove_node(self, name: str) -> None:
        self.cluster.remove_node(name)
        self.present.discard(name)

    @rule(name=pod_names, node=node_names, template=templates)
    def add_confirm_or_update(self, name: str, node: str, template: dict[str, Any]) -> None:
        info = self.info(name, template, node)
        held = self.place.get(info.uid)
        if held is None or info.uid in self.assumed:
            self.cluster.add_pod(info.pod)
        elif held == node:
            self.cluster.update_pod(info.pod)
        else:
            return
        if held is not None:
            self.taken_out(info.uid)
        self.put_in(info, node)

    @rule(name=pod_names, node=node_names, template=templates)
    def assume(self, name: str, node: str, template: dict[str, Any]) -> None:
        info = self.info(name, template)
        if info.uid not in self.place:
            self.cluster.assume(info, node)
            self.put_in(info, node)
            self.assumed.add(info.uid)

    @precondition(lambda self: self.assumed)
    @rule(data=st.data())
    def confirm_unchanged(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.assumed)))
        node = self.place[uid]
        held = next(info for info in self.nodes[node].pods if info.uid == uid)
        spec = msgspec.structs.replace(held.pod.spec, node_name=node)
        pod = msgspec.structs.replace(held.pod, spec=spec)
        info = self.cluster.add_pod(pod)
        self.taken_out(uid)
        self.put_in(info, node)

    @precondition(lambda self: self.assumed)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(sorted(self.assumed)))
        self.cluster.forget(self.cluster.placements[uid].info)
        self.taken_out(uid)

    @rule(name=pod_names)
    def remove_pod(self, name: str) -> None:
        uid = f"uid-default-{name}"
        self.cluster.remove_pod(uid)
        if uid in self.place:
            self.taken_out(uid)

    @rule(asked=st.sampled_from((APP, ALL)))
    def ask(self, asked: PodQuery) -> None:
        self.cluster.classes.counts(asked)

    @rule(name=pod_names, node=node_names, template=templates)
    def imagine(self, name: str, node: str, template: dict[str, Any]) -> None:
        """A trial leaves no trace."""
        row = self.cluster.nodes.row(node)
        if row < 0:
            return
        fork = self.cluster.usage.fork()
        fork.add(row, self.info(f"imagined-{name}", template))
        for info in list(self.cluster.usage.pods(row)):
            fork.remove(row, info)

    @invariant()
    def rows_are_those_of_nodes_and_pods(self) -> None:
        table = self.cluster.nodes
        assert {n for n in NODES if table.is_present(n)} == self.present
        alive = {n for n in NODES if n in self.present or self.nodes[n].pods}
        assert {n for n in NODES if table.row(n) >= 0} == alive
        assert {u for u in self.place if self.cluster.is_assumed(u)} == self.assumed

    @invariant()
    def pods_stand_where_the_model_has_them(self) -> None:
        for name, model in self.nodes.items():
            row = self.cluster.nodes.row(name)
            if row < 0:
                continue
            shown = [info.pod for info in self.cluster.usage.pods(row)]
            assert shown == [info.pod for info in model.pods]
            assert self.cluster.usage.ports.used_ports(row) == model.ports

    @invariant()
    def requested_is_the_sum_over_pods(self) -> None:
        table, usage = self.cluster.nodes, self.cluster.usage
        usage.grow()
        claims: Counter[str] = Counter()
        rows = {table.row(name): model.pods for name, model in self.nodes.items()}
        for row in range(table.size):
            pods = rows.get(row, [])
            total: Counter[str] = Counter()
            for info in pods:
                total.update(info.shape.accounted)
                claims.update(info.shape.claim_names)
            shown = {n: int(usage.requested[i, row]) for i, n in enumerate(table.resources)}
            assert {n: a for n, a in shown.items() if a} == {n: a for n, a in total.items() if a}
            assert usage.nonzero[:, row].tolist() == [
                sum(info.shape.accounted_nonzero[i] for info in pods) for i in (0, 1)
            ]
            assert usage.pod_count[row] == len(pods)
        assert usage.claims == dict(claims)
        assert not usage.requested[:, table.size :].any()

    @invariant()
    def counters_agree_with_the_pods(self) -> None:
        rows = {self.cluster.nodes.row(name): m.pods for name, m in self.nodes.items()}
        for asked in (APP, ALL):
            if asked in self.cluster.classes._counters:
                counts = self.cluster.classes.counts(asked)
                for row in range(self.cluster.nodes.size):
                    assert counts[row] == sum(
                        asked.matches(i.shape.namespace, i.shape.labels, i.terminating)
                        for i in rows.get(row, [])
                    )


CacheMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnySequenceOfEvents = CacheMachine.TestCase


def columns(cluster: Cluster, resources: int) -> dict[str, bytes]:
    """Every column as bytes, but for the counters that tell old from new.

    A resource that only a later pod brought in has a row of zeros, whenever it is looked at.
    """
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    size = nodes.size

    def padded(table: np.ndarray[Any, np.dtype[np.int64]]) -> bytes:
        full = np.zeros((resources, size), dtype=np.int64)
        full[: len(table)] = table[:, :size]
        return full.tobytes()

    return {
        "present": nodes.present[:size].tobytes(),
        "unschedulable": nodes.unschedulable[:size].tobytes(),
        "taint_set": nodes.taint_set[:size].tobytes(),
        "feature_set": nodes.feature_set[:size].tobytes(),
        "allowed_pods": nodes.allowed_pods[:size].tobytes(),
        "allocatable": padded(nodes.allocatable),
        "label": nodes.labels.codes("zone")[:size].tobytes(),
        "requested": padded(usage.requested),
        "nonzero": usage.nonzero[:, :size].tobytes(),
        "pod_count": usage.pod_count[:size].tobytes(),
        "ports": repr([sorted(usage.ports.used_ports(row)) for row in range(size)]).encode(),
        "claims": repr(sorted(usage.claims.items())).encode(),
        "pods": repr([[i.uid for i in usage.pods(row)] for row in range(size)]).encode(),
        "apps": cluster.classes.counts(APP)[:size].tobytes(),
        "all": cluster.classes.counts(ALL)[:size].tobytes(),
    }


@given(
    running=st.lists(st.tuples(node_names, templates), max_size=6),
    node=node_names,
    template=templates,
)
def test_assume_then_forget_restores_every_column(
    running: list[tuple[str, dict[str, Any]]], node: str, template: dict[str, Any]
) -> None:
    cluster = make_cluster(
        make_node(name, labels={"zone": name}, allocatable={"cpu": 8, "example.com/gpu": 2})
        for name in NODES
    )
    for number, (where, other) in enumerate(running):
        cluster.add_pod(make_pod(f"running-{number}", node=where, **other))
    info = cluster.infos.of(make_pod("pending", **template))
    row = cluster.nodes.row(node)
    if set(info.shape.ports) & cluster.usage.ports.used_ports(row):
        return  # ports are a plain set, and no filter would let such a pod here
    before = columns(cluster, len(RESOURCES) + 1)
    cluster.assume(info, node)
    assert columns(cluster, len(RESOURCES) + 1) != before
    cluster.forget(info)
    assert columns(cluster, len(RESOURCES) + 1) == before

"""A cluster in memory that is changed step by step, with all that follows from each change.

Pods that lose their node and have a controller are made again, under their names, and scheduled by
the engine like any others: who is more important comes first and may preempt, victims come back in
the same way, and pods that waited before have their chance too. Pods without a controller are gone.
A step is over when nothing moves any more; then comes the next.

Contract: the simulation belongs to whoever asks and has been run. Same cluster, changes and seed,
same consequences.

Another number of pods of one workload: who comes, and who goes. New pods are copies of one that is
there. Those that go are the ones that their controller would remove first: the highest ordinals of
a stateful set, and of others the least missed (`podium.kubernetes.controllers.pods`).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace

from podium.golang.errors import InputError
from podium.kubernetes.controllers.pods import Pod as ControlledPod
from podium.kubernetes.controllers.pods import least_missed
from podium.kubernetes.controllers.taint_eviction import stay_s
from podium.kubernetes.controllers.workloads import DaemonSet, Job, Workload
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.tolerations import NO_EXECUTE
from podium.offline.simulate.admission import assign_uid
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.pod_references import deployments_of, owner_of, read_reference
from podium.offline.simulate.pod_successors import PodSuccessors
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.what_if.changes import (
    AddNodes,
    Change,
    Cordon,
    Drain,
    Fail,
    Remove,
    Scale,
    SetTaint,
    ZoneOutage,
    describe_change,
)
from podium.offline.what_if.consequences import (
    Consequences,
    GonePod,
    KeptPod,
    MovedPod,
    PreemptedPod,
    StrandedPod,
)
from podium.offline.what_if.node_selection import nodes_in_zone, select_nodes
from podium.offline.what_if.pod_templates import Copies, TemplatePod
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.explain.cause_document import CauseInFull


class ChangedCluster:
    def __init__(
        self, simulation: Simulation, scenario: Scenario, waiting: Collection[str] | None = None
    ) -> None:
        """`scenario` is what the simulation was made from; it says who made which pods. `waiting`
        are the keys of pods without a node, for those who know them."""
        self._simulation = simulation
        self._engine = simulation.engine
        self._scenario = scenario
        self._disruptions = simulation.disruptions
        self._successors = PodSuccessors(self._engine, self._each_object())
        self._changes: list[str] = []
        self._gone: list[GonePod] = []
        self._kept: list[KeptPod] = []
        self._preempted: list[PreemptedPod] = []
        self._new: set[str] = set()
        self._let_go: set[str] = set()
        simulation.take_evictions()
        if waiting is None:
            waiting = [object_key(pod.metadata) for pod in self._list_waiting()]
        self._waiting_before = frozenset(waiting)
        self._before: dict[str, str] = dict.fromkeys(waiting, "")
        """Where pods were that something has happened to, or may."""

    def apply(self, change: Change) -> None:
        """One change and what follows from it. Raises InputError if it is about nothing."""
        self._changes.append(describe_change(change))
        match change:
            case Drain():
                self._drain(self._select(change.nodes))
            case Cordon():
                for name in self._select(change.nodes):
                    self._close(name, closed=change.closed)
                self._settle()
            case Remove():
                self._remove(self._select(change.nodes))
            case Fail():
                self._fail(self._select(change.nodes))
            case ZoneOutage():
                self._fail(nodes_in_zone(self._engine.cluster, change.zone))
            case AddNodes():
                self._add(change.nodes)
            case SetTaint():
                self._taint(change)
            case Scale():
                self._scale(change)
            case _:
                assert_never(change)

    def evict(self, key: str) -> str:
        """Evict one pod and let what follows from it happen; why it may not go, or "" if it has."""
        self._changes.append(f"evict {key}")
        pod = self._engine.state.pods[key]
        info = self._engine.cluster.infos.of(pod)
        refusal = self._disruptions.evict(pod)
        if not refusal:
            self._take(info)
            self._settle()
        return refusal

    def consequences(self, *, explains: bool = True) -> Consequences:
        """What all changes so far have come to; `explains` looks for the causes as well."""
        touched = sorted({*self._before, *self._new} - self._let_go)
        gone = {each.pod for each in self._gone}
        moved, stranded = [], []
        for key in touched:
            before, after = self._before.get(key, ""), self._place_of(key)
            if after:
                if after != before:
                    moved.append(MovedPod(key, before or None, after))
            elif key not in gone and key not in self._waiting_before:
                stranded.append(self._describe_stranded(key, before, explains=explains))
        return Consequences(
            tuple(self._changes),
            moved,
            stranded,
            sorted(self._gone, key=lambda each: each.pod),
            sorted(self._kept, key=lambda each: each.pod),
            tuple(self._preempted),
            len(self._waiting_before),
            sum(not self._place_of(key) for key in self._waiting_before - self._let_go),
        )

    def _describe_stranded(self, key: str, before: str, *, explains: bool) -> StrandedPod:
        result = self._simulation.results.get(key)
        if result is None:
            return StrandedPod(key, before or None, "")
        causes = tuple(map(CauseInFull.of, result.causes)) if explains else ()
        return StrandedPod(key, before or None, result.message, causes)

    # changes

    def _select(self, text: str) -> list[str]:
        return select_nodes(self._engine.cluster, text)

    def _close(self, name: str, *, closed: bool) -> None:
        node = self._node(name)
        if node.spec.unschedulable != closed:
            self._engine.intake.node_put(
                replace(node, spec=replace(node.spec, unschedulable=closed))
            )

    def _drain(self, names: Sequence[str]) -> None:
        for name in names:
            self._close(name, closed=True)
        while True:
            kept: list[KeptPod] = []
            has_evicted = False
            for info in self._pods_on(names):
                if is_daemon(info.pod) or is_bound_to_node(info.pod):
                    continue
                refusal = self._disruptions.evict(info.pod)
                if refusal:
                    kept.append(KeptPod(info.key, self._node_of(info), refusal))
                else:
                    self._take(info)
                    has_evicted = True
            if not has_evicted:
                break
            self._settle()
        self._kept = [each for each in self._kept if each.node not in names] + kept

    def _remove(self, names: Sequence[str]) -> None:
        self._drain(names)
        held = {each.node for each in self._kept}
        self._fail([name for name in names if name not in held])

    def _fail(self, names: Sequence[str]) -> None:
        for info in self._pods_on(names):
            self._take(info)
        for name in names:
            self._engine.intake.node_deleted(name)
        self._settle()

    def _add(self, nodes: Sequence[Node]) -> None:
        nodes = [assign_uid(node) for node in nodes]
        there = self._engine.cluster.nodes
        new = [node for node in nodes if not there.is_present(node.metadata.name)]
        for node in nodes:
            self._engine.intake.node_put(node)
        daemons = NodeDaemons(self._scenario, self._engine.gates)
        made = [daemon for node in new for daemon in daemons.make(node)]
        self._simulation.arrive(daemon.pod for daemon in made)
        self._settle()
        for daemon in made:  # a daemon set makes none where it does not belong
            if not daemon.is_certain and not self._place_of(object_key(daemon.pod.metadata)):
                self._simulation.remove_pod(daemon.pod)

    def _taint(self, change: SetTaint) -> None:
        names = self._select(change.nodes)
        for name in names:
            node = self._node(name)
            taints = tuple(
                each
                for each in node.spec.taints or ()
                if (each.key, each.effect) != (change.taint.key, change.taint.effect)
            )
            if not change.removed:
                taints = (*taints, change.taint)
            self._engine.intake.node_put(replace(node, spec=replace(node.spec, taints=taints)))
        if change.taint.effect == NO_EXECUTE and not change.removed:
            for info in self._pods_on(names):
                if stay_s((change.taint,), info.pod.spec.tolerations or ()) is not None:
                    self._take(info)
        self._settle()

    def _scale(self, change: Scale) -> None:
        known = [held.info.pod for held in self._engine.cluster.placements.values()]
        pods = pods_of_workload(self._scenario, (*known, *self._list_waiting()), change.workload)
        for workload in workload_wanting(self._scenario, change, pods[0].namespace):
            self._disruptions.put_workload(workload)
        for pod in pods_to_remove(pods, change.replicas):
            self._note_place(object_key(pod.metadata), pod.spec.node_name)
            self._let_go.add(object_key(pod.metadata))
            self._simulation.remove_pod(pod)
        made, objects = pods_to_add(pods, change, self._objects(), self._engine.gates)
        for obj in objects:
            self._engine.intake.object_put(obj)
        self._new.update(object_key(pod.metadata) for pod in made)
        self._simulation.arrive(made)
        self._settle()

    # pods

    def _take(self, info: PodInfo) -> None:
        """Take a pod off its node; its controller makes another in its place, if it has one."""
        pod, node = info.pod, self._node_of(info)
        self._note_place(info.key, node)
        self._successors.drop_ephemeral_claims(pod)
        self._simulation.remove_pod(pod)
        if is_daemon(pod) or is_bound_to_node(pod):
            self._let_go.add(info.key)
        elif pod.metadata.controller is None:
            self._gone.append(GonePod(info.key, self._before.get(info.key, node)))
        else:
            self._disruptions.recount()  # before there is another pod of the name
            self._simulation.arrive((self._successors.make(pod),))

    def _settle(self) -> None:
        """Let pods find nodes, and those whom they preempt as well."""
        while True:
            self._simulation.settle()
            arriving = []
            for eviction in self._simulation.take_evictions():
                self._preempted.append(PreemptedPod(eviction.key, eviction.node, eviction.by))
                self._note_place(eviction.key, eviction.node)
                if eviction.victim.metadata.controller is None:
                    node = self._before.get(eviction.key, eviction.node)
                    self._gone.append(GonePod(eviction.key, node))
                elif is_daemon(eviction.victim):
                    self._let_go.add(eviction.key)
                else:
                    self._successors.drop_ephemeral_claims(eviction.victim)
                    arriving.append(self._successors.make(eviction.victim))
            if not arriving:
                break
            self._simulation.arrive(arriving)

    # looking

    def _node(self, name: str) -> Node:
        nodes = self._engine.cluster.nodes
        return nodes.node(nodes.row(name))

    def _node_of(self, info: PodInfo) -> str:
        held = self._engine.cluster.placements.get(info.uid)
        return self._engine.cluster.nodes.names[held.row] if held is not None else ""

    def _pods_on(self, names: Iterable[str]) -> list[PodInfo]:
        cluster = self._engine.cluster
        rows = [cluster.nodes.row(name) for name in names]
        return [
            info
            for row in rows
            if row >= 0
            for info in sorted(cluster.usage.pods(row), key=lambda info: info.key)
        ]

    def _note_place(self, key: str, node: str) -> None:
        """Where a pod is before the first thing that happens to it."""
        if key not in self._new:
            self._before.setdefault(key, node)

    def _place_of(self, key: str) -> str:
        """The node of a pod, "" if it has none."""
        pod = self._engine.state.pods.get(key)
        return pod.spec.node_name if pod is not None else ""

    def _list_waiting(self) -> list[Pod]:
        return [pod for pod in self._engine.state.pods.values() if not pod.spec.node_name]

    def _objects(self) -> list[KubeObject]:
        """What claims are made from."""
        return list(self._each_object())

    def _each_object(self) -> Iterator[KubeObject]:
        return (obj for obj in self._scenario.objects if isinstance(obj, KubeObject))


def pods_of_workload(scenario: Scenario, pods: Iterable[Pod], reference: str) -> list[Pod]:
    """The pods of `deploy/web` or `shop/sts/db`. Raises InputError if there are none, or if two
    namespaces have such a workload."""
    kind, namespace, name = read_reference(reference)
    deployments = deployments_of(scenario)
    found = [
        pod
        for pod in pods
        if owner_of(pod, kind, deployments) == name
        and (not namespace or pod.metadata.namespace == namespace)
    ]
    namespaces = sorted({pod.metadata.namespace for pod in found})
    if not found:
        raise InputError(f"{reference} has no pods to make more of", remedy="deploy/web=50")
    if len(namespaces) > 1:
        raise InputError(
            f"{reference} is in namespaces {', '.join(namespaces)}",
            remedy=f"write {namespaces[0]}/{reference}",
        )
    return found


def workload_wanting(scenario: Scenario, change: Scale, namespace: str) -> Iterator[Workload]:
    """The workload itself, as it is after the change, if the input has it."""
    kind, _, name = read_reference(change.workload)
    for workload in scenario.workloads:
        if (workload.kind, workload.namespace, workload.name) != (kind, namespace, name):
            continue
        if not isinstance(workload, DaemonSet | Job):
            yield replace(workload, spec=replace(workload.spec, replicas=change.replicas))


def pods_to_remove(pods: Sequence[Pod], replicas: int) -> list[Pod]:
    """Those of a workload's pods that are too many, in the order in which they go."""
    too_many = len(pods) - replicas
    if too_many <= 0:
        return []
    owner = pods[0].metadata.controller
    if owner is not None and owner.kind == "StatefulSet":
        return sorted(pods, key=_ordinal, reverse=True)[:too_many]
    by_key = {pod.metadata.key: pod for pod in sorted(pods, key=lambda pod: pod.metadata.key)}
    controlled = [
        msgspec.convert(msgspec.to_builtins(pod), ControlledPod, strict=False)
        for pod in by_key.values()
    ]
    return [by_key[pod.metadata.key] for pod in least_missed(controlled)[:too_many]]


def pods_to_add(
    pods: Sequence[Pod], change: Scale, objects: Iterable[KubeObject], gates: FeatureGates
) -> tuple[list[Pod], list[KubeObject]]:
    """New pods, and the claims that are made for them."""
    first = min(pods, key=_ordinal)
    copies = Copies(TemplatePod(first), objects, gates)
    made: list[Pod] = []
    claims: list[KubeObject] = []
    for number in range(change.replicas - len(pods)):
        pod, own = copies.make(number)
        made.append(pod)
        claims += own
    return made, claims


def _ordinal(pod: Pod) -> tuple[int, str]:
    number = pod.metadata.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0, pod.metadata.name

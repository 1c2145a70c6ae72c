"""An autoscaler as a reactor of a timed run: nodes come for pods that wait, and idle ones go.

Whether a pod could run on a new node of a pool is asked of an engine that has such a node and
nothing else, once for each shape of pod; how many nodes it takes is counted by requests, first fit,
nodes that are on their way included. Of several pools the cheapest counts, then the first. A node
is idle while it has no pods but those that belong to it. Nothing is moved to empty a node.

Which pods a new node would take, and how much of them: asked of an engine with that node only. A
pod that must be near others finds none there, and so is none for which a node is added.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.kubernetes.rules.requests import (
    PODS,
    accounted_requests,
    allocatable_vector,
    to_vector,
)
from podium.offline.scenarios.pools import NodePool
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.report import SimulationReport
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.timed_events import NodePut, NodeRemoval, TimedEvent
from podium.scheduler.cluster.pod_info import PodShape, request_rules
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.registry import PluginRegistry


class FitTrials:
    """Which pods a new node of a pool would take, tried on an engine of one's own."""

    def __init__(
        self,
        configuration: Configuration,
        registry: PluginRegistry,
        gates: FeatureGates,
        scenario: Scenario,
        daemons: NodeDaemons,
    ) -> None:
        self._configuration = configuration
        self._registry = registry
        self._gates = gates
        self._rules = request_rules(gates)
        self._objects = scenario.objects
        self._daemons = daemons
        self._fits: dict[tuple[str, PodShape], bool] = {}

    def find_free(self, pool: NodePool) -> dict[str, int]:
        """What is free on a node that has the pods of daemon sets only."""
        node = pool.make(0)
        free = allocatable_vector(node.status.allocatable)
        daemons = self._daemons.pods_for(node)
        if daemons:
            report = self._try(node, daemons)
            for result in report.pods:
                if result.placed:
                    taken = to_vector(accounted_requests(result.pod, self._rules))
                    for name, amount in {**taken, PODS: 1}.items():
                        free[name] = free.get(name, 0) - amount
        return free

    def fits(self, pool: NodePool, pod: Pod, shape: PodShape) -> bool:
        key = (pool.name, shape)
        if key not in self._fits:
            report = self._try(pool.make(0), (pod,))
            self._fits[key] = report.all_fit
        return self._fits[key]

    def _try(self, node: Node, pods: Sequence[Pod]) -> SimulationReport:
        scenario = Scenario((node,), (), tuple(pods), self._objects)
        simulation = Simulation(scenario, self._configuration, self._registry, gates=self._gates)
        return simulation.run()


MAX_PODS: Final = 5000
"""Pods without a node that one look takes into account."""


@dataclass(frozen=True, slots=True)
class AutoscaledPool:
    """So many nodes at least and at most; one that is requested is there after `delay_s`."""

    pool: NodePool
    min_nodes: int
    max_nodes: int
    delay_s: float


@dataclass(frozen=True, slots=True)
class AutoscalerRule:
    interval_s: float
    scale_down_after_s: float
    pools: Sequence[AutoscaledPool]


@dataclass(slots=True)
class _Room:
    """A node that is to come, and what is free on it."""

    pool: str
    free: dict[str, int]

    def take(self, wanted: dict[str, int]) -> bool:
        free = self.free
        if any(amount > free.get(name, 0) for name, amount in wanted.items()):
            return False
        for name, amount in wanted.items():
            free[name] = free.get(name, 0) - amount
        return True


@dataclass(slots=True)
class _Members:
    """The nodes of a pool: there, on their way (name -> when), idle (name -> since when)."""

    names: dict[str, None]
    next_number: int
    coming: dict[str, float] = field(default_factory=dict)
    idle: dict[str, float] = field(default_factory=dict)


class Autoscaler:
    """`added` and `removed` count nodes."""

    def __init__(self, rule: AutoscalerRule, trials: FitTrials) -> None:
        self.added = 0
        self.removed = 0
        self._rule = rule
        self._trials = trials
        self._next = rule.interval_s
        self._free = {each.pool.name: trials.find_free(each.pool) for each in rule.pools}
        self._members = {
            each.pool.name: _Members(
                dict.fromkeys(each.pool.make(at).metadata.name for at in range(each.pool.count)),
                each.pool.count,
            )
            for each in rule.pools
        }
        self._by_price = sorted(rule.pools, key=lambda each: each.pool.price or 0)
        self._seen = (-1, -1)

    def next_s(self) -> float | None:
        return self._next

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        self._next = now_s + self._rule.interval_s
        self._note_changes(now_s, engine)
        return [*self._scale_down(now_s), *self._scale_up(now_s, engine)]

    def _note_changes(self, now_s: float, engine: Engine) -> None:
        """Who has come, who is gone, who is idle since when."""
        cluster = engine.cluster
        seen = (cluster.nodes.generation, cluster.usage.generation)
        if seen == self._seen:
            return
        self._seen = seen
        for members in self._members.values():
            for name in [name for name, at in members.coming.items() if at <= now_s]:
                del members.coming[name]
                members.names[name] = None
            for name in list(members.names):
                row = cluster.nodes.row(name)
                if row < 0 or not cluster.nodes.present[row]:
                    del members.names[name]
                    members.idle.pop(name, None)
                elif any(not _belongs_to_node(info.pod) for info in cluster.usage.pods(row)):
                    members.idle.pop(name, None)
                else:
                    members.idle.setdefault(name, now_s)

    # fewer nodes

    def _scale_down(self, now_s: float) -> Iterator[TimedEvent]:
        for each in self._rule.pools:
            members = self._members[each.pool.name]
            spare = len(members.names) - each.min_nodes
            due = [
                name
                for name, since in members.idle.items()
                if now_s - since >= self._rule.scale_down_after_s
            ]
            for name in due[: max(0, spare)]:
                del members.names[name], members.idle[name]
                self.removed += 1
                yield NodeRemoval(now_s, name)

    # more nodes

    def _scale_up(self, now_s: float, engine: Engine) -> Iterator[TimedEvent]:
        rooms = [
            _Room(each.pool.name, dict(self._free[each.pool.name]))
            for each in self._rule.pools
            for _ in self._members[each.pool.name].coming
        ]
        wanted: Counter[str] = Counter()
        sizes = engine.queue.sizes()
        if sizes.unschedulable or sizes.backoff:
            wanted = self._count_wanted(engine, rooms)
        for each in self._rule.pools:
            members = self._members[each.pool.name]
            there = len(members.names) + len(members.coming)
            for _ in range(max(wanted[each.pool.name], each.min_nodes - there)):
                node = each.pool.make(members.next_number)
                members.next_number += 1
                members.coming[node.metadata.name] = now_s + each.delay_s
                self.added += 1
                yield NodePut(now_s + each.delay_s, node)

    def _count_wanted(self, engine: Engine, rooms: list[_Room]) -> Counter[str]:
        """How many nodes to add, by pool."""
        parts = engine.queue.parts()
        waiting = [queued.info for queued in (*parts.unschedulable, *parts.backoff)]
        waiting.sort(key=lambda info: (-info.priority, info.key))
        wanted: Counter[str] = Counter()
        for info in waiting[:MAX_PODS]:
            pod = replace(info.pod, spec=replace(info.pod.spec, scheduling_group=None))
            shape = engine.cluster.infos.of(pod).shape
            requests = {**shape.accounted, PODS: 1}
            pools = [each for each in self._by_price if self._trials.fits(each.pool, pod, shape)]
            names = {each.pool.name for each in pools}
            if any(room.pool in names and room.take(requests) for room in rooms):
                continue
            for each in pools:
                members = self._members[each.pool.name]
                there = len(members.names) + len(members.coming) + wanted[each.pool.name]
                room = _Room(each.pool.name, dict(self._free[each.pool.name]))
                if there < each.max_nodes and room.take(requests):
                    rooms.append(room)
                    wanted[each.pool.name] += 1
                    break
        return wanted


def _belongs_to_node(pod: Pod) -> bool:
    return is_daemon(pod) or is_bound_to_node(pod)

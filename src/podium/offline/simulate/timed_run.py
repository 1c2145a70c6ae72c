"""Timed runs: pods, nodes and objects come and go at given times, on the virtual clock.

The simulation is the one of `run.py`; this driver tells it what happens when. A pod that is bound
runs for its time and is gone afterwards, so that the engine holds only what is there now. Pods that
lose their node, to a more important pod or with the node, are made again by their controllers and
begin anew; daemon sets make their pods for nodes that arrive. An attempt takes a millisecond: what
is due meanwhile happens when it is over.

Reactors see the cluster at times of their choice and answer with further events; an autoscaler is
one. Pods of daemon sets and kubelets are there and are not counted. Contract: same cluster, events,
configuration, reactors and seed, same report.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, assert_never

from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.nodes import is_bound_to_node, is_daemon
from podium.offline.simulate.admission import assign_uid
from podium.offline.simulate.node_daemons import NodeDaemons
from podium.offline.simulate.pod_successors import PodSuccessors, is_made_again
from podium.offline.simulate.run import Simulation
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.timed_events import (
    Agenda,
    NodePut,
    NodeRemoval,
    ObjectPut,
    ObjectRemoval,
    PodArrival,
    PodEnd,
    PodRemoval,
    TimedEvent,
)
from podium.offline.simulate.timed_report import (
    TimedLives,
    TimedNode,
    TimedPod,
    TimedPodState,
    TimedReport,
    TimedSeries,
)
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Engine
from podium.scheduler.engine.garbage import seldom_collected
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.registry import PluginRegistry

GRACE_S: Final = 30.0
"""How long pods that are terminating in the beginning are there."""
UNTRIED: Final = "not tried yet"
_TOLERANCE_S: Final = 1e-6
"""Moments since 1970 are exact to a fraction of this."""


class Reactor(Protocol):
    """Somebody who watches the cluster and does something about it."""

    def next_s(self) -> float | None:
        """When it wants to look next, in seconds from the start; None: not any more."""
        ...

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        """What it does after a look; nothing of it lies in the past. What it reads of the engine
        it leaves as it is."""
        ...


class TimedRun:
    def __init__(
        self,
        scenario: Scenario,
        configuration: Configuration,
        registry: PluginRegistry,
        *,
        seed: int = 0,
        gates: FeatureGates,
        validate: bool = False,
        runs_controllers: bool = True,
    ) -> None:
        """The run begins with the cluster of a scenario; its pending pods arrive first of all.
        Without `runs_controllers` nobody makes pods: those who give the events have them in them,
        as a recording does."""
        self._simulation = Simulation(
            scenario,
            configuration,
            registry,
            seed=seed,
            gates=gates,
            validate=validate,
            is_timed=True,
        )
        self.engine = self._simulation.engine
        self._scenario = scenario
        self._seed = seed
        self._runs_controllers = runs_controllers
        objects = (obj for obj in scenario.objects if isinstance(obj, KubeObject))
        self._successors = PodSuccessors(self.engine, objects)
        self._daemons = NodeDaemons(scenario, self.engine.gates)
        self._trial_daemons: set[str] = set()
        self._durations: dict[str, float] = {}
        self._pods: list[TimedPod] = []
        self._nodes: dict[str, TimedNode] = {}
        self._past_nodes: list[TimedNode] = []
        for node in scenario.nodes:
            self._nodes[node.metadata.name] = TimedNode(node, 0.0)
        self._lives = TimedLives(lambda: self._simulation.now_s, self._end_life)
        self.engine.observers.add(self._lives)
        self._on_end: Callable[[TimedPod], None] = self._pods.append

    def run(
        self,
        events: Iterable[TimedEvent],
        *,
        until_s: float | None = None,
        reactors: Sequence[Reactor] = (),
        ask: Asker | None = None,
        on_end: Callable[[TimedPod], None] | None = None,
        on_time: Callable[[float], None] = lambda _: None,
    ) -> TimedReport:
        """Events in the order of their times, to the end or until a time. `on_end` is given every
        pod whose life has ended, which then is not in the report; `on_time` hears now and then
        how far the run is. A run with reactors needs to know when it ends. Raises ValueError if
        events are not in order."""
        if reactors and until_s is None:
            raise ValueError("reactors never end: say until when the run goes")
        self._on_end = on_end or self._pods.append
        agenda, series = Agenda(events), TimedSeries(until_s)
        self._begin(agenda)
        simulation, lives = self._simulation, self._lives
        end_s = math.inf if until_s is None else until_s
        with seldom_collected():
            while True:
                reaction_s = min(map(_next_of, reactors), default=math.inf)
                due = min(agenda.next_s, reaction_s, series.next_s, end_s)
                if due == series.next_s and until_s is None and self._is_over(agenda):
                    break
                if simulation.now_s < due - _TOLERANCE_S:
                    simulation.step(due, ask)
                    self._follow(agenda)
                    continue
                if due == series.next_s:
                    series.take(self.engine.cluster, lives.pending, lives.running)
                    on_time(due)
                elif due >= end_s:
                    break
                elif due == agenda.next_s:
                    self._apply_next(agenda)
                else:
                    self._react(agenda, reactors)
        return self._report(series, end_s)

    # steps

    def _begin(self, agenda: Agenda) -> None:
        self._simulation.fetch_sources()
        for pod in self._scenario.pending:
            self._arrive(PodArrival(0.0, pod), agenda)
        for pod in self._scenario.running:
            key = object_key(pod.metadata)
            if not _goes_with_node(pod):
                self._lives.adopt(key, pod.spec.node_name)
            if pod.metadata.is_terminating:
                agenda.add(PodRemoval(GRACE_S, key))

    def _is_over(self, agenda: Agenda) -> bool:
        """Whether nothing is left to come, and nobody is tried but for having waited too long."""
        waits = any(self.engine.state.waiting)
        return agenda.next_s == math.inf and not waits and self.engine.queue.is_at_rest()

    def _react(self, agenda: Agenda, reactors: Sequence[Reactor]) -> None:
        now_s = self._simulation.now_s
        for reactor in reactors:
            if _next_of(reactor) <= now_s + _TOLERANCE_S:
                for event in reactor.react(now_s, self.engine):
                    agenda.add(event)

    def _apply_next(self, agenda: Agenda) -> None:
        due = agenda.pop()
        match due:
            case PodEnd():
                self._finish(due)
            case PodArrival():
                self._arrive(due, agenda)
            case PodRemoval():
                self._remove(due.key, due.at)
            case NodePut():
                self._put_node(due.node, due.at)
            case NodeRemoval():
                self._remove_node(due.name, due.at)
            case ObjectPut():
                self.engine.intake.object_put(due.obj)
            case ObjectRemoval():
                self.engine.intake.object_deleted(due.obj)
            case None:  # nothing is left to come
                pass
            case _:
                assert_never(due)

    def _follow(self, agenda: Agenda) -> None:
        """What comes of an attempt: pods run from now on, others have lost their nodes."""
        for key in self._lives.bound:
            self._start(key, agenda)
        self._lives.bound.clear()
        for eviction in self._simulation.take_evictions():
            self._lose(eviction.victim, evicted=True)
        if self._trial_daemons:
            self._end_trials()

    # pods

    def _arrive(self, arrival: PodArrival, agenda: Agenda) -> None:
        pod = arrival.pod
        key = object_key(pod.metadata)
        if key in self._lives.there:
            self._remove(key, arrival.at)
        if arrival.duration_s is not None:
            self._durations[key] = arrival.duration_s
        self._lives.begin(key, arrival.at, arrival.workload)
        self._simulation.arrive((pod,))
        if pod.spec.node_name:  # somebody else has placed it
            self._lives.note_bound(key, pod.spec.node_name)
            self._lives.bound.clear()
            self._start(key, agenda)

    def _start(self, key: str, agenda: Agenda) -> None:
        duration_s = self._durations.get(key)
        bound_s = self._lives.there[key].bound_s
        if duration_s is not None and bound_s is not None:
            uid = self.engine.state.pods[key].metadata.uid
            agenda.add(PodEnd(bound_s + duration_s, key, uid))

    def _finish(self, end: PodEnd) -> None:
        pod = self.engine.state.pods.get(end.key)
        if pod is not None and pod.metadata.uid == end.uid:
            self._simulation.remove_pod(pod)
            self._successors.drop_ephemeral_claims(pod)
            self._lives.end(end.key, TimedPodState.FINISHED, end.at)

    def _remove(self, key: str, at: float) -> None:
        pod = self.engine.state.pods.get(key)
        if pod is not None:
            self._simulation.remove_pod(pod)
            self._successors.drop_ephemeral_claims(pod)
        self._lives.end(key, TimedPodState.REMOVED, at)

    def _lose(self, pod: Pod, *, evicted: bool) -> None:
        """A pod has lost its node."""
        key = object_key(pod.metadata)
        self._simulation.remove_pod(pod)
        self._successors.drop_ephemeral_claims(pod)
        if self._runs_controllers and is_made_again(pod):
            self._lives.note_lost(key, evicted=evicted)
            self._simulation.disruptions.recount()  # before there is another pod of the name
            self._simulation.arrive((self._successors.make(pod),))
        else:
            self._lives.end_lost(key, evicted=evicted)

    def _end_life(self, life: TimedPod) -> None:
        self._durations.pop(life.key, None)
        self._on_end(life)

    # nodes

    def _put_node(self, node: Node, at: float) -> None:
        node = assign_uid(node)
        name = node.metadata.name
        is_new = not self.engine.cluster.nodes.is_present(name)
        self.engine.intake.node_put(node)
        if not is_new:
            return
        self._nodes[name] = TimedNode(node, at)
        self._lives.totals.nodes_added += 1
        if self._runs_controllers:
            for daemon in self._daemons.make(node):
                if not daemon.is_certain:
                    self._trial_daemons.add(object_key(daemon.pod.metadata))
                self._simulation.arrive((daemon.pod,))

    def _remove_node(self, name: str, at: float) -> None:
        cluster = self.engine.cluster
        if not cluster.nodes.is_present(name):
            return
        row = cluster.nodes.row(name)
        pods = sorted(cluster.usage.pods(row), key=lambda info: info.key)
        there = self._nodes.pop(name)
        self._past_nodes.append(TimedNode(there.node, there.from_s, at))
        self._lives.totals.nodes_removed += 1
        self.engine.intake.node_deleted(name)
        for info in pods:
            self._lose(info.pod, evicted=False)

    def _end_trials(self) -> None:
        """A daemon set makes no pods where they do not belong: one that was tried in vain goes, if
        nobody knows its set."""
        for key in sorted(self._trial_daemons):
            result = self._simulation.results.get(key)
            if result is not None and result.attempts:
                self._trial_daemons.discard(key)
                if not result.placed:
                    self._simulation.remove_pod(result.pod)

    # the end

    def _report(self, series: TimedSeries, end_s: float) -> TimedReport:
        left = self._lives.close(self._reason_of)
        duration_s = round(self._simulation.now_s if end_s == math.inf else end_s, 6)
        nodes = sorted(
            (*self._past_nodes, *self._nodes.values()),
            key=lambda each: (each.from_s, each.node.metadata.name),
        )
        totals = self._lives.totals
        totals.node_hours = round(math.fsum(_hours(each, duration_s) for each in nodes), 6)
        reasons = Counter(life.reason for life in left if life.state is TimedPodState.PENDING)
        return TimedReport(
            self._seed,
            duration_s,
            totals,
            series.samples,
            (*self._pods, *left),
            nodes,
            dict(reasons.most_common()),
            tuple(self._simulation.notes),
            tuple((r.key, r.crash) for r in self._simulation.results.values() if r.crash),
        )

    def _reason_of(self, key: str) -> str:
        result = self._simulation.results.get(key)
        if result is not None and result.message:
            return result.message
        return self._simulation.explain_untried(key) or UNTRIED


def _goes_with_node(pod: Pod) -> bool:
    """Whether a pod is there because of its node, and is nobody's work."""
    return is_daemon(pod) or is_bound_to_node(pod)


def _next_of(reactor: Reactor) -> float:
    at = reactor.next_s()
    return math.inf if at is None else at


def _hours(node: TimedNode, end_s: float) -> float:
    return ((end_s if node.until_s is None else node.until_s) - node.from_s) / 3600

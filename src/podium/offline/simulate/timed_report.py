"""What came of a timed run: plain values that tables, JSON and tests read.

All times are seconds from the start of the run, exact to a microsecond.

A cluster over time: samples at equal distances, never more than a fixed number of them. The first
distance is a guess. When there are too many samples, every other one goes and the distance doubles,
so that a run whose end nobody knows costs no more memory than a short one.

The lives of pods in a timed run, as an observer of the engine. A life goes on when a controller
makes a pod again under its name. Contract: a life that has ended is given to `on_end` and
forgotten; what is kept of all is one number each, the waiting time.

Percentiles of measured values.
"""

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np

from podium.kubernetes.kinds.devices import ResourceSlice
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import PODS
from podium.scheduler.cluster.load import device_load
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status

MAX_SAMPLES: Final = 512


@dataclass(frozen=True, slots=True)
class ClusterSample:
    """`utilisation` is the part of what all nodes have that pods ask for, by resource; resources
    that no node has are not in it."""

    at_s: float
    nodes: int
    pending: int
    running: int
    utilisation: dict[str, float]


class TimedSeries:
    def __init__(self, duration_s: float | None) -> None:
        """`duration_s` is how long the run will take, if somebody knows."""
        self.every_s = duration_s / (MAX_SAMPLES - 1) if duration_s else 1.0
        self.samples: list[ClusterSample] = []
        self.next_s = 0.0
        """When the next sample is due."""

    def take(self, cluster: Cluster, pending: int, running: int) -> None:
        """The sample that is due."""
        usage = measure_utilisation(cluster)
        nodes = cluster.nodes.present_count
        self.samples.append(ClusterSample(self.next_s, nodes, pending, running, usage))
        if len(self.samples) > MAX_SAMPLES:
            del self.samples[1::2]
            self.every_s *= 2
        self.next_s = round(len(self.samples) * self.every_s, 6)


def measure_utilisation(cluster: Cluster) -> dict[str, float]:
    """The part of what all nodes have that pods ask for, by resource."""
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    there = nodes.present[: nodes.size]
    has = nodes.allocatable[:, : nodes.size] @ there
    uses = usage.requested[:, : nodes.size] @ there
    found = {name: (int(has[at]), int(uses[at])) for at, name in enumerate(nodes.resources)}
    found[PODS] = (
        int(nodes.allowed_pods[: nodes.size] @ there),
        int(usage.pod_count[: nodes.size] @ there),
    )
    if next(cluster.catalog.all(ResourceSlice), None) is not None:
        names = tuple(nodes.names[row] for row in range(nodes.size) if nodes.present[row])
        devices, devices_there, devices_used = device_load(cluster, names)
        for at, name in enumerate(devices):
            found[name] = (int(devices_there[at].sum()), int(devices_used[at].sum()))
    return {name: round(used / total, 6) for name, (total, used) in found.items() if total}


class TimedPodState(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    """It has run for as long as it was to run."""
    REMOVED = "removed"
    """Somebody deleted it."""
    GONE = "gone"
    """It lost its node and no controller makes it again."""


@dataclass(slots=True)
class TimedPod:
    """A pod and those that its controller made in its place, as one life."""

    key: str
    workload: str
    arrived_s: float
    state: TimedPodState = TimedPodState.PENDING
    first_attempt_s: float | None = None
    bound_s: float | None = None
    """When it was bound last."""
    first_wait_s: float | None = None
    """From its arrival until it was bound first."""
    waited_s: float = 0.0
    """All the time in which it was to run and had no node."""
    node: str = ""
    """The last node that it had."""
    ended_s: float | None = None
    evictions: int = 0
    """How often it was preempted."""
    node_losses: int = 0
    """How often its node was gone."""
    reason: str = ""
    """Why it is pending."""


@dataclass(frozen=True, slots=True)
class TimedNode:
    """A node for as long as it was there; one that comes back is another."""

    node: Node
    from_s: float
    until_s: float | None = None
    """None: to the end of the run."""


@dataclass(slots=True)
class TimedTotals:
    """`placed` pods had a node at least once. Waiting times are those until the first binding, of
    pods that were bound."""

    arrived: int = 0
    placed: int = 0
    finished: int = 0
    running: int = 0
    pending: int = 0
    removed: int = 0
    gone: int = 0
    attempts: int = 0
    evictions: int = 0
    node_losses: int = 0
    """Pods whose node was gone, each time."""
    nodes_added: int = 0
    nodes_removed: int = 0
    node_hours: float = 0.0
    wait_mean_s: float = 0.0
    wait_p50_s: float = 0.0
    wait_p99_s: float = 0.0
    wait_max_s: float = 0.0


@dataclass(frozen=True, slots=True)
class TimedReport:
    """`pods` are in the order in which their lives ended, then those that are there in the end in
    order of arrival. They are missing where somebody else was told of them during the run."""

    seed: int
    duration_s: float
    totals: TimedTotals
    samples: Sequence[ClusterSample]
    pods: Sequence[TimedPod] = ()
    nodes: Sequence[TimedNode] = ()
    pending_reasons: dict[str, int] = field(default_factory=dict)
    """Why pods are pending in the end, and how many."""
    notes: tuple[str, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    """Pods that met a bug and are in the end without a node, with the traceback."""


class TimedLives(Observer):
    def __init__(self, clock_s: Callable[[], float], on_end: Callable[[TimedPod], None]) -> None:
        self.there: dict[str, TimedPod] = {}
        """Pods that are pending or running, by key."""
        self.totals = TimedTotals()
        self.bound: list[str] = []
        """Keys of pods that were bound since somebody last looked."""
        self._clock_s = clock_s
        self._on_end = on_end
        self._waiting_since: dict[str, float] = {}
        self._waits = array("d")

    @property
    def pending(self) -> int:
        return len(self._waiting_since)

    @property
    def running(self) -> int:
        return len(self.there) - len(self._waiting_since)

    # what the engine says

    def pod_decided(self, decision: Decision) -> None:
        self.totals.attempts += 1
        life = self.there.get(decision.pod.key)
        if life is not None and life.first_attempt_s is None:
            life.first_attempt_s = _round_seconds(self._clock_s())

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        if problem is None:
            self.note_bound(queued.info.key, binding.node_name)

    # what the driver does

    def begin(self, key: str, at: float, workload: str = "") -> None:
        """A pod appears and waits for a node."""
        self.there[key] = TimedPod(key, workload, _round_seconds(at))
        self._waiting_since[key] = at
        self.totals.arrived += 1

    def adopt(self, key: str, node: str) -> None:
        """A pod that runs when the run begins."""
        self.there[key] = TimedPod(key, "", 0.0, TimedPodState.RUNNING, bound_s=0.0, node=node)

    def note_bound(self, key: str, node: str) -> None:
        life = self.there.get(key)
        since = self._waiting_since.pop(key, None)
        if life is None or since is None:
            return
        now = self._clock_s()
        waited = max(0.0, now - since)
        if life.bound_s is None:
            life.first_wait_s = _round_seconds(waited)
            self._waits.append(life.first_wait_s)
            self.totals.placed += 1
        life.waited_s = _round_seconds(life.waited_s + waited)
        life.bound_s, life.node, life.state = _round_seconds(now), node, TimedPodState.RUNNING
        self.bound.append(key)

    def note_lost(self, key: str, *, evicted: bool) -> None:
        """A pod has lost its node and its controller makes another."""
        life = self._count_loss(key, evicted=evicted)
        if life is not None:
            life.state = TimedPodState.PENDING
            self._waiting_since.setdefault(key, self._clock_s())

    def end_lost(self, key: str, *, evicted: bool) -> None:
        """A pod has lost its node, and that was its end."""
        if key not in self.there:
            return
        self._count_loss(key, evicted=evicted)
        self.end(key, TimedPodState.GONE, self._clock_s())

    def end(self, key: str, state: TimedPodState, at: float) -> None:
        life = self.there.pop(key, None)
        if life is None:
            return
        since = self._waiting_since.pop(key, None)
        if since is not None:
            life.waited_s = _round_seconds(life.waited_s + max(0.0, at - since))
        life.state, life.ended_s = state, _round_seconds(at)
        totals = self.totals
        match state:
            case TimedPodState.FINISHED:
                totals.finished += 1
            case TimedPodState.REMOVED:
                totals.removed += 1
            case TimedPodState.GONE:
                totals.gone += 1
        self._on_end(life)

    def close(self, reason_of: Callable[[str], str]) -> list[TimedPod]:
        """The run is over: those who are there, with the reasons of those who wait."""
        now = self._clock_s()
        for key, since in self._waiting_since.items():
            life = self.there[key]
            life.waited_s = _round_seconds(life.waited_s + max(0.0, now - since))
            life.reason = reason_of(key)
        totals, waits = self.totals, self._waits
        totals.pending, totals.running = self.pending, self.running
        totals.wait_mean_s = _round_seconds(math.fsum(waits) / len(waits)) if waits else 0.0
        totals.wait_p50_s = find_percentile(waits, 50)
        totals.wait_p99_s = find_percentile(waits, 99)
        totals.wait_max_s = max(waits, default=0.0)
        return list(self.there.values())

    def _count_loss(self, key: str, *, evicted: bool) -> TimedPod | None:
        self.totals.evictions += evicted
        self.totals.node_losses += not evicted
        life = self.there.get(key)
        if life is not None:
            life.evictions += evicted
            life.node_losses += not evicted
        return life


def _round_seconds(seconds: float) -> float:
    return round(seconds, 6)


def find_percentile(values: Sequence[float], percent: float) -> float:
    """A value that is there, the nearest above; 0 if there is none.

    >>> find_percentile([4.0, 1.0, 3.0, 2.0], 50)
    2.0
    """
    if not len(values):
        return 0.0
    return float(np.percentile(np.asarray(values), percent, method="inverted_cdf"))

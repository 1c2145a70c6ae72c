"""The lives of pods in a timed run, as an observer of the engine.

A life goes on when a controller makes a pod again under its name. Contract: a life that has ended
is given to `on_end` and forgotten; what is kept of all is one number each, the waiting time.
"""

import math
from array import array
from collections.abc import Callable

from podium.offline.simulate.percentiles import find_percentile
from podium.offline.simulate.timed_report import TimedPod, TimedPodState, TimedTotals
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Status


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
            life.first_attempt_s = _rounded(self._clock_s())

    def binding_ended(self, queued: QueuedPod, binding: Binding, problem: Status | None) -> None:
        if problem is None:
            self.note_bound(queued.info.key, binding.node_name)

    # what the driver does

    def begin(self, key: str, at: float, workload: str = "") -> None:
        """A pod appears and waits for a node."""
        self.there[key] = TimedPod(key, workload, _rounded(at))
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
            life.first_wait_s = _rounded(waited)
            self._waits.append(life.first_wait_s)
            self.totals.placed += 1
        life.waited_s = _rounded(life.waited_s + waited)
        life.bound_s, life.node, life.state = _rounded(now), node, TimedPodState.RUNNING
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
            life.waited_s = _rounded(life.waited_s + max(0.0, at - since))
        life.state, life.ended_s = state, _rounded(at)
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
            life.waited_s = _rounded(life.waited_s + max(0.0, now - since))
            life.reason = reason_of(key)
        totals, waits = self.totals, self._waits
        totals.pending, totals.running = self.pending, self.running
        totals.wait_mean_s = _rounded(math.fsum(waits) / len(waits)) if waits else 0.0
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


def _rounded(seconds: float) -> float:
    return round(seconds, 6)

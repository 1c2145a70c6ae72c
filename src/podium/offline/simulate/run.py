"""Running a scenario: the driver that stands in for the API server and for time.

All pending pods arrive in the order of the input; the engine's own queue decides who is tried when,
who waits for what, and who is tried again because something happened that may help. What the engine
asks for is done at once: bindings bind, victims leave, nominations are written down. When everybody
waits, the clock jumps to the end of the next wait; when nobody does, the run is over.

Victims do not come back, since there is no controller here that would make them again. Contract:
the same scenario, configuration and seed give the same report, and a pod whose attempt crashes is
reported with the traceback and never stops the others.
"""

import dataclasses
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain

from podium.golang.errors import InputError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.timestamps import parse_time
from podium.offline.simulate.completeness import MissingKind, find_missing_kinds
from podium.offline.simulate.disruption_budgets import DisruptionControl
from podium.offline.simulate.node_conditions import (
    SPARED,
    has_memory_pressure,
    tolerate_memory_pressure,
)
from podium.offline.simulate.outcomes import FailedPods, Outcomes
from podium.offline.simulate.outside_code import SourceFetching
from podium.offline.simulate.report import Eviction, PodResult, SimulationReport
from podium.offline.simulate.result_annotations import ComparedResults
from podium.offline.simulate.scenario import Scenario
from podium.offline.simulate.simulated_driver import SimulatedApi, SimulatedDriver
from podium.offline.simulate.timeline import Timeline
from podium.offline.simulate.watching import WatchedPods
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.load import load_of
from podium.scheduler.config.types import Configuration
from podium.scheduler.engine import Attempt, Engine
from podium.scheduler.engine.garbage import pause_collection
from podium.scheduler.engine.observer import MAX_PODS, NoPodLog, PodLog
from podium.scheduler.engine.queue.backoff import MAX_UNSCHEDULABLE_S
from podium.scheduler.engine.search import Seeded
from podium.scheduler.engine.validation import InvariantBroken
from podium.scheduler.explain.explanation import Utilisation
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.registry import PluginRegistry
from podium.user_code.time_limits import count_ended_calls

MAX_ATTEMPTS = 16
"""Per pod: an error that time does not heal would be retried for ever."""
ARRIVAL_S = 1e-6
"""Time between two arrivals, so that the earlier pod has waited longer."""
ATTEMPT_S = 1e-3
"""What an attempt takes on the virtual clock."""
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class Simulation:
    def __init__(
        self,
        scenario: Scenario,
        configuration: Configuration,
        registry: PluginRegistry,
        *,
        seed: int = 0,
        gates: FeatureGates,
        watch: Collection[str] = (),
        validate: bool = False,
        is_timed: bool = False,
    ) -> None:
        """`watch` are keys (`namespace/name`) of pods whose decisions are kept whole; `validate`
        has the engine check its state after every step and raise InvariantBroken. In a timed
        simulation (`step`) pods start when they are bound, are tried again without limit, and no
        digest is kept of their attempts."""
        if configuration.spares_pods_with_requests:
            pending = tuple(map(tolerate_memory_pressure, scenario.pending))
            scenario = dataclasses.replace(scenario, pending=pending)
        start = _latest_start(scenario.running)
        self._max_attempts = sys.maxsize if is_timed else MAX_ATTEMPTS
        self._start = self._now = self._next_flush = start.timestamp()
        self._scenario = scenario
        self._seed = seed
        self._choice = Seeded(seed)
        most_pods = max(MAX_PODS, len(scenario.pending) + len(scenario.running))
        self.engine = Engine(
            configuration,
            registry,
            choice=self._choice,
            clock=lambda: self._now,
            gates=gates,
            validate=validate,
            pod_log=NoPodLog() if is_timed else PodLog(most_pods),
        )
        self._watched = WatchedPods(self.engine, watch)
        if watch:
            self.engine.observers.add(self._watched)
        self._compared = ComparedResults(scenario.pending)
        if self._compared.has_any:
            self.engine.observers.add(self._compared)
        self._api = SimulatedApi(self.engine, self._spend, start, starts_by_clock=is_timed)
        self._outcomes = Outcomes(self.engine, keeps_digests=not is_timed)
        self._failed = FailedPods()
        self.engine.observers.add(self._failed)
        self._given_up = 0
        self._ended_calls = count_ended_calls()
        self._interrupted = 0
        self._driver = SimulatedDriver(self.engine, self._api, self._outcomes)
        self._notes = list(scenario.notes)
        if configuration.spares_pods_with_requests and has_memory_pressure(scenario.nodes):
            self._notes.append(SPARED)
        self._sources = SourceFetching(self.engine, self._notes)
        self.disruptions = DisruptionControl(self.engine, scenario.workloads)
        self._leaving = tuple(
            pod for pod in scenario.running if pod.metadata.deletion_timestamp is not None
        )
        with pause_collection():
            self.engine.intake.put_all(chain(scenario.nodes, scenario.objects, scenario.running))

    def run(
        self,
        *,
        until: str = "",
        on_attempt: Callable[[], None] = lambda: None,
        ask: Asker | None = None,
    ) -> SimulationReport:
        """Attempt all pending pods; `until` names a pod whose placement ends the run early, `ask`
        speaks with extenders, if the configuration has any."""
        self._api.ask = ask
        self._sources.fetch_due()
        before = load_of(self.engine.cluster)
        self.arrive(self._scenario.pending)
        self.settle(until=until, on_attempt=on_attempt)
        for pod in self._scenario.pending:
            if object_key(pod.metadata) not in self._outcomes.results:
                self._outcomes.record_untried(pod)
        if self._given_up:
            pods = "1 pod" if self._given_up == 1 else f"{self._given_up} pods"
            self._notes.append(f"given up after {MAX_ATTEMPTS} attempts: {pods}")
        if self._interrupted:
            pods = "1 pod" if self._interrupted == 1 else f"{self._interrupted} pods"
            self._notes.append(f"not tried again after a plugin took too long: {pods}")
        compared = self._compared.describe()
        return SimulationReport(
            self._seed,
            list(self._outcomes.results.values()),
            self._outcomes.evictions,
            Utilisation(before, load_of(self.engine.cluster)),
            len(self._scenario.running),
            (*self._notes, *compared),
            Timeline(self.engine.state.pod_log, self._start),
            self._watched.looks,
            self._find_missing_kinds(),
            compared,
            self._scenario.refusals,
        )

    def settle(self, *, until: str = "", on_attempt: Callable[[], None] = lambda: None) -> None:
        """Go on until nobody can be helped any more, or the pod `until` has its place."""
        ask = self._api.ask
        self._outcomes.forget_causes()
        while not self._outcomes.is_placed(until):
            tried = self._try_next(ask)
            if tried:
                on_attempt()
            elif not self._jump_ahead() and not self._see_off():
                break

    def _try_next(self, ask: Asker | None) -> bool:
        """One attempt and what the engine asks for after it; false if nobody is to be tried."""
        # Before the next attempt, which may be that of a pod whose wait is just over.
        self.engine.bindings.look_at_waiting()
        self._record_failures()
        self.disruptions.recount()
        attempt = self.engine.schedule_next(ask)
        if attempt is not None:
            self._record(attempt)
            self._spend(ATTEMPT_S)
        self._driver.carry_out_requests()
        self._record_failures()
        return attempt is not None

    def _find_missing_kinds(self) -> tuple[MissingKind, ...]:
        scenario = self._scenario
        if scenario.kinds is None:
            return ()
        victims = [eviction.victim for eviction in self._outcomes.evictions]
        return find_missing_kinds(
            scenario.pending,
            scenario.running,
            scenario.objects,
            scenario.kinds,
            victims,
            scenario.unread,
        )

    def _record(self, attempt: Attempt) -> None:
        for one in (attempt, *attempt.others):
            self._outcomes.record_attempt(one)

    def _record_failures(self) -> None:
        """Note who failed; leave a pod out of the rest of the run if trying again will not help."""
        ended_before, self._ended_calls = self._ended_calls, count_ended_calls()
        interrupted = self._ended_calls > ended_before
        for failed in self._failed.take():
            result = self._outcomes.record_failure(failed)
            tried_often = failed.attempts >= self._max_attempts
            hopeless = bool(result.crash) or tried_often or interrupted
            if hopeless and failed.info.key in self.engine.queue:  # and not tried again already
                self._given_up += tried_often and not result.crash
                self._interrupted += interrupted and not tried_often and not result.crash
                self.engine.queue.delete(failed.info)
                if failed.info.key in self.engine.state.pods:
                    self.engine.state.pods.pop(failed.info.key)
                self.engine.state.note(failed.info.key, "given up")

    # changes from outside

    @property
    def ask(self) -> Asker | None:
        """Who speaks with extenders, if there are any."""
        return self._api.ask

    @property
    def results(self) -> Mapping[str, PodResult]:
        """What has come of each pod so far, by key."""
        return self._outcomes.results

    @property
    def notes(self) -> Sequence[str]:
        """What one should know beside the results so far."""
        return self._notes

    def take_evictions(self) -> list[Eviction]:
        """Pods that were preempted since the last call, in order."""
        taken, self._outcomes.evictions = self._outcomes.evictions, []
        return taken

    def remove_pod(self, pod: Pod) -> None:
        """A pod is gone, and its devices are free; what came of it so far is forgotten."""
        self.engine.intake.pod_deleted(pod)
        self._api.release_claims(pod)
        self._outcomes.forget(object_key(pod.metadata))

    def explain_untried(self, key: str) -> str:
        """Why a pod that is there was never tried, "" if it may be tried any time."""
        pod = self.engine.state.pods.get(key)
        if pod is None:
            return ""
        self._outcomes.record_untried(pod)
        return self._outcomes.results[key].message

    def restart_choices(self) -> None:
        """Choose between equal nodes as at the beginning."""
        self._choice.restart()

    # time

    @property
    def now_s(self) -> float:
        """The virtual clock, in seconds since the simulation began."""
        return self._now - self._start

    def step(self, limit_s: float, ask: Asker | None = None) -> bool:
        """One attempt; where nobody is to be tried, the clock goes on to the end of the next wait,
        and not beyond a limit in seconds since the beginning. Whether somebody was tried."""
        self._api.ask = ask
        self.disruptions.recount()
        if self._is_at_rest():
            if self._start + limit_s < self._find_next_flush():
                self._now = max(self._now, self._start + limit_s)
                self._sources.fetch_due()
                return False
        elif self._try_next(ask):
            return True
        self._jump_ahead(self._start + limit_s)
        return False

    def _is_at_rest(self) -> bool:
        """Whether nothing happens by itself but that pods have waited too long for an event."""
        state, queue = self.engine.state, self.engine.queue
        is_quiet = not (state.requests or self._failed or len(state.waiting))
        return is_quiet and queue.is_at_rest() and queue.next_wake() is None

    def fetch_sources(self) -> None:
        """Ask the sources of plugins whose time has come, as `run` does before it begins."""
        self._sources.fetch_due()

    def arrive(self, pods: Iterable[Pod]) -> None:
        """Pods that want a node appear, one after the other."""
        for pod in pods:
            self._now += ARRIVAL_S
            try:
                self.engine.intake.pod_put(pod)
            except (InvariantBroken, InputError):
                raise
            except Exception as problem:
                self._outcomes.record_crash(pod, problem)

    def _spend(self, seconds: float) -> None:
        self._now += seconds
        self._sources.fetch_due()
        wake = self.engine.queue.next_wake()
        if wake is not None and wake <= self._now:
            self.engine.tick()

    def _jump_ahead(self, limit: float | None = None) -> bool:
        """Move the clock to the end of the next wait; false if nobody waits for time. With a limit
        the clock stops there, and pods that have waited too long for an event count as well."""
        waits = [waiting.deadline for waiting in self.engine.state.waiting]
        wake = self.engine.queue.next_wake()
        if wake is not None:
            waits.append(wake)
        if limit is not None:
            waits += (limit, self._find_next_flush())
        if not waits:
            return False
        self._now = max(self._now, min(waits))
        self._sources.fetch_due()
        self.engine.tick()
        return True

    def _find_next_flush(self) -> float:
        """When the next pod will have waited too long for an event. Looking for it takes a look at
        all that wait, and whoever comes later is later, so it is done when that time has come."""
        if self._next_flush <= self._now:
            found = self.engine.queue.next_flush()
            self._next_flush = self._now + MAX_UNSCHEDULABLE_S if found is None else found
        return max(self._next_flush, self._now)

    def _see_off(self) -> bool:
        """Let pods that were terminating be gone, if somebody may wait for their room."""
        leaving, self._leaving = self._leaving, ()
        if not leaving or not self.engine.queue.parts().unschedulable:
            return False
        for pod in leaving:
            self.engine.intake.pod_deleted(pod)
            self._api.release_claims(pod)
        gone = "pod is" if len(leaving) == 1 else "pods are"
        self._notes.append(f"{len(leaving)} terminating {gone} gone to make room")
        return True


def _latest_start(pods: Iterable[Pod]) -> datetime:
    """When the last of some pods started; the virtual clock goes on from there."""
    starts = [_EPOCH]
    for text in {pod.status.start_time for pod in pods}:
        with suppress(ValueError):
            starts.append(parse_time(text or "").astimezone(UTC))
    return max(starts)

"""Running a scenario: the driver that stands in for the API server and for time.

All pending pods arrive in the order of the input; the engine's own queue decides who is tried when,
who waits for what, and who is tried again because something happened that may help. What the engine
asks for is done at once: bindings bind, victims leave, nominations are written down. When everybody
waits, the clock jumps to the end of the next wait; when nobody does, the run is over.

Victims do not come back, since there is no controller here that would make them again. Contract:
the same scenario, configuration and seed give the same report, and a pod whose attempt crashes is
reported with the traceback and never stops the others.
"""

import traceback
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime

from msgspec.structs import replace

from podium.api.pod import Pod
from podium.cluster.catalog import object_key
from podium.config.types import Configuration
from podium.engine import Attempt
from podium.engine.binding import Binding
from podium.engine.choice import Seeded
from podium.engine.requests import Bind, PatchStatus, Preempt
from podium.engine.scheduler import CRASHED
from podium.framework.filtering import describe
from podium.framework.registry import Registry
from podium.framework.status import Status, error
from podium.simulator.memory_api import MemoryApi, OutsideWorldError, finish
from podium.simulator.report import Eviction, Outcome, PodResult, Report, digest_of
from podium.simulator.scenario import Scenario
from podium.simulator.utilisation import Utilisation, load_of
from podium.simulator.watching import WatchingEngine

MOST_ATTEMPTS = 16
"""Per pod: an error that time does not heal would be retried for ever."""
ARRIVAL_S = 1e-6
"""Time between two arrivals, so that the earlier pod has waited longer."""
ATTEMPT_S = 1e-3
"""What an attempt takes on the virtual clock."""
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_TERMINATING = "skip schedule deleting pod"


class Simulation:
    def __init__(
        self,
        scenario: Scenario,
        configuration: Configuration,
        registry: Registry,
        *,
        seed: int = 0,
        watch: Collection[str] = (),
    ) -> None:
        """`watch` are keys (`namespace/name`) of pods whose decisions are kept whole."""
        start = _latest_start(scenario.running)
        self._now = start.timestamp()
        self._scenario = scenario
        self._seed = seed
        self.engine = WatchingEngine(
            configuration, registry, choice=Seeded(seed), clock=lambda: self._now, watch=watch
        )
        self._api = MemoryApi(self.engine, self._spend, start)
        self._results: dict[str, PodResult] = {}
        self._evictions: list[Eviction] = []
        self._notes = list(scenario.notes)
        self._leaving = tuple(
            pod for pod in scenario.running if pod.metadata.deletion_timestamp is not None
        )
        for node in scenario.nodes:
            self.engine.intake.node_put(node)
        for obj in scenario.objects:
            self.engine.intake.object_put(obj)
        for pod in scenario.running:
            self.engine.intake.pod_put(pod)

    def run(self, *, until: str = "", on_attempt: Callable[[], None] = lambda: None) -> Report:
        """Attempt all pending pods; `until` names a pod whose placement ends the run early."""
        before = load_of(self.engine.cluster)
        self._arrive()
        while not self._is_placed(until):
            attempt = self.engine.schedule_next()
            if attempt is not None:
                self._record(attempt)
                self._spend(ATTEMPT_S)
                on_attempt()
            self._carry_out_requests()
            if attempt is None and not self._jump_ahead() and not self._see_off():
                break
        for pod in self._scenario.pending:
            if object_key(pod.metadata) not in self._results:
                self._record_untried(pod)
        return Report(
            self._seed,
            list(self._results.values()),
            self._evictions,
            Utilisation(before, load_of(self.engine.cluster)),
            len(self._scenario.running),
            tuple(self._notes),
            self.engine.looks,
        )

    # time

    def _arrive(self) -> None:
        for pod in self._scenario.pending:
            self._now += ARRIVAL_S
            try:
                self.engine.intake.pod_put(pod)
            except Exception as problem:
                result = self._result(pod)
                result.outcome, result.message = Outcome.ERROR, CRASHED + describe(problem)
                result.crash = traceback.format_exc()

    def _spend(self, seconds: float) -> None:
        self._now += seconds
        wake = self.engine.queue.next_wake()
        if wake is not None and wake <= self._now:
            self.engine.tick()

    def _jump_ahead(self) -> bool:
        """Move the clock to the end of the next wait; false if nobody waits for time."""
        waits = [waiting.deadline for waiting in self.engine.state.waiting]
        wake = self.engine.queue.next_wake()
        if wake is not None:
            waits.append(wake)
        if not waits:
            return False
        self._now = max(self._now, min(waits))
        self.engine.tick()
        return True

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

    # what came of it

    def _result(self, pod: Pod) -> PodResult:
        key = object_key(pod.metadata)
        if key not in self._results:
            self._results[key] = PodResult(pod, key, Outcome.UNSCHEDULABLE)
        return self._results[key]

    def _is_placed(self, key: str) -> bool:
        return key in self._results and self._results[key].placed

    def _record(self, attempt: Attempt) -> None:
        decision = attempt.decision
        result = self._result(decision.pod.pod)
        result.attempts = decision.attempt
        result.digest = digest_of(decision)
        if attempt.binding is not None:
            return
        result.message = decision.message or ""
        result.outcome = Outcome.ERROR if decision.is_error else Outcome.UNSCHEDULABLE
        result.crash = attempt.crash
        if result.crash or result.attempts >= MOST_ATTEMPTS:
            self.engine.queue.delete(decision.pod)

    def _record_untried(self, pod: Pod) -> None:
        """Why a pod was never tried."""
        result, engine = self._result(pod), self.engine
        if pod.metadata.deletion_timestamp is not None:
            result.outcome, result.message = Outcome.TERMINATING, _TERMINATING
        elif not engine.state.responsible(pod):
            known = ", ".join(engine.profiles)
            name = pod.spec.scheduler_name
            result.outcome = Outcome.NOT_OURS
            result.message = f"asks for scheduler {name}; profiles here: {known}"
        else:
            refusal = engine.pre_enqueue(engine.cluster.infos.of(pod))
            broken = refusal is not None and not refusal.code.rejected
            result.outcome = Outcome.ERROR if broken else Outcome.GATED
            result.message = refusal.message if refusal else ""

    # what the engine asks for

    def _carry_out_requests(self) -> None:
        while requests := self.engine.take_requests():
            for request in requests:
                match request:
                    case Bind():
                        self._bind(request.binding)
                    case Preempt():
                        self._preempt(request)
                    case PatchStatus() if request.nominated_node is not None:
                        self._nominate(request.pod.pod, request.nominated_node)

    def _bind(self, binding: Binding) -> None:
        info = binding.cycle.pod
        result = self._result(info.pod)
        problem = self._run_binding(binding, result)
        bound = not self.engine.cluster.is_assumed(info.uid)
        if problem is None and not bound:  # a binder that went past the API handle
            self._api.place(info.pod, binding.node_name)
            bound = True
        self.engine.bindings.finished(binding, None if bound else problem)
        if bound:
            result.outcome, result.node, result.message = Outcome.PLACED, binding.node_name, ""
        elif problem is not None:
            result.outcome, result.message = Outcome.ERROR, problem.message
            if result.attempts >= MOST_ATTEMPTS:
                self.engine.queue.delete(info)

    def _run_binding(self, binding: Binding, result: PodResult) -> Status | None:
        try:
            return finish(binding.run(self._api))
        except OutsideWorldError as problem:
            return error(str(problem))
        except Exception as problem:
            result.crash = traceback.format_exc()
            return error(CRASHED + describe(problem))

    def _preempt(self, request: Preempt) -> None:
        engine, preemptor = self.engine, request.preemptor
        for weaker in request.clear:
            self._nominate(weaker.pod, "")
        for eviction in request.evict:
            victim = eviction.victim
            engine.intake.pod_deleted(victim.pod)
            self._api.release_claims(victim.pod)
            engine.preemptions.evicted(preemptor, victim, request.node_name)
            self._evictions.append(Eviction(victim.pod, request.node_name, preemptor.key))
            earlier = self._results.get(victim.key)
            if earlier is not None:
                earlier.outcome, earlier.node = Outcome.PREEMPTED, ""
                earlier.message = f"preempted by {preemptor.key} on node {request.node_name}"
        result = self._result(preemptor.pod)
        result.victims = (*result.victims, *(evict.victim.key for evict in request.evict))
        engine.preemptions.finished(preemptor, None)

    def _nominate(self, pod: Pod, node_name: str) -> None:
        """Write a nomination into the stored pod, as a patch of its status would."""
        current = self.engine.state.pods.get(object_key(pod.metadata))
        if current is None or current.spec.node_name:
            return
        if current.status.nominated_node_name != node_name:
            status = replace(current.status, nominated_node_name=node_name)
            self.engine.intake.pod_put(replace(current, status=status))


def _latest_start(pods: Iterable[Pod]) -> datetime:
    """When the last of some pods started; the virtual clock goes on from there."""
    starts = [_EPOCH]
    for pod in pods:
        with suppress(ValueError):
            starts.append(datetime.fromisoformat(pod.status.start_time or "").astimezone(UTC))
    return max(starts)


def find_pods(scenario: Scenario, name: str) -> list[Pod]:
    """Pods that a user may mean by `name` or `namespace/name`."""
    namespace, slash, bare = name.rpartition("/")
    return [
        pod
        for pod in (*scenario.pending, *scenario.running)
        if pod.metadata.name == bare and (not slash or pod.metadata.namespace == namespace)
    ]

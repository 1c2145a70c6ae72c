"""What has come of each pod so far, kept while a run goes on and read by its report."""

import traceback

from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.failed_pods import FailedPod
from podium.offline.simulate.pending_causes import PendingCauses
from podium.offline.simulate.report import Eviction, PodOutcome, PodResult
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Attempt, Engine
from podium.scheduler.engine.scheduler import CRASHED
from podium.scheduler.explain.causes.refusals import attempt_broke, explained_by_plugin, turned_away
from podium.scheduler.explain.decision_digest import digest_of
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.status import Code, Status

_TERMINATING = "skip schedule deleting pod"
_SILENT = "tried in vain; kube-scheduler gives no reason here"


class Outcomes:
    """Results by key, in the order in which pods were first tried."""

    def __init__(self, engine: Engine, *, keeps_digests: bool = True) -> None:
        self._engine = engine
        self._keeps_digests = keeps_digests
        self.results: dict[str, PodResult] = {}
        self.evictions: list[Eviction] = []
        self._causes = PendingCauses(engine)

    def of(self, pod: Pod) -> PodResult:
        key = object_key(pod.metadata)
        if key not in self.results:
            self.results[key] = PodResult(
                pod,
                key,
                PodOutcome.UNSCHEDULABLE,
                find_causes=lambda: self._causes.of(pod, key),
            )
        return self.results[key]

    def forget_causes(self) -> None:
        """The cluster goes on: causes that were found on it are those of the past."""
        self._causes.forget()

    def forget(self, key: str) -> None:
        """A pod is gone, and so is what came of it."""
        self.results.pop(key, None)
        self._causes.forget_attempt(key)

    def is_placed(self, key: str) -> bool:
        return key in self.results and self.results[key].placed

    def record_attempt(self, attempt: Attempt) -> PodResult:
        decision = attempt.decision
        result = self.of(decision.pod.pod)
        result.attempts = decision.attempt
        if self._keeps_digests:
            result.digest = digest_of(decision)
        self._causes.note_attempt(decision)
        result.turned_away_from = decision.bound or ""
        if attempt.binding is None:
            result.crash = attempt.crash
        return result

    def record_failure(self, failed: FailedPod) -> PodResult:
        """Note why a pod goes back to the queue, from wherever it was turned away."""
        result = self.of(failed.info.pod)
        if result.outcome is PodOutcome.PREEMPTED:
            return result
        result.attempts = failed.attempts
        result.outcome = PodOutcome.UNSCHEDULABLE if failed.rejected else PodOutcome.ERROR
        result.message = failed.message or result.message or _SILENT
        if result.turned_away_from and failed.rejected:
            by, node, message = ", ".join(failed.rejectors), result.turned_away_from, result.message
            status = Status(Code.UNSCHEDULABLE, (message,), by)
            told = explained_by_plugin(self._engine, failed.info.pod, status)
            result.find_causes = lambda: (told or turned_away(by, node, message),)
        return result

    def record_untried(self, pod: Pod) -> None:
        """Tell why a pod was never tried."""
        result, engine = self.of(pod), self._engine
        if pod.metadata.deletion_timestamp is not None:
            result.outcome, result.message = PodOutcome.TERMINATING, _TERMINATING
        elif not engine.state.responsible(pod):
            known = ", ".join(engine.profiles)
            name = pod.spec.scheduler_name
            result.outcome = PodOutcome.NOT_OURS
            result.message = f"asks for scheduler {name}; profiles here: {known}"
        else:
            refusal = engine.pre_enqueue(engine.cluster.infos.of(pod))
            broken = refusal is not None and not refusal.code.rejected
            result.outcome = PodOutcome.ERROR if broken else PodOutcome.GATED
            result.message = refusal.message if refusal else ""

    def record_crash(self, pod: Pod, problem: Exception) -> None:
        """Note what only a bug can cause; call it where the exception is at hand."""
        result = self.of(pod)
        result.outcome, result.message = PodOutcome.ERROR, CRASHED + describe(problem)
        result.crash = traceback.format_exc()
        _blame(result)

    def record_binding(self, pod: Pod, node_name: str, reserved: str = "") -> None:
        result = self.of(pod)
        result.reserved = reserved
        result.outcome, result.node, result.message = PodOutcome.PLACED, node_name, ""

    def record_failed_binding(self, pod: Pod, problem: Status) -> None:
        """Note a reason that the failure itself may keep to itself."""
        result = self.of(pod)
        result.message = problem.message
        _blame(result, problem.plugin)

    def record_eviction(self, victim: Pod, node_name: str, by: str) -> None:
        eviction = Eviction(victim, node_name, by)
        self.evictions.append(eviction)
        earlier = self.results.get(eviction.key)
        if earlier is not None:
            earlier.outcome, earlier.node = PodOutcome.PREEMPTED, ""
            earlier.message = f"preempted by {by} on node {node_name}"


def _blame(result: PodResult, plugin: str = "") -> None:
    """What broke is the cause, whatever nodes there are."""
    cause = attempt_broke(plugin, result.message)
    result.find_causes = lambda: (cause,)

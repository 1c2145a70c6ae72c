"""What has come of each pod so far, kept while a run goes on and read by its report.

An attempt may end without a node; a pod with a node may be turned away at Reserve, wait at Permit
in vain, or break in PreBind or Bind; a member of a group fails with its group. The engine reports
all of them to one observer (`FailedPods`), so that the limit of attempts holds for all of them.

A run may end with thousands of pods without a node. Why (`PendingCauses`) is worked out when
somebody reads it: pods of one template have one cause, so the filters are asked once for each shape
of pod, on the cluster as the run left it. Of the attempts only what no filter can say again is
kept.
"""

import traceback
from dataclasses import dataclass

from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.offline.simulate.report import Eviction, PodOutcome, PodResult
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.engine import Attempt, Decision, Engine
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.scheduler import CRASHED
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes import find_causes, find_filter_causes, find_waiting_cause
from podium.scheduler.explain.causes.refusals import attempt_broke, explained_by_plugin, turned_away
from podium.scheduler.explain.decision_digest import digest_of
from podium.scheduler.framework.explanations.filter_examination import examine_filters
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.queued import QueuedPod
from podium.scheduler.framework.status import Code, Status


class PendingCauses:
    """The causes of pods without a node, by key of the pod."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._attempts: dict[str, Decision] = {}
        self._by_shape: dict[PodShape, tuple[Cause, ...]] = {}

    def note_attempt(self, decision: Decision) -> None:
        """Keep what the last attempt for a pod ended with, without its arrays."""
        if decision.bound is not None:
            self._attempts.pop(decision.pod.key, None)
            return
        self._attempts[decision.pod.key] = Decision(
            decision.pod,
            decision.profile,
            (),
            message=decision.message,
            is_error=decision.is_error,
            refused_by=decision.refused_by,
            chosen=decision.chosen,
            dropped=decision.dropped,
        )

    def forget_attempt(self, key: str) -> None:
        """A pod is gone."""
        self._attempts.pop(key, None)

    def forget(self) -> None:
        """Look again at what was found, since the cluster has changed."""
        self._by_shape.clear()

    def of(self, pod: Pod, key: str) -> tuple[Cause, ...]:
        """Why a pod has no node, the cause that matters most first."""
        decision = self._attempts.get(key)
        if decision is None:
            waiting = find_waiting_cause(self._engine, pod)
            return (waiting,) if waiting is not None else ()
        if decision.refused_by is None and not decision.is_error and not decision.dropped:
            causes = self._of_shape(pod)
            if causes:
                return causes
        return find_causes(self._engine, decision)

    def _of_shape(self, pod: Pod) -> tuple[Cause, ...]:
        # A nomination is the pod's own and would be looked at before anything else.
        info = self._engine.cluster.infos.of(
            replace(pod, status=replace(pod.status, nominated_node_name=""))
        )
        if info.shape not in self._by_shape:
            profile = self._engine.profile_of(pod)
            examination = examine_filters(profile, self._engine.cluster, info)
            self._by_shape[info.shape] = find_filter_causes(self._engine, info, examination)
        return self._by_shape[info.shape]


@dataclass(frozen=True, slots=True)
class FailedPod:
    """`message` is what the pod's condition would say; empty where kube-scheduler says nothing.
    `rejectors` are the plugins that turned the pod away."""

    info: PodInfo
    attempts: int
    rejected: bool
    message: str
    rejectors: tuple[str, ...] = ()


class FailedPods(Observer):
    def __init__(self) -> None:
        self._failed: list[FailedPod] = []

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        rejectors = tuple(sorted(queued.rejectors))
        self._failed.append(FailedPod(queued.info, queued.attempts, rejected, message, rejectors))

    def __len__(self) -> int:
        return len(self._failed)

    def take(self) -> list[FailedPod]:
        """Who failed since the last call, in order."""
        taken, self._failed = self._failed, []
        return taken


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

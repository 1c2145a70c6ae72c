"""What has come of each pod so far, kept while a run goes on and read by its report."""

import traceback

from podium.api.pod import Pod
from podium.cluster.catalog import object_key
from podium.engine import Attempt, Engine
from podium.engine.scheduler import CRASHED
from podium.framework.faults import describe
from podium.framework.status import Status
from podium.simulator.report import Eviction, Outcome, PodResult, digest_of

_TERMINATING = "skip schedule deleting pod"


class Outcomes:
    """Results by key, in the order in which pods were first tried."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.results: dict[str, PodResult] = {}
        self.evictions: list[Eviction] = []

    def of(self, pod: Pod) -> PodResult:
        key = object_key(pod.metadata)
        if key not in self.results:
            self.results[key] = PodResult(pod, key, Outcome.UNSCHEDULABLE)
        return self.results[key]

    def is_placed(self, key: str) -> bool:
        return key in self.results and self.results[key].placed

    def tried(self, attempt: Attempt) -> PodResult:
        decision = attempt.decision
        result = self.of(decision.pod.pod)
        result.attempts = decision.attempt
        result.digest = digest_of(decision)
        if attempt.binding is None:
            result.message = decision.message or ""
            result.outcome = Outcome.ERROR if decision.is_error else Outcome.UNSCHEDULABLE
            result.crash = attempt.crash
        return result

    def never_tried(self, pod: Pod) -> None:
        """Tell why a pod was never tried."""
        result, engine = self.of(pod), self._engine
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

    def crashed(self, pod: Pod, problem: Exception) -> None:
        """Note what only a bug can cause; call it where the exception is at hand."""
        result = self.of(pod)
        result.outcome, result.message = Outcome.ERROR, CRASHED + describe(problem)
        result.crash = traceback.format_exc()

    def bound(self, pod: Pod, node_name: str) -> None:
        result = self.of(pod)
        result.outcome, result.node, result.message = Outcome.PLACED, node_name, ""

    def not_bound(self, pod: Pod, problem: Status) -> PodResult:
        result = self.of(pod)
        result.outcome, result.message = Outcome.ERROR, problem.message
        return result

    def evicted(self, victim: Pod, node_name: str, by: str) -> None:
        eviction = Eviction(victim, node_name, by)
        self.evictions.append(eviction)
        earlier = self.results.get(eviction.key)
        if earlier is not None:
            earlier.outcome, earlier.node = Outcome.PREEMPTED, ""
            earlier.message = f"preempted by {by} on node {node_name}"

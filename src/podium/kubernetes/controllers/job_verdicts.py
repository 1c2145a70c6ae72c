"""Whether a job is to end, and why: first what was announced, then failures, then success.

(`pkg/controller/job/job_controller.go`, syncJob)
"""

from typing import Final, NamedTuple

from podium.kubernetes.controllers.job_counting import has_failed
from podium.kubernetes.controllers.job_policies import match_failure, match_success
from podium.kubernetes.controllers.job_status import Situation

_BACKOFF_LIMIT: Final = 6
_EXCEEDED: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LATE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_TOO_MANY_INDEXES: Final = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_FAILED_INDEXES: Final = ("FailedIndexes", "Job has failed indexes")
_REACHED: Final = ("CompletionsReached", "Reached expected number of succeeded pods")


class Verdict(NamedTuple):
    announcement: str
    """The type of the condition that comes before the final one."""
    reason: str
    message: str


def find_verdict(situation: Situation) -> Verdict | None:
    job = situation.job
    announced = job.announcement
    if announced is not None:
        return Verdict(announced.type, announced.reason, announced.message)
    failure = _failure(situation) or _index_failure(situation)
    if failure is not None:
        return Verdict("FailureTarget", *failure)
    completions = job.spec.completions
    if job.is_indexed:
        rule = match_success(job.spec.success_policy, completions or 0, situation.done)
        if rule is not None:
            return Verdict("SuccessCriteriaMet", "SuccessPolicy", rule)
    if completions is None:
        complete = situation.succeeded > 0 and not situation.active
    else:
        complete = situation.succeeded >= completions and not job.spec.suspend
    return Verdict("SuccessCriteriaMet", *_REACHED) if complete else None


def _failure(situation: Situation) -> tuple[str, str] | None:
    job = situation.job
    for pod in situation.pods if job.spec.pod_failure_policy is not None else ():
        if has_failed(job, pod):
            match = match_failure(job.spec.pod_failure_policy, pod)
            if match.message:
                return "PodFailurePolicy", match.message
    limit = job.spec.backoff_limit
    limit = _BACKOFF_LIMIT if limit is None else limit
    if situation.counted.failed > limit or _restarts_exceed(situation, limit):
        return _EXCEEDED
    deadline_s, started = job.spec.active_deadline_seconds, job.status.start_time
    if deadline_s is not None and started and situation.moment.age_s(started) >= deadline_s:
        return _TOO_LATE
    return None


def _restarts_exceed(situation: Situation, limit: int) -> bool:
    """upstream: pods that restart in place use up the limit with their restarts."""
    if situation.job.spec.template.spec.get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(pod.restarts for pod in situation.active)
    return restarts > 0 if limit == 0 else restarts >= limit


def _index_failure(situation: Situation) -> tuple[str, str] | None:
    failed, spec = len(situation.failed_indexes), situation.job.spec
    if not failed:
        return None
    if spec.max_failed_indexes is not None and failed > spec.max_failed_indexes:
        return _TOO_MANY_INDEXES
    if failed + situation.succeeded >= (spec.completions or 0):
        return _FAILED_INDEXES
    return None

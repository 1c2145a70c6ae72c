"""Where a job is, and what it reports of that.

Whether a job is to end, and why: first what was announced, then failures, then success.
(`pkg/controller/job/job_controller.go`, syncJob)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import job_counting
from podium.kubernetes.controllers.job_counting import Count, has_failed
from podium.kubernetes.controllers.job_policies import match_failure, match_success, written_indexes
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import Job
from podium.kubernetes.rules.timestamps import Moment


@dataclass(frozen=True, slots=True)
class JobSituation:
    job: Job
    pods: Sequence[Pod]
    active: Sequence[Pod]
    counted: Count
    done: set[int]
    """Indexes that are complete; empty unless the job is indexed."""
    failed_indexes: set[int]
    """Indexes that are given up; empty unless failures are limited per index."""
    held: dict[int, Pod]
    """By index the failed pod whose successor is yet to be made."""
    moment: Moment
    burst: int
    """How many pods may be made at once."""

    @property
    def succeeded(self) -> int:
        return len(self.done) if self.job.is_indexed else self.counted.succeeded

    @property
    def terminating(self) -> int:
        return sum(pod.metadata.is_terminating and not pod.is_ended for pod in self.pods)


def job_status(situation: JobSituation, conditions: Sequence[JsonObject]) -> JsonObject:
    job = situation.job
    status: JsonObject = {
        "active": len(situation.active),
        "ready": sum(pod.is_ready for pod in situation.active),
        "terminating": situation.terminating,
        **situation.counted.status,
    }
    if job.is_indexed:
        status["completedIndexes"] = written_indexes(situation.done)
        status["succeeded"] = len(situation.done)
    if job.spec.backoff_limit_per_index is not None:
        status["failedIndexes"] = written_indexes(situation.failed_indexes)
    final = next((each["type"] for each in conditions if each["type"] == "Complete"), "")
    if final:
        status["completionTime"] = situation.moment.timestamp
    if job.spec.suspend:
        status["startTime"] = None
    elif job.status.start_time is None:
        status["startTime"] = situation.moment.timestamp
    else:
        status["startTime"] = job.status.start_time
    return status


def reported_status(job: Job) -> JsonObject:
    status = job.status
    shown: JsonObject = {
        "active": status.active,
        "ready": status.ready or 0,
        "terminating": status.terminating or 0,
        **job_counting.encode_counts(status),
        "startTime": status.start_time,
    }
    if job.is_indexed:
        shown["completedIndexes"] = status.completed_indexes
    if job.spec.backoff_limit_per_index is not None:
        shown["failedIndexes"] = status.failed_indexes
    return shown


_BACKOFF_LIMIT: Final = 6
_EXCEEDED: Final = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LATE: Final = ("DeadlineExceeded", "Job was active longer than specified deadline")
_TOO_MANY_INDEXES: Final = (
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
_FAILED_INDEXES: Final = ("FailedIndexes", "Job has failed indexes")
_REACHED: Final = ("CompletionsReached", "Reached expected number of succeeded pods")


class JobVerdict(NamedTuple):
    announcement: str
    """The type of the condition that comes before the final one."""
    reason: str
    message: str


def find_verdict(situation: JobSituation) -> JobVerdict | None:
    job = situation.job
    announced = job.announcement
    if announced is not None:
        return JobVerdict(announced.type, announced.reason, announced.message)
    failure = _failure(situation) or _index_failure(situation)
    if failure is not None:
        return JobVerdict("FailureTarget", *failure)
    completions = job.spec.completions
    if job.is_indexed:
        rule = match_success(job.spec.success_policy, completions or 0, situation.done)
        if rule is not None:
            return JobVerdict("SuccessCriteriaMet", "SuccessPolicy", rule)
    if completions is None:
        complete = situation.succeeded > 0 and not situation.active
    else:
        complete = situation.succeeded >= completions and not job.spec.suspend
    return JobVerdict("SuccessCriteriaMet", *_REACHED) if complete else None


def _failure(situation: JobSituation) -> tuple[str, str] | None:
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


def _restarts_exceed(situation: JobSituation, limit: int) -> bool:
    """upstream: pods that restart in place use up the limit with their restarts."""
    if situation.job.spec.template.spec.get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(pod.restarts for pod in situation.active)
    return restarts > 0 if limit == 0 else restarts >= limit


def _index_failure(situation: JobSituation) -> tuple[str, str] | None:
    failed, spec = len(situation.failed_indexes), situation.job.spec
    if not failed:
        return None
    if spec.max_failed_indexes is not None and failed > spec.max_failed_indexes:
        return _TOO_MANY_INDEXES
    if failed + situation.succeeded >= (spec.completions or 0):
        return _FAILED_INDEXES
    return None

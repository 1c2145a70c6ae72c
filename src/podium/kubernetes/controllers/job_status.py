"""Where a job stands, and what it reports of that."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import job_counting
from podium.kubernetes.controllers.job_counting import Count
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import Job
from podium.kubernetes.rules.index_ranges import written_indexes
from podium.kubernetes.rules.moment import Moment


@dataclass(frozen=True, slots=True)
class Situation:
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


def job_status(situation: Situation, conditions: Sequence[JsonObject]) -> JsonObject:
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
        **job_counting.reported(status),
        "startTime": status.start_time,
    }
    if job.is_indexed:
        shown["completedIndexes"] = status.completed_indexes
    if job.spec.backoff_limit_per_index is not None:
        shown["failedIndexes"] = status.failed_indexes
    return shown

"""Where a job stands, and what it reports of that."""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.api.json_values import JsonObject
from podium.simulated_cluster.controllers import job_counting
from podium.simulated_cluster.controllers.job_counting import Count
from podium.workloads import job_indexes
from podium.workloads.kinds import Job
from podium.workloads.moment import Moment
from podium.workloads.pods import Pod


@dataclass(frozen=True, slots=True)
class Situation:
    job: Job
    pods: Sequence[Pod]
    active: Sequence[Pod]
    counted: Count
    done: set[int]
    """Indexes that are complete; empty unless the job is indexed."""
    moment: Moment

    @property
    def succeeded(self) -> int:
        return len(self.done) if self.job.is_indexed else self.counted.succeeded


def job_status(situation: Situation, conditions: Sequence[JsonObject]) -> JsonObject:
    job = situation.job
    status: JsonObject = {
        "active": len(situation.active),
        "ready": sum(pod.is_ready for pod in situation.active),
        "terminating": sum(p.metadata.is_terminating and not p.is_ended for p in situation.pods),
        **situation.counted.status,
    }
    if job.is_indexed:
        status["completedIndexes"] = job_indexes.written(situation.done)
        status["succeeded"] = len(situation.done)
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
    return shown

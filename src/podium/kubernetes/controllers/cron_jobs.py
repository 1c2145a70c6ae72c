"""Cron jobs: when a job is due, and the job that is made then.

Times are those of the calendar. Of several starts that were missed only the last is made up for
(`pkg/controller/cronjob/utils.go`).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, Literal

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.objects import Kind, owner_reference
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.rules.cron_schedule import Schedule
from podium.kubernetes.rules.timestamps import seconds_of, time_text

CRON_JOB: Final = Kind("batch/v1", "CronJob")
SCHEDULED_AT: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_PADDING: Final = timedelta(milliseconds=100)
"""Looking again a little late makes up for clocks that differ."""


class JobTemplate(KubeStruct, frozen=True):
    metadata: JsonObject = msgspec.field(default_factory=dict)
    spec: JsonObject = msgspec.field(default_factory=dict)


class CronJobSpec(KubeStruct, frozen=True):
    schedule: str = ""
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: str = "Allow"
    suspend: bool = False
    successful_jobs_history_limit: int | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplate = JobTemplate()


class JobReference(KubeStruct, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class CronJobStatus(KubeStruct, frozen=True):
    active: tuple[JobReference, ...] | None = None
    last_schedule_time: str | None = None
    last_successful_time: str | None = None


class CronJob(KubeObject, frozen=True):
    api_version: Literal["batch/v1"] = "batch/v1"
    kind: Literal["CronJob"] = "CronJob"
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


@dataclass(frozen=True, slots=True)
class _Missed:
    since: datetime
    """When the last job was due, or what stands for it."""
    due: datetime | None
    """The last start that has come and was not made; None if there is none."""
    is_several: bool = False


def due_at(cron: CronJob, schedule: Schedule, now: datetime) -> datetime | None:
    """When the job was due that is to be made now, None if none is."""
    missed = _missed(cron, schedule, now, within_deadline=True)
    return missed.due if missed is not None else None


def is_too_late(cron: CronJob, due: datetime, now: datetime) -> bool:
    deadline_s = cron.spec.starting_deadline_seconds
    return deadline_s is not None and due + timedelta(seconds=deadline_s) < now


def next_look(cron: CronJob, schedule: Schedule, now: datetime) -> timedelta | None:
    """How long until the next job is due; None if none will be."""
    missed = _missed(cron, schedule, now, within_deadline=False)
    since = now
    if missed is not None:
        since = missed.due or (now if missed.is_several else missed.since)
    following = schedule.after(since)
    return None if following is None else following + _PADDING - now


def _missed(
    cron: CronJob, schedule: Schedule, now: datetime, *, within_deadline: bool
) -> _Missed | None:
    """None for a schedule that makes no sense, such as the 31st of February."""
    since = _time(cron.status.last_schedule_time or cron.metadata.creation_timestamp, now)
    deadline_s = cron.spec.starting_deadline_seconds
    if within_deadline and deadline_s is not None:
        since = max(since, now - timedelta(seconds=deadline_s))
    first = schedule.after(since)
    if first is None:
        return None
    if now < first:
        return _Missed(since, None)
    second = schedule.after(first)
    if second is None:
        return None
    if now < second:
        return _Missed(since, first)
    # upstream: how many were missed is estimated from the first two, and only the last of them
    # is looked for one by one, however long ago the first was.
    between_s = round((second - first).total_seconds())
    if between_s < 1:
        return None
    count = int((now - first).total_seconds()) // between_s + 1
    due = None
    following = schedule.after(first + timedelta(seconds=(count - 2) * between_s))
    while following is not None and following <= now:
        due, following = following, schedule.after(following)
    return _Missed(since, due, is_several=True)


def job_name(cron: CronJob, due: datetime) -> str:
    """The name by which nobody makes the job of one start twice."""
    return f"{cron.name}-{int(due.timestamp()) // 60}"


def job_of(cron: CronJob, due: datetime, zone: tzinfo) -> JsonObject:
    template = cron.spec.job_template
    metadata = template.metadata
    annotations = {**(metadata.get("annotations") or {}), SCHEDULED_AT: _rfc3339(due, zone)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(cron, due),
            "namespace": cron.namespace,
            "labels": dict(metadata.get("labels") or {}),
            "annotations": annotations,
            "ownerReferences": [owner_reference(CRON_JOB, cron.metadata)],
        },
        "spec": template.spec,
    }


def timestamp_of(time: datetime) -> str:
    return time_text(time.timestamp())


def _rfc3339(time: datetime, zone: tzinfo) -> str:
    local = time.astimezone(zone)
    if not local.utcoffset():
        return timestamp_of(time)
    return local.isoformat(timespec="seconds")


def _time(written: str | None, otherwise: datetime) -> datetime:
    return datetime.fromtimestamp(seconds_of(written), UTC) if written else otherwise

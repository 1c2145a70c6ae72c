"""Cron jobs: when a job is due, and the job that is made then.

Times are those of the calendar. Of several starts that were missed only the last is made up for
(`pkg/controller/cronjob/{cronjob_controllerv2,utils}.go`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    Plan,
    Wake,
    delete,
    event_about,
    find_creation,
    status_patch,
)
from podium.kubernetes.controllers.job_pods import JOB
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.ownership import wake_owners
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.controllers.workloads import CronJob, Job
from podium.kubernetes.resources.resource_types import CRON_JOBS, JOBS
from podium.kubernetes.rules.cron_schedule import (
    Schedule,
    ScheduleError,
    parse_schedule,
    split_zone,
)
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.timestamps import Moment, seconds_of, time_text

CRON_JOB: Final = OwnerKind("batch/v1", "CronJob")
SCHEDULED_AT: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_PADDING: Final = timedelta(milliseconds=100)
"""Looking again a little late makes up for clocks that differ."""


@dataclass(frozen=True, slots=True)
class _Missed:
    since: datetime
    """When the last job was due, or what stands for it."""
    due: datetime | None
    """The last start that has come and was not made; None if there is none."""
    is_several: bool = False


def due_at(cron: CronJob, schedule: Schedule, now: datetime) -> datetime | None:
    """When the job was due that is to be made now, None if none is."""
    missed = _find_missed_times(cron, schedule, now, within_deadline=True)
    return missed.due if missed is not None else None


def is_too_late(cron: CronJob, due: datetime, now: datetime) -> bool:
    deadline_s = cron.spec.starting_deadline_seconds
    return deadline_s is not None and due + timedelta(seconds=deadline_s) < now


def next_look(cron: CronJob, schedule: Schedule, now: datetime) -> timedelta | None:
    """How long until the next job is due; None if none will be."""
    missed = _find_missed_times(cron, schedule, now, within_deadline=False)
    since = now
    if missed is not None:
        since = missed.due or (now if missed.is_several else missed.since)
    following = schedule.after(since)
    return None if following is None else following + _PADDING - now


def _find_missed_times(
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


Zones = Callable[[str], tzinfo | None]
_FAR_FUTURE: Final = float("inf")
_COMPONENT: Final = "cronjob-controller"


def time_zone(name: str) -> tzinfo | None:
    """A time zone by its name in the IANA database; None for a name that is not in it."""
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def decide(
    cron: CronJob,
    jobs: Sequence[Job],
    moment: Moment,
    *,
    is_taken: Callable[[str], bool] = lambda _: False,
    zones: Zones = time_zone,
) -> Plan:
    """`jobs` are those that the cron job owns; `is_taken` knows the names of all others, too."""
    active = [job for job in jobs if job.end is None and _is_own(cron, job)]
    removal = _beyond_history(cron, jobs)
    started: list[Action] = []
    last, again_after_s = cron.status.last_schedule_time, None
    scheduled = _schedule(cron, zones)
    if scheduled is not None and not cron.metadata.is_terminating and not cron.spec.suspend:
        schedule, zone = scheduled
        now = datetime.fromtimestamp(moment.wall_s, UTC)
        due = due_at(cron, schedule, now)
        if due is not None and _may_start(cron, due, now, active):
            name = job_name(cron, due)
            if not is_taken(name) and all(job.name != name for job in jobs):
                if cron.spec.concurrency_policy == "Replace":
                    started += [delete(JOBS, job, propagation="Background") for job in active]
                    active = []
                started.append(CreateAction(JOBS, cron.namespace, job_of(cron, due, zone)))
            last = timestamp_of(due)
        wait = next_look(cron, schedule, now)
        again_after_s = None if wait is None else wait.total_seconds() * moment.speed
    status = _status(cron, active, jobs, last)
    actions = [*started, *removal]
    if status != _report_status(cron):
        actions.append(status_patch(CRON_JOBS, cron, status, PatchType.MERGE))
    return Plan(actions, again_after_s)


def _schedule(cron: CronJob, zones: Zones) -> tuple[Schedule, tzinfo] | None:
    """None for a schedule or a time zone that cannot be read: then no job is made."""
    written_zone, written = split_zone(cron.spec.schedule)
    zone = zones(cron.spec.time_zone or written_zone)
    if zone is None:
        return None
    try:
        return parse_schedule(written, zone), zone
    except ScheduleError:
        return None


def _may_start(cron: CronJob, due: datetime, now: datetime, active: Sequence[Job]) -> bool:
    if is_too_late(cron, due, now) or cron.status.last_schedule_time == timestamp_of(due):
        return False
    return cron.spec.concurrency_policy != "Forbid" or not active


def _is_own(cron: CronJob, job: Job) -> bool:
    """Whether it was made for a start; one that somebody made by hand is not waited for."""
    listed = {each.uid for each in cron.status.active or ()}
    return job.metadata.uid in listed or bool(job.metadata.annotation(SCHEDULED_AT))


def _beyond_history(cron: CronJob, jobs: Sequence[Job]) -> list[Action]:
    limits = {
        "Complete": cron.spec.successful_jobs_history_limit,
        "Failed": cron.spec.failed_jobs_history_limit,
    }
    removal: list[Action] = []
    for end, limit in limits.items():
        if limit is None:
            continue
        ended = [job for job in jobs if job.end is not None and job.end.type == end]
        ended.sort(key=_started_at)
        surplus = ended[: max(len(ended) - limit, 0)]
        removal += [
            delete(JOBS, job, propagation="Background")
            for job in surplus
            if not job.metadata.is_terminating
        ]
    return removal


def _started_at(job: Job) -> tuple[float, str]:
    start = job.status.start_time
    return (seconds_of(start) if start else _FAR_FUTURE, job.name)


def _status(
    cron: CronJob, active: Sequence[Job], jobs: Sequence[Job], last: str | None
) -> JsonObject:
    ends = [
        job.status.completion_time
        for job in jobs
        if job.end is not None and job.end.type == "Complete" and job.status.completion_time
    ]
    known = cron.status.last_successful_time
    return {
        "active": [_reference(job) for job in active] or None,
        "lastScheduleTime": last,
        "lastSuccessfulTime": max([*ends, known] if known else ends, key=seconds_of, default=None),
    }


def _report_status(cron: CronJob) -> JsonObject:
    status = cron.status
    active = [
        {
            "apiVersion": each.api_version,
            "kind": each.kind,
            "name": each.name,
            "namespace": each.namespace,
            "uid": each.uid,
        }
        for each in status.active or ()
    ]
    return {
        "active": active or None,
        "lastScheduleTime": status.last_schedule_time,
        "lastSuccessfulTime": status.last_successful_time,
    }


def _reference(job: Job) -> JsonObject:
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "name": job.name,
        "namespace": job.namespace,
        "uid": job.metadata.uid,
    }


class CronJobs:
    """Keys are the namespace and name of a cron job."""

    name = "cronjobs"

    def __init__(self, stores: Stores) -> None:
        self._cron_jobs, self._jobs = stores.cron_jobs, stores.jobs

    def watch(self, wake: Wake) -> None:
        wake_owners(self._jobs, self._cron_jobs, CRON_JOB, wake)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        cron = self._cron_jobs.find(key)
        if cron is None:
            return NOTHING
        return decide(
            cron,
            self._jobs.owned_by.of(cron.metadata.uid),
            moment,
            is_taken=lambda name: self._jobs.get(key[0], name) is not None,
        )

    def plan_after_failure(self, key: tuple[str, str], problem: Exception, moment: Moment) -> Plan:
        """The start stays due: nothing is written of it before its job is made."""
        cron = self._cron_jobs.find(key)
        if cron is None or find_creation(self.plan(key, moment), JOBS) is None:
            return NOTHING
        told = f"Error creating job: {problem}"
        return Plan([event_about(cron, _COMPONENT, "Warning", "FailedCreate", told, moment)])

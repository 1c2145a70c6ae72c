"""Cron jobs: a job for each start, within what the policy allows."""

from typing import Any

from support.simulated.controller_objects import (
    build,
    condition,
    creations,
    moment,
    owned_by,
    shown,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.cron_jobs import SCHEDULED_AT, decide
from podium.kubernetes.controllers.workloads import CronJob, Job

FIRST = 1_800_000_000 // 60 + 1
"""The first full minute after tests begin, at 08:01."""


def cron_job(schedule: str = "* * * * *", **fields: Any) -> CronJob:
    template = {"metadata": {"labels": {"app": "tick"}}, "spec": {"completions": 1}}
    spec = {"schedule": schedule, "jobTemplate": template, **fields.pop("spec", {})}
    return build(CronJob, "tick", spec=spec, **fields)


def job(minute: int, end: str = "", *, by_hand: bool = False, at_s: float = 0) -> Job:
    name = f"tick-{minute}"
    metadata: dict[str, Any] = {"ownerReferences": owned_by("CronJob", "tick")}
    if not by_hand:
        metadata["annotations"] = {SCHEDULED_AT: "2027-01-15T08:01:00Z"}
    status: dict[str, Any] = {"startTime": timestamp(at_s)}
    if end:
        status["conditions"] = [condition(end)]
        status["completionTime"] = timestamp(at_s + 5) if end == "Complete" else None
    return build(Job, name, metadata=metadata, status=status)


def plan(cron: CronJob, *jobs: Job, now_s: float = 60) -> Plan:
    return decide(cron, jobs, moment(now_s))


def test_a_job_is_made_when_it_is_due_and_not_before() -> None:
    early = plan(cron_job(), now_s=20)
    assert shown(early) == []
    assert early.again_after_s is not None
    assert round(early.again_after_s, 3) == 40.1
    made = plan(cron_job(), now_s=61)
    assert shown(made) == [f"+jobs tick-{FIRST}", "~cronjobs/status tick"]
    (body,) = creations(made)
    assert body["metadata"]["annotations"][SCHEDULED_AT] == "2027-01-15T08:01:00Z"
    assert body["metadata"]["labels"] == {"app": "tick"}
    assert body["metadata"]["ownerReferences"][0]["uid"] == "uid-tick"
    assert body["spec"] == {"completions": 1}
    assert written_status(made, "cronjobs")["lastScheduleTime"] == timestamp(60)


def test_a_start_is_made_once() -> None:
    done = cron_job(status={"lastScheduleTime": timestamp(60)})
    again = plan(done, now_s=70)
    assert creations(again) == []
    assert again.again_after_s is not None
    assert round(again.again_after_s, 3) == 50.1
    there = plan(cron_job(), job(FIRST), now_s=61)
    assert creations(there) == [], "it was made, and the status was not written"
    assert written_status(there, "cronjobs")["active"][0]["name"] == f"tick-{FIRST}"


def test_of_several_missed_starts_only_the_last_is_made() -> None:
    (body,) = creations(plan(cron_job(), now_s=60 * 500 + 30))
    assert body["metadata"]["name"] == f"tick-{FIRST + 499}"


def test_a_start_that_is_too_late_is_left_out() -> None:
    late = cron_job("0 * * * *", spec={"startingDeadlineSeconds": 30})
    assert creations(plan(late, now_s=3600 + 31)) == []
    assert len(creations(plan(late, now_s=3600 + 29))) == 1


def test_a_suspended_cron_job_makes_nothing() -> None:
    made = plan(cron_job(spec={"suspend": True}), now_s=600)
    assert (shown(made), made.again_after_s) == ([], None)


def test_what_runs_still_is_waited_for_or_replaced() -> None:
    running = job(FIRST)
    known = {
        "lastScheduleTime": timestamp(60),
        "active": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": running.name,
                "namespace": "ns",
                "uid": running.metadata.uid,
            }
        ],
    }
    for policy, expected in (
        ("Allow", [f"+jobs tick-{FIRST + 1}"]),
        ("Forbid", []),
        ("Replace", [f"-jobs tick-{FIRST} Background", f"+jobs tick-{FIRST + 1}"]),
    ):
        of = cron_job(spec={"concurrencyPolicy": policy}, status=known)
        made = [each for each in shown(plan(of, running, now_s=121)) if "status" not in each]
        assert made == expected, policy
    by_hand = job(7, by_hand=True)
    forbid = cron_job(spec={"concurrencyPolicy": "Forbid"})
    assert len(creations(plan(forbid, by_hand))) == 1


def test_history_keeps_the_newest_of_each_end() -> None:
    limits = {"successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 0, "suspend": True}
    old, new = job(1, "Complete", at_s=0), job(2, "Complete", at_s=60)
    made = plan(cron_job(spec=limits), old, new, job(3, "Failed"))
    assert shown(made) == [
        "-jobs tick-1 Background",
        "-jobs tick-3 Background",
        "~cronjobs/status tick",
    ]
    assert written_status(made, "cronjobs")["lastSuccessfulTime"] == timestamp(65)


def test_schedules_follow_their_time_zone() -> None:
    tokyo = cron_job("30 17 * * *", spec={"timeZone": "Asia/Tokyo"})
    (body,) = creations(plan(tokyo, now_s=1801))
    assert body["metadata"]["annotations"][SCHEDULED_AT] == "2027-01-15T17:30:00+09:00"
    for strange in (cron_job(spec={"timeZone": "Mars/Phobos"}), cron_job("every minute")):
        assert shown(plan(strange, now_s=600)) == []

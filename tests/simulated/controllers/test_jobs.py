"""Jobs: until enough pods have succeeded, or too many have failed; each is counted once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.simulated.controller_objects import (
    build,
    condition,
    creations,
    moment,
    pod,
    shown,
    template,
    timestamp,
    written_status,
)

from podium.kubernetes.controllers import job_counting
from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.job_counting import FAILURES, TRACKING
from podium.kubernetes.controllers.job_pods import COMPLETION_INDEX
from podium.kubernetes.controllers.job_policies import read_indexes, written_indexes
from podium.kubernetes.controllers.jobs import Jobs, decide
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.workloads import Job
from podium.simulated.informers import Informers


def job(completions: int | None = 1, parallelism: int = 1, **fields: Any) -> Job:
    written = template(job="sum")
    written["spec"]["restartPolicy"] = fields.pop("restart_policy", "Never")
    spec = {
        "completions": completions,
        "parallelism": parallelism,
        "template": written,
        **fields.pop("spec", {}),
    }
    status = {"startTime": timestamp(), **fields.pop("status", {})}
    return build(Job, "sum", spec=spec, status=status, **fields)


def member(name: str, phase: str = "Running", *, tracked: bool = True, **more: Any) -> Pod:
    finalizers = [TRACKING] if tracked else None
    return pod(name, phase, owner=("Job", "sum"), finalizers=finalizers, **more)


def plan(of: Job, *pods: Pod, now_s: float = 0) -> Plan:
    return decide(of, pods, moment(now_s))


def conditions_of(made: Plan) -> dict[str, str]:
    written = written_status(made, "jobs").get("conditions", ())
    return {each["type"]: each["reason"] for each in written if each["status"] == "True"}


def test_as_many_pods_as_may_run_at_once_are_made_and_tracked() -> None:
    made = plan(job(5, 2))
    assert shown(made)[:2] == ["+pods sum-*", "+pods sum-*"]
    assert creations(made)[0]["metadata"]["finalizers"] == [TRACKING]
    nearly = job(5, 2, status={"succeeded": 4})
    assert len(creations(plan(nearly))) == 1


def test_a_pod_that_ends_is_noted_then_released_then_counted() -> None:
    noted = plan(job(2, 1), member("a", "Succeeded"))
    status = written_status(noted, "jobs")
    assert status["uncountedTerminatedPods"] == {"succeeded": ["uid-a"], "failed": None}
    assert status["succeeded"] == 0
    uncounted = {"uncountedTerminatedPods": {"succeeded": ["uid-a"]}}
    released = plan(job(2, 1, status=uncounted), member("a", "Succeeded"))
    assert "~pods a" in shown(released)
    counted = plan(job(2, 1, status=uncounted), member("a", "Succeeded", tracked=False))
    status = written_status(counted, "jobs")
    assert status["succeeded"] == 1
    assert status["uncountedTerminatedPods"] == {"succeeded": None, "failed": None}
    gone = plan(job(2, 1, status=uncounted))
    assert written_status(gone, "jobs")["succeeded"] == 1


def test_a_job_is_complete_when_its_pods_are_through_and_counted() -> None:
    enough = plan(job(1), member("a", "Succeeded"))
    assert conditions_of(enough) == {"SuccessCriteriaMet": "CompletionsReached"}
    met = condition("SuccessCriteriaMet", reason="CompletionsReached")
    uncounted = {"uncountedTerminatedPods": {"succeeded": ["uid-a"]}, "conditions": [met]}
    early = plan(job(1, status=uncounted), member("a", "Succeeded"))
    assert "Complete" not in str(early.actions)
    late = plan(job(1, status=uncounted), member("a", "Succeeded", tracked=False))
    assert conditions_of(late)["Complete"] == "CompletionsReached"
    assert written_status(late, "jobs")["completionTime"] == timestamp()


def test_without_completions_the_first_success_ends_the_making_of_pods() -> None:
    queue = job(None, 3)
    assert len(creations(plan(queue))) == 3
    winding_down = plan(queue, member("a", "Succeeded"), member("b"))
    assert creations(winding_down) == []
    assert "conditions" not in written_status(winding_down, "jobs")
    assert conditions_of(plan(queue, member("a", "Succeeded"))) == {
        "SuccessCriteriaMet": "CompletionsReached"
    }


def test_too_many_failures_end_a_job_and_what_still_runs() -> None:
    limited = job(3, 2, spec={"backoffLimit": 1}, status={"failed": 1})
    made = plan(limited, member("a", "Failed"), member("b"))
    assert conditions_of(made) == {"FailureTarget": "BackoffLimitExceeded"}
    assert "-pods b" in shown(made)
    target = condition("FailureTarget", reason="BackoffLimitExceeded")
    ended = job(3, 2, spec={"backoffLimit": 1}, status={"failed": 2, "conditions": [target]})
    assert conditions_of(plan(ended))["Failed"] == "BackoffLimitExceeded"


def test_restarts_in_place_use_up_the_limit() -> None:
    limited = job(1, restart_policy="OnFailure", spec={"backoffLimit": 2})
    statuses = {"containerStatuses": [{"name": "c", "restartCount": 2}]}
    made = plan(limited, member("a", status=statuses))
    assert conditions_of(made) == {"FailureTarget": "BackoffLimitExceeded"}


def test_after_failures_the_next_pod_waits_longer_each_time() -> None:
    failed = member("a", "Failed", ready_at_s=0)
    first = plan(job(1), failed, now_s=4)
    assert creations(first) == []
    assert first.again_after_s == 6
    assert len(creations(plan(job(1), failed, now_s=10))) == 1
    third = plan(job(1, status={"failed": 2}), failed, now_s=10)
    assert third.again_after_s == 30


def test_a_pod_that_somebody_deletes_has_failed() -> None:
    made = plan(job(1), member("a", deletionTimestamp=timestamp()))
    assert written_status(made, "jobs")["uncountedTerminatedPods"]["failed"] == ["uid-a"]


def test_a_job_that_takes_too_long_fails() -> None:
    slow = job(1, spec={"activeDeadlineSeconds": 60})
    assert plan(slow, member("a"), now_s=20).again_after_s == 40
    made = plan(slow, member("a"), now_s=60)
    assert conditions_of(made) == {"FailureTarget": "DeadlineExceeded"}


def test_a_suspended_job_gives_its_pods_up_without_counting_them() -> None:
    made = plan(job(2, 2, spec={"suspend": True}), member("a"))
    assert shown(made) == ["~pods a", "-pods a", "~jobs/status sum"]
    assert written_status(made, "jobs")["startTime"] is None
    assert conditions_of(made) == {"Suspended": "JobSuspended"}
    suspended = {"startTime": None, "conditions": [condition("Suspended")]}
    resumed = written_status(plan(job(1, status=suspended)), "jobs")
    assert resumed["conditions"][0]["reason"] == "JobResumed"
    assert resumed["startTime"] == timestamp()


def test_an_indexed_job_makes_each_index_until_it_is_done() -> None:
    indexed = job(4, 3, spec={"completionMode": "Indexed"}, status={"completedIndexes": "1"})
    running = member("a", annotations={COMPLETION_INDEX: "0"})
    made = plan(indexed, running)
    assert shown(made)[:2] == ["+pods sum-2-*", "+pods sum-3-*"]
    body = creations(made)[0]
    assert body["metadata"]["annotations"][COMPLETION_INDEX] == "2"
    assert body["spec"]["hostname"] == "sum-2"
    done = member("a", "Succeeded", annotations={COMPLETION_INDEX: "0"})
    assert written_status(plan(indexed, done), "jobs")["completedIndexes"] == "0,1"


def indexed_member(name: str, index: int, phase: str = "Running", **more: Any) -> Pod:
    marks = {COMPLETION_INDEX: str(index), **more.pop("annotations", {})}
    return member(name, phase, annotations=marks, **more)


def test_the_pods_of_an_index_can_read_it() -> None:
    body = creations(plan(job(2, 1, spec={"completionMode": "Indexed"})))[0]
    (variable,) = body["spec"]["containers"][0]["env"]
    assert variable["name"] == "JOB_COMPLETION_INDEX"
    path = f"metadata.labels['{COMPLETION_INDEX}']"
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == path


def test_failures_that_a_policy_ignores_are_released_uncounted_and_replaced() -> None:
    target = {"type": "DisruptionTarget", "status": "True"}
    policy = {"rules": [{"action": "Ignore", "onPodConditions": [target]}]}
    lenient = job(1, spec={"podFailurePolicy": policy, "backoffLimit": 0})
    evicted = member("a", "Failed", status={"conditions": [condition("DisruptionTarget")]})
    made = plan(lenient, evicted, now_s=60)
    assert shown(made) == ["+pods sum-*", "~pods a"]


def test_a_failure_that_a_policy_singles_out_ends_the_job() -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}
    strict = job(2, 2, spec={"podFailurePolicy": {"rules": [rule]}})
    ended = {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1}}}]}
    made = plan(strict, member("a", "Failed", status=ended), member("b"))
    assert conditions_of(made) == {"FailureTarget": "PodFailurePolicy"}
    assert "-pods b" in shown(made)


def test_a_pod_on_its_way_out_is_waited_for_where_only_failed_pods_are_replaced() -> None:
    patient = job(1, spec={"podReplacementPolicy": "Failed"})
    leaving = member("a", deletionTimestamp=timestamp())
    made = plan(patient, leaving)
    assert creations(made) == []
    status = written_status(made, "jobs")
    assert status["uncountedTerminatedPods"]["failed"] is None
    assert status["terminating"] == 1


def test_each_index_fails_by_itself_and_its_failures_are_passed_on() -> None:
    spec = {"completionMode": "Indexed", "backoffLimitPerIndex": 1, "backoffLimit": 2**31 - 1}
    limited = job(2, 2, spec=spec)
    first = creations(plan(limited))
    assert [each["metadata"]["annotations"][FAILURES] for each in first] == ["0", "0"]
    failed = indexed_member("a", 0, "Failed", ready_at_s=0, annotations={FAILURES: "0"})
    waits = plan(limited, failed, indexed_member("b", 1), now_s=4)
    assert (creations(waits), waits.again_after_s) == ([], 6)
    assert "~pods a" not in shown(waits)
    made = plan(limited, failed, indexed_member("b", 1), now_s=10)
    assert creations(made)[0]["metadata"]["annotations"][FAILURES] == "1"
    again = indexed_member("c", 0, "Failed", ready_at_s=0, annotations={FAILURES: "1"})
    given_up = plan(limited, failed, again, indexed_member("b", 1), now_s=60)
    assert creations(given_up) == []
    status = written_status(given_up, "jobs")
    assert status["failedIndexes"] == "0"
    assert sorted(status["uncountedTerminatedPods"]["failed"]) == ["uid-a", "uid-c"]


def test_a_job_fails_once_every_index_has_ended_and_some_have_failed() -> None:
    spec = {"completionMode": "Indexed", "backoffLimitPerIndex": 0, "backoffLimit": 2**31 - 1}
    half = {"completedIndexes": "1", "failedIndexes": "0", "succeeded": 1}
    assert conditions_of(plan(job(2, 2, spec=spec, status=half))) == {
        "FailureTarget": "FailedIndexes"
    }
    few = job(9, 2, spec={**spec, "maxFailedIndexes": 1}, status={"failedIndexes": "0,3"})
    assert conditions_of(plan(few)) == {"FailureTarget": "MaxFailedIndexesExceeded"}


def test_a_job_succeeds_as_soon_as_its_policy_is_met() -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    spec = {"completionMode": "Indexed", "successPolicy": policy}
    made = plan(job(3, 3, spec=spec), indexed_member("a", 0, "Succeeded"), indexed_member("b", 1))
    assert conditions_of(made) == {"SuccessCriteriaMet": "SuccessPolicy"}
    assert "-pods b" in shown(made)


def test_a_finished_job_lets_go_of_its_pods_and_then_of_itself() -> None:
    over = {"conditions": [condition("Complete")]}
    finished = job(1, spec={"ttlSecondsAfterFinished": 30}, status=over)
    made = plan(finished, member("a", "Succeeded"), now_s=10)
    assert shown(made) == ["~pods a"]
    assert made.again_after_s == 20
    assert shown(plan(finished, now_s=30)) == ["-jobs sum Foreground"]


def test_a_job_of_another_controller_is_left_alone() -> None:
    assert shown(plan(job(1, spec={"managedBy": "example.com/queue"}))) == []


def planned_with(of: Job, *pods: Pod) -> Plan:
    informers = Informers()
    informers.jobs.put(of)
    for each in pods:
        informers.pods.put(each)
    return Jobs(informers).plan(("ns", "sum"), moment())


def test_a_job_takes_in_orphans_that_it_selects_and_counts_them_at_once() -> None:
    selecting = job(1, spec={"selector": {"matchLabels": {"job": "sum"}}})
    made = planned_with(selecting, pod("orphan", labels={"job": "sum"}))
    assert shown(made) == ["~pods orphan", "~jobs/status sum"]
    adopted = made.actions[0].body["metadata"]  # type: ignore[union-attr]
    assert adopted["ownerReferences"][0]["uid"] == "uid-sum"
    assert adopted["finalizers"] == [TRACKING]
    assert written_status(made, "jobs")["active"] == 1


def test_a_job_lets_go_of_pods_that_it_does_not_select_any_more() -> None:
    selecting = job(1, spec={"selector": {"matchLabels": {"job": "sum"}}})
    made = planned_with(selecting, member("lost", labels={"job": "other"}))
    assert shown(made) == ["~pods lost", "+pods sum-*"]
    released = made.actions[0].body["metadata"]  # type: ignore[union-attr]
    assert (released["ownerReferences"], released["finalizers"]) == (None, None)


def test_a_job_that_is_over_takes_nothing_in() -> None:
    over = {"conditions": [condition("Complete")]}
    selecting = job(1, spec={"selector": {"matchLabels": {"job": "sum"}}}, status=over)
    assert shown(planned_with(selecting, pod("orphan", labels={"job": "sum"}))) == []


@given(st.sets(st.integers(0, 40)))
def test_indexes_read_back_as_they_were_written(indexes: set[int]) -> None:
    text = written_indexes(indexes)
    assert read_indexes(text) == indexes
    assert not any(
        last - first == 1
        for first, last in (map(int, p.split("-")) for p in text.split(",") if "-" in p)
    )


@given(
    st.lists(st.sampled_from(["Succeeded", "Failed", "Running"]), min_size=1, max_size=6),
    st.lists(st.booleans(), max_size=60),
)
def test_whatever_is_interrupted_each_pod_is_counted_once(
    phases: list[str], happens: list[bool]
) -> None:
    """Writes happen or do not; a pod that has ended may vanish as soon as nobody holds it."""
    pods = {f"p{i}": phase for i, phase in enumerate(phases)}
    tracked = dict.fromkeys(pods, True)
    status: dict[str, Any] = {}
    luck = iter(happens)
    for _ in range(100):
        members = [member(name, pods[name], tracked=tracked[name]) for name in pods]
        counted = job_counting.count(job(9, status=status), members)
        for action in counted.actions:
            if next(luck, True):
                tracked[action.name] = False  # type: ignore[union-attr]
        if next(luck, True):
            status = counted.status
        for name in [name for name in pods if not tracked[name] and not next(luck, True)]:
            del pods[name]
    assert (status["succeeded"], status["failed"]) == (
        phases.count("Succeeded"),
        phases.count("Failed"),
    )
    assert counted.is_complete

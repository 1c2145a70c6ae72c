"""Phases and counts of coscheduled PodGroups."""

from typing import Any

import pytest
from support.simulated.controller_objects import build, moment, owned_by, pod

from podium.kubernetes.controllers.controller import CreateAction, Plan
from podium.kubernetes.controllers.pod_groups import CoschedulingPodGroups, decide, next_status
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.scheduler_plugins import SchedulingXPodGroup
from podium.simulated.informers import Informers

LABEL = "scheduling.x-k8s.io/pod-group"


def group(phase: str = "", least: int = 2, **status: Any) -> SchedulingXPodGroup:
    return build(
        SchedulingXPodGroup, "g", spec={"minMember": least}, status={"phase": phase, **status}
    )


def pods(*phases: str) -> list[Pod]:
    return [pod(f"g-{number}", phase) for number, phase in enumerate(phases)]


@pytest.mark.parametrize(
    ("before", "members", "after"),
    [
        ("", (), "Pending"),
        ("Pending", ("Pending",), "Pending"),
        ("Pending", ("Pending", "Pending"), "Scheduling"),
        ("Scheduling", ("Running", "Pending"), "Scheduling"),
        ("Scheduling", ("Running", "Running"), "Running"),
        ("Scheduling", ("Running",), "Pending"),
        ("Running", ("Running", "Succeeded"), "Running"),
        ("Running", ("Pending", "Running"), "Scheduling"),
        ("Running", ("Failed", "Running"), "Failed"),
        ("Running", ("Failed", "Pending", "Pending"), "Scheduling"),
        ("Running", ("Succeeded", "Succeeded", "Failed"), "Finished"),
        ("Running", (), "Pending"),
    ],
)
def test_a_phase_follows_from_the_one_before_and_from_the_members(
    before: str, members: tuple[str, ...], after: str
) -> None:
    assert next_status(group(before), pods(*members)).phase == after


def test_members_are_counted_by_phase() -> None:
    status = next_status(group("Scheduling"), pods("Running", "Succeeded", "Pending"))
    assert (status.running, status.succeeded, status.failed) == (1, 1, 0)


def test_the_owners_of_the_first_member_are_written_down() -> None:
    owned = build(
        Pod, "g-0", metadata={"ownerReferences": [*owned_by("Job", "b"), *owned_by("Job", "a")]}
    )
    assert next_status(group("Pending"), [owned, *pods("Pending")]).occupied_by == "ns/a,ns/b"


@pytest.mark.parametrize("phase", ["Finished", "Failed"])
def test_what_has_ended_is_left_alone(phase: str) -> None:
    assert decide(group(phase), pods("Running", "Running")) == Plan()


def test_nothing_is_written_twice() -> None:
    assert decide(group("Running", running=2), pods("Running", "Running")) == Plan()


def test_only_pods_of_its_own_namespace_count() -> None:
    informers = Informers()
    controller = CoschedulingPodGroups(informers)
    informers.coscheduling_pod_groups.put(group("Pending"))
    labelled = {"labels": {LABEL: "g"}}
    informers.pods.put(build(Pod, "a", metadata=labelled))
    informers.pods.put(build(Pod, "b", "elsewhere", metadata=labelled))
    assert controller.plan(("ns", "g"), moment()) == Plan()
    informers.pods.put(build(Pod, "c", metadata=labelled))
    (patch,) = controller.plan(("ns", "g"), moment()).actions
    assert patch.body["status"]["phase"] == "Scheduling"  # type: ignore[union-attr]


def test_a_group_of_an_older_release_that_took_two_days_is_told_of_once() -> None:
    informers = Informers()
    controller = CoschedulingPodGroups(informers)
    late = group("Scheduling", scheduleStartTime="2027-01-18T08:00:00Z")
    informers.coscheduling_pod_groups.put(late)
    (event,) = controller.plan(("ns", "g"), moment()).actions
    assert isinstance(event, CreateAction)
    assert (event.body["type"], event.body["reason"]) == ("Warning", "Timeout")
    assert controller.plan(("ns", "g"), moment()) == Plan()


def test_numbers_of_pods_that_are_gone_do_not_stay() -> None:
    status = next_status(group("Pending", running=2, succeeded=1), [])
    assert (status.phase, status.running, status.succeeded) == ("Pending", 0, 0)

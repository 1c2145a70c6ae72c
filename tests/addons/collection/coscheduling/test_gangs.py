"""Gangs by PodGroup and label: all of a quorum, or nobody."""

import pytest
from support.addons.collection.gang_cluster import GangCluster, group, member, node

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import (
    MIN_AVAILABLE_LABEL,
    NAME_LABEL,
    OLDER_POD_GROUP_LABEL,
    SchedulingSigsPodGroup,
)
from podium.plugin import error
from podium.testing import make_pod


def members(count: int, of: str = "g", first: int = 0) -> list[Pod]:
    return [member(f"{of}-{number}", of) for number in range(first, first + count)]


def test_of_more_members_than_fit_the_quorum_runs_and_the_rest_does_not_disturb_it() -> None:
    cluster = GangCluster(node("n", 3), group("g", 3), *members(6))
    cluster.settle()
    cluster.pass_time(400)
    assert cluster.running() == ["g-0", "g-1", "g-2"]
    assert set(cluster.where().values()) <= {"n", "unschedulable", "backoff"}


def test_members_of_a_group_that_is_too_small_are_refused_and_run_once_it_is_complete() -> None:
    cluster = GangCluster(node("n", 8), group("g", 4), *members(2))
    cluster.settle()
    assert cluster.running() == []
    (note, _) = cluster.notes()
    assert "pre-filter pod g-0 cannot find enough sibling pods, current pods number: " in note
    assert "minMember of group: 4" in note
    cluster.put(*members(2, first=2))
    cluster.settle()
    assert cluster.running() == ["g-0", "g-1", "g-2", "g-3"]


def test_of_two_groups_that_do_not_both_fit_one_runs_and_the_other_gives_back_at_once() -> None:
    cluster = GangCluster(
        node("n", 4), group("a", 3), group("b", 3), *members(3, "a"), *members(3, "b")
    )
    cluster.settle()
    assert cluster.running() == ["a-0", "a-1", "a-2"]
    assert "permit" not in cluster.where().values()
    assert any(
        "PodGroup default/b gets rejected due to Pod b-1 is unschedulable even after PostFilter"
        in note
        for note in cluster.notes()
    )
    assert any("optimistic rejection in PostFilter" in note for note in cluster.notes())


def test_a_small_gap_is_waited_for_until_the_time_is_over() -> None:
    cluster = GangCluster(node("n", 9), group("g", 10), *members(10))
    cluster.attempt()
    cluster.wait(1)
    cluster.settle()
    assert sorted(cluster.where().values()) == ["permit"] * 9 + ["unschedulable"]
    cluster.pass_time(58)
    assert list(cluster.where().values()).count("permit") == 9
    cluster.wait(1)
    assert "permit" not in cluster.where().values()
    assert any(
        "rejected due to timeout after waiting 1m0s at plugin Coscheduling" in note
        for note in cluster.notes()
    )
    assert any("rejection in Unreserve" in note for note in cluster.notes())
    cluster.settle()
    assert cluster.running() == []
    assert "permit" not in cluster.where().values(), "a group that cannot fit takes nothing again"


def test_members_wait_at_permit_for_exactly_the_time_that_the_arguments_say() -> None:
    args = {"permitWaitingTimeSeconds": 10}
    cluster = GangCluster(node("n", 11), group("g", 12), *members(12), args=args)
    cluster.attempt()
    cluster.wait(1)
    cluster.settle()
    cluster.pass_time(8)
    assert list(cluster.where().values()).count("permit") == 11
    cluster.wait(1)
    assert "permit" not in cluster.where().values()
    timed_out = [note for note in cluster.notes() if "rejected due to timeout" in note]
    assert timed_out
    assert all("after waiting 10s at plugin Coscheduling" in note for note in timed_out)


def test_a_group_that_failed_runs_as_soon_as_there_is_room_for_all_of_it() -> None:
    other = make_pod("other", requests={"cpu": "2"}, node="n")
    cluster = GangCluster(node("n", 4), other, group("g", 4), *members(4))
    cluster.settle()
    assert cluster.running() == ["other"]
    cluster.delete("other")
    cluster.pass_time(10)
    assert cluster.running() == ["g-0", "g-1", "g-2", "g-3"]


def test_a_group_that_backs_off_is_refused_for_its_time_and_tried_when_it_is_over() -> None:
    cluster = GangCluster(
        node("n", 2), group("g", 3), *members(3), args={"podGroupBackoffSeconds": 20}
    )
    cluster.settle()
    cluster.put(node("m", 2))
    cluster.pass_time(15)
    assert cluster.running() == []
    assert any("podGroup default/g failed recently" in note for note in cluster.notes())
    cluster.pass_time(6)
    assert cluster.running() == ["g-0", "g-1", "g-2"]


def test_a_group_is_denied_after_a_failure_for_the_time_that_older_arguments_say() -> None:
    args = {"permitWaitingTimeSeconds": 10, "deniedPGExpirationTimeSeconds": 3}
    cluster = GangCluster(node("n", 2), group("g", 3), *members(3), args=args)
    cluster.settle()
    cluster.put(node("m", 2))
    cluster.pass_time(2)
    assert cluster.running() == []
    assert any(
        "pod with pgName: default/g last failed in 3s, deny" in note for note in cluster.notes()
    )
    cluster.pass_time(2)
    assert cluster.running() == ["g-0", "g-1", "g-2"]


def test_a_group_says_itself_how_long_its_members_wait() -> None:
    cluster = GangCluster(
        node("n", 9), group("g", 10, scheduleTimeoutSeconds=5), *members(10), args={}
    )
    cluster.settle()
    cluster.wait(5)
    assert any("after waiting 5s at plugin Coscheduling" in note for note in cluster.notes())


@pytest.mark.parametrize(("percentage", "waiting"), [(0, 0), (50, 2), (100, 2)])
def test_the_gap_that_is_waited_for_is_an_argument(percentage: int, waiting: int) -> None:
    cluster = GangCluster(
        node("n", 2), group("g", 3), *members(3), args={"podGroupRejectPercentage": percentage}
    )
    assert list(cluster.settle().values()).count("permit") == waiting


def test_a_pod_whose_group_does_not_exist_is_refused_at_permit_and_runs_when_it_does() -> None:
    cluster = GangCluster(node("n", 2), member("m", "lost"))
    cluster.settle()
    assert any("PodGroup not found" in note for note in cluster.notes())
    cluster.put(group("lost", 1))
    cluster.pass_time(2)
    assert cluster.running() == ["m"]


def test_gated_members_do_not_count_towards_the_quorum() -> None:
    gated = member("g-2", schedulingGates=[{"name": "later"}])
    cluster = GangCluster(node("n", 4), group("g", 3), *members(2), gated)
    cluster.settle()
    assert any(
        "pre-filter pod g-0 cannot proceed due to gated pods in the same PodGroup" in note
        for note in cluster.notes()
    )
    cluster.put(member("g-2"))
    cluster.settle()
    assert cluster.running() == ["g-0", "g-1", "g-2"]


def test_no_member_is_tried_before_the_cluster_has_the_least_resources() -> None:
    cluster = GangCluster(
        node("n", 2), group("g", 2, minResources={"cpu": "4", "memory": "1Gi"}), *members(2)
    )
    cluster.settle()
    assert any("resource gap: map[cpu:2]" in note for note in cluster.notes())
    cluster.put(node("m", 2))
    cluster.pass_time(10)
    assert cluster.running() == ["g-0", "g-1"]


def test_own_pods_do_not_count_against_the_least_resources() -> None:
    bound = member("g-0", node="n")
    cluster = GangCluster(
        node("n", 2), bound, group("g", 2, minResources={"cpu": 2}), member("g-1")
    )
    cluster.settle()
    assert cluster.running() == ["g-0", "g-1"]


def test_members_that_succeeded_are_part_of_the_quorum() -> None:
    cluster = GangCluster(
        node("n", 4), group("g", 3, status={"phase": "Running", "succeeded": 2}), member("g-2")
    )
    cluster.settle()
    assert cluster.running() == ["g-2"]


def test_members_on_their_way_out_are_not_part_of_the_quorum() -> None:
    leaving = [
        member(f"old-{n}", node="n", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
        for n in range(3)
    ]
    cluster = GangCluster(node("n", 6), *leaving, group("g", 3), *members(2))
    cluster.settle()
    assert "permit" not in cluster.where().values()
    assert not any(cluster.pod_is_bound(f"g-{n}") for n in range(2))


def test_a_member_that_is_deleted_while_it_waits_takes_its_gang_with_it() -> None:
    cluster = GangCluster(node("n", 9), group("g", 10), *members(10))
    cluster.settle()
    cluster.delete("g-3")
    cluster.settle()
    assert "permit" not in cluster.where().values()
    assert cluster.running() == []


def test_a_binding_that_fails_releases_those_that_still_wait_and_is_made_up_for() -> None:
    cluster = GangCluster(node("n", 3), group("g", 3), *members(3))
    while cluster.attempt() is not None:
        pass
    assert sorted(cluster.bindings) == ["g-0", "g-1", "g-2"]
    cluster.bound("g-0")
    cluster.bound("g-1")
    cluster.finish("g-2", error("the API server is away"))
    cluster.pass_time(10)
    assert cluster.running() == ["g-0", "g-1", "g-2"]


def test_groups_are_tried_together_by_age_and_pods_alone_by_their_first_attempt() -> None:
    old = group("old", 2, metadata={"creationTimestamp": "1969-12-31T23:00:00Z"})
    young = group("young", 2, metadata={"creationTimestamp": "1969-12-31T23:30:00Z"})
    cluster = GangCluster(node("n", 16), old, young)
    cluster.put(make_pod("alone"), member("y-0", "young"), member("o-1", "old"))
    cluster.put(member("y-1", "young"), member("o-0", "old"), make_pod("great", priority=5))
    cluster.settle()
    assert cluster.tried == ["great", "o-0", "o-1", "y-0", "y-1", "alone"]


def test_a_group_that_failed_goes_behind_those_that_did_not() -> None:
    old = group("old", 3, metadata={"creationTimestamp": "1969-12-31T23:00:00Z"})
    cluster = GangCluster(node("n", 2), old, *members(3, "old"))
    cluster.settle()
    cluster.tried.clear()
    cluster.wait(20)
    young = group("young", 2, metadata={"creationTimestamp": "1969-12-31T23:30:00Z"})
    cluster.put(young, *members(2, "young"), node("m", 1))
    cluster.settle()
    assert cluster.running() == ["young-0", "young-1"]


def test_groups_of_the_older_api_and_of_labels_alone_work_as_well() -> None:
    older = SchedulingSigsPodGroup(
        metadata=ObjectMeta(name="g", namespace="default"),
        spec=group("g", 2).spec,
    )
    labels = {OLDER_POD_GROUP_LABEL: "g"}
    light = {NAME_LABEL: "light", MIN_AVAILABLE_LABEL: "2"}
    cluster = GangCluster(node("n", 8), older)
    cluster.put(make_pod("a", labels=labels), make_pod("c", labels=light))
    cluster.settle()
    assert cluster.running() == []
    cluster.put(make_pod("b", labels=labels), make_pod("d", labels=light))
    cluster.settle()
    assert cluster.running() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("least", ["", "0", "-1", "many", "1.5"])
def test_a_label_that_is_no_number_makes_no_group(least: str) -> None:
    light = {NAME_LABEL: "light", MIN_AVAILABLE_LABEL: least}
    cluster = GangCluster(node("n", 8), make_pod("a", labels=light))
    cluster.settle()
    assert cluster.running() == ["a"]


def test_pods_without_a_group_are_scheduled_as_ever() -> None:
    cluster = GangCluster(node("n", 1), make_pod("a", requests={"cpu": 1}), make_pod("b"))
    cluster.put(make_pod("c", requests={"cpu": 1}))
    cluster.settle()
    assert cluster.running() == ["a", "b"]
    assert any(note.endswith(", can not find pod group") for note in cluster.notes())


def test_victims_are_chosen_only_if_the_whole_quorum_then_fits() -> None:
    weak = [make_pod(f"weak-{n}", requests={"cpu": 1}, node="n", priority=1) for n in range(2)]
    strong = [member(f"g-{n}", priority=9) for n in range(4)]
    cluster = GangCluster(node("n", 3), *weak, group("g", 4), *strong)
    cluster.settle()
    assert cluster.preemptions == []
    assert any("there is no room for 4 pods of PodGroup default/g" in n for n in cluster.notes())


def test_members_of_one_gang_count_once_in_two_profiles() -> None:
    cluster = GangCluster(node("n", 8), group("g", 3), profiles=["default-scheduler", "second"])
    cluster.put(member("a"), member("b", schedulerName="second"), member("c"))
    cluster.settle()
    assert cluster.running() == ["a", "b", "c"]

"""Victims of a pod group: everybody weaker goes on paper, as many as possible come back."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from support.scheduler.engine.group_driver import make_group, member, node, running

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.points import GroupTrial
from podium.scheduler.framework.status import Status, unresolvable, unschedulable
from podium.scheduler.plugins.default_preemption.pod_groups import (
    Unit,
    select_victims,
    split_by_budget,
    units_on_nodes,
)
from podium.testing import make_cluster

STRONG = make_group("strong", priority=100)
NO = unschedulable("pod group is unschedulable")


def started(minute: int) -> dict[str, str]:
    return {"startTime": f"2026-01-01T00:{minute:02}:00Z"}


def cluster_of(*pods: Pod, groups: tuple[PodGroup, ...] = (), nodes: str = "ab") -> Cluster:
    cluster = make_cluster([node(name, cpu=8) for name in nodes], pods)
    for group in groups:
        cluster.catalog.put(group)
    return cluster


def budget(name: str, allowed: int, **status: Any) -> PodDisruptionBudget:
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name}}},
        "status": {"disruptionsAllowed": allowed, **status},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


def room(cluster: Cluster, cpu: int) -> Callable[[], Status | None]:
    """Whether so many cpus are free, in all of the cluster."""

    def fits() -> Status | None:
        size = cluster.nodes.size
        free = cluster.nodes.allocatable[0, :size] - cluster.usage.requested[0, :size]
        return None if int(free.sum()) >= cpu * 1000 else NO

    return fits


def tried(trial: GroupTrial, fits: Callable[[], Status | None]) -> Sequence[PodInfo] | Status:
    """What comes of a trial that is told whether the group fits."""
    try:
        next(trial)
        while True:
            trial.send(fits())
    except StopIteration as end:
        found: Sequence[PodInfo] | Status = end.value
        return found


def victims(cluster: Cluster, cpu: int, group: PodGroup = STRONG) -> list[str]:
    found = tried(select_victims(cluster, group, []), room(cluster, cpu))
    assert not isinstance(found, Status), found
    return [pod.pod.metadata.name for pod in found]


def names(units: list[Unit]) -> list[list[str]]:
    return [[pod.pod.metadata.name for pod in unit.pods] for unit in units]


def test_pods_are_units_of_their_own() -> None:
    cluster = cluster_of(running("p", "b"), running("q", "a"), member("m", node="a"))
    assert names(units_on_nodes(cluster)) == [["q"], ["m"], ["p"]]


def test_a_group_that_is_disrupted_as_a_whole_is_one_unit() -> None:
    group = make_group(disruptionMode="PodGroup", priority=7)
    pods = (member("m1", node="a", priority=50), running("p", "a"), member("m2", node="b"))
    cluster = cluster_of(*pods, groups=(group,))
    units = units_on_nodes(cluster)
    assert names(units) == [["m1", "m2"], ["p"]]
    assert [unit.priority for unit in units] == [7, 0]


@pytest.mark.parametrize("mode", [None, "Pod"])
def test_members_of_other_groups_are_units_of_their_own(mode: str | None) -> None:
    group = make_group(priority=7) if mode is None else make_group(disruptionMode=mode, priority=7)
    cluster = cluster_of(member("m1", node="a", priority=3), groups=(group,))
    assert [unit.priority for unit in units_on_nodes(cluster)] == [3]


def test_a_member_that_never_preempts_keeps_its_group_from_it() -> None:
    cluster = cluster_of(running("p", "a"))
    members = [
        cluster.infos.of(member(n, preemptionPolicy=p)) for n, p in (("m", None), ("n", "Never"))
    ]
    found = tried(select_victims(cluster, STRONG, members), room(cluster, 1))
    assert found == unschedulable("not eligible due to preemptionPolicy=Never.")


def test_without_weaker_pods_there_is_nothing_to_be_done() -> None:
    cluster = cluster_of(running("p", "a", priority=100))
    found = tried(select_victims(cluster, STRONG, []), room(cluster, 100))
    assert found == unresolvable("No preemption victims found for incoming preemptor")


def test_a_group_without_a_priority_preempts_pods_below_zero_only() -> None:
    group = make_group("plain")
    cluster = cluster_of(running("p", "a", cpu=8), running("q", "b", cpu=8, priority=-1))
    assert victims(cluster, 1, group) == ["q"]


def test_where_nobody_leaving_helps_the_reason_is_the_groups() -> None:
    cluster = cluster_of(running("p", "a"))
    assert tried(select_victims(cluster, STRONG, []), room(cluster, 17)) == NO


def test_the_least_important_leave_first() -> None:
    cluster = cluster_of(
        running("low", "a", cpu=4, priority=1),
        running("high", "a", cpu=4, priority=9),
        running("old", "b", cpu=4, priority=1, status=started(1)),
        running("young", "b", cpu=4, priority=1, status=started(2)),
    )
    assert victims(cluster, 4) == ["low"]
    assert victims(cluster, 8) == ["young", "low"]
    assert victims(cluster, 12) == ["old", "young", "low"]


def test_members_of_groups_are_more_important_than_single_pods() -> None:
    group = make_group(disruptionMode="PodGroup")
    pods = (
        member("m1", node="a", cpu=4),
        member("m2", node="b", cpu=4),
        running("p", "a", cpu=4, status=started(1)),
        running("q", "b", cpu=4, status=started(1)),
    )
    assert victims(cluster_of(*pods, groups=(group,)), 8) == ["p", "q"]


def test_a_lone_member_counts_as_a_group_too() -> None:
    pods = (
        member("m", node="a", cpu=8, status=started(9)),
        running("p", "b", cpu=8, status=started(1)),
    )
    assert victims(cluster_of(*pods), 8) == ["p"]


def test_of_two_groups_the_larger_stays_and_of_equal_ones_the_older() -> None:
    large, small, young = (
        make_group(n, disruptionMode="PodGroup") for n in ("large", "small", "young")
    )
    pods = (
        member("l1", "large", node="a", cpu=2, status=started(9)),
        member("l2", "large", node="b", cpu=2, status=started(9)),
        member("y1", "young", node="a", cpu=4, status=started(5)),
        member("s1", "small", node="b", cpu=4, status=started(1)),
    )
    cluster = cluster_of(*pods, groups=(large, small, young))
    assert victims(cluster, 8) == ["y1"]
    assert victims(cluster, 12) == ["s1", "y1"]


def test_a_group_started_when_the_first_of_its_pods_did_that_is_come_across() -> None:
    first, second = (make_group(n, disruptionMode="PodGroup") for n in ("first", "second"))
    pods = (
        member("f1", "first", node="a", cpu=4, status=started(5)),
        member("f2", "first", node="b", cpu=4, status=started(1)),
        member("s1", "second", node="a", cpu=4, status=started(3)),
        member("s2", "second", node="b", cpu=4, status=started(9)),
    )
    assert victims(cluster_of(*pods, groups=(first, second)), 8) == ["f1", "f2"]


def test_a_unit_leaves_as_a_whole() -> None:
    group = make_group(disruptionMode="PodGroup")
    pods = (member("m1", node="a", cpu=8), member("m2", node="b", cpu=8))
    assert victims(cluster_of(*pods, groups=(group,)), 1) == ["m1", "m2"]


def test_pods_that_are_leaving_already_are_victims_like_others() -> None:
    going = running("p", "a", cpu=8, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert victims(cluster_of(going, nodes="a"), 8) == ["p"]


def test_protected_pods_are_spared_before_more_important_ones() -> None:
    cluster = cluster_of(
        running("guarded", "a", cpu=8, priority=1, labels={"app": "x"}),
        running("strong", "b", cpu=8, priority=9),
    )
    cluster.catalog.put(budget("x", 0))
    assert victims(cluster, 8) == ["strong"]


def test_a_budget_that_allows_it_protects_nobody() -> None:
    cluster = cluster_of(
        running("guarded", "a", cpu=8, priority=1, labels={"app": "x"}),
        running("strong", "b", cpu=8, priority=9),
    )
    cluster.catalog.put(budget("x", 1))
    assert victims(cluster, 8) == ["guarded"]


def split(
    cluster: Cluster, *budgets: PodDisruptionBudget
) -> tuple[list[list[str]], list[list[str]]]:
    violating, others = split_by_budget(units_on_nodes(cluster), budgets)
    return names(violating), names(others)


def test_important_units_use_up_a_budget_first() -> None:
    pods = [running(n, "a", labels={"app": "x"}) for n in "pqr"]
    assert split(cluster_of(*pods), budget("x", 2)) == ([["r"]], [["p"], ["q"]])


def test_one_pod_that_breaks_a_budget_makes_its_whole_unit_violating() -> None:
    group = make_group(disruptionMode="PodGroup")
    pods = [member(n, node="a", labels={"app": "x"}) for n in "mn"]
    cluster = cluster_of(*pods, groups=(group,))
    assert split(cluster, budget("x", 1)) == ([["m", "n"]], [])
    assert split(cluster, budget("x", 2)) == ([], [["m", "n"]])


def test_after_its_first_broken_budget_a_unit_charges_no_other() -> None:
    group = make_group(disruptionMode="PodGroup")
    pods = (
        member("m", node="a", labels={"app": "x"}),
        member("n", node="a", labels={"app": "y"}),
        running("p", "b", labels={"app": "y"}),
    )
    cluster = cluster_of(*pods, groups=(group,))
    assert split(cluster, budget("x", 0), budget("y", 1)) == ([["m", "n"]], [["p"]])


def test_pods_whose_disruption_is_under_way_charge_nothing() -> None:
    cluster = cluster_of(running("p", "a", labels={"app": "x"}), running("q", "a"))
    guarded = budget("x", 0, disruptedPods={"p": None})
    assert split(cluster, guarded) == ([], [["p"], ["q"]])


def test_the_cluster_is_as_it_was_afterwards() -> None:
    cluster = cluster_of(*(running(f"p{i}", "ab"[i % 2], cpu=2, priority=i % 3) for i in range(8)))
    before = [[p.key for p in cluster.usage.pods(row)] for row in range(2)]
    requested = cluster.usage.requested.tolist()
    assert len(victims(cluster, 6)) == 3
    assert [[p.key for p in cluster.usage.pods(row)] for row in range(2)] == before
    assert cluster.usage.requested.tolist() == requested

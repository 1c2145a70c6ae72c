"""CapacityScheduling: borrowing what others do not use, and taking it back."""

from typing import Any

import msgspec
import pytest

from podium.addons.collection.capacity_scheduling import CapacityScheduling
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.engine.decision import Decision
from podium.testing import (
    FakeCluster,
    assert_placed,
    assert_promises,
    cycle_for,
    make_node,
    make_pod,
)

GPU = "example.com/gpu"


def quota(namespace: str, name: str = "quota", **spec: Any) -> ElasticQuota:
    raw = {"metadata": {"name": name, "namespace": namespace}, "spec": spec}
    return msgspec.convert(raw, ElasticQuota)


def node(name: str = "a", **allocatable: Any) -> Node:
    given = allocatable or {"cpu": "8", GPU: 8}
    return make_node(name, allocatable={"memory": "64Gi", "pods": 110, **given})


def pod(name: str, namespace: str, cpu: str = "1", **given: Any) -> Pod:
    return make_pod(name, namespace=namespace, requests={"cpu": cpu}, **given)


def running(count: int, namespace: str, cpu: str = "1", on: str = "a", **given: Any) -> list[Pod]:
    names = [f"{namespace}-{on}-{number}" for number in range(count)]
    status = {"phase": "Running"}
    return [pod(name, namespace, cpu, node=on, status=status, **given) for name in names]


def cluster_of(*objects: Any, **settings: Any) -> FakeCluster:
    return FakeCluster(
        *objects, plugins=[CapacityScheduling], disabled=["DefaultPreemption"], **settings
    )


def message(decision: Decision) -> str:
    return decision.message or ""


def evicted(cluster: FakeCluster) -> list[str]:
    evictions = [eviction for request in cluster.preemptions for eviction in request.evict]
    return sorted(eviction.victim.pod.metadata.name for eviction in evictions)


# --- what is refused ----------------------------------------------------------------------------


def test_a_namespace_has_no_more_than_its_maximum() -> None:
    cluster = cluster_of(
        node(),
        quota("team", min={"cpu": "4"}, max={"cpu": "2"}),
        *running(1, "team"),
    )
    assert_placed(cluster.schedule(pod("second", "team")), on="a")
    decision = cluster.schedule(pod("third", "team"))
    expected = "Pod team/third is rejected in PreFilter because ElasticQuota team is more than Max"
    assert expected in message(decision)


def test_what_others_are_guaranteed_and_do_not_use_can_be_borrowed_and_no_more() -> None:
    cluster = cluster_of(
        node(), quota("one", min={"cpu": "2"}), quota("two", min={"cpu": "2"}), *running(2, "one")
    )
    assert_placed(cluster.schedule(pod("third", "one")), on="a")
    assert_placed(cluster.schedule(pod("fourth", "one")), on="a")
    decision = cluster.schedule(pod("fifth", "one"))
    expected = (
        "Pod one/fifth is rejected in PreFilter because total ElasticQuota used is more than min"
    )
    assert expected in message(decision)


@pytest.mark.parametrize(
    ("spec", "requests", "fits"),
    [
        ({}, {"cpu": "1"}, False),  # nothing is guaranteed to anybody
        ({"min": {"cpu": "1"}}, {"cpu": "1"}, True),
        ({"min": {"cpu": "1"}}, {"cpu": "1001m"}, False),
        ({"min": {"cpu": "1"}}, {"memory": "1Mi"}, False),  # memory that is not named is 0
        ({"min": {"cpu": "1", GPU: 1}}, {GPU: 1}, True),
        ({"min": {"cpu": "1"}}, {GPU: 1}, False),  # other resources count as 0 against min
        ({"min": {"cpu": "1", GPU: 1}, "max": {"cpu": "1"}}, {GPU: 1}, True),  # not limited by max
        ({"min": {"cpu": "1", GPU: 1}, "max": {GPU: 1}}, {"cpu": "1"}, False),  # max has cpu 0
    ],
)
def test_bounds_that_do_not_name_a_resource(
    spec: dict[str, Any], requests: dict[str, Any], fits: bool
) -> None:
    cluster = cluster_of(node(), quota("team", **spec))
    decision = cluster.schedule(make_pod("p", namespace="team", requests=requests))
    assert (decision.bound == "a") is fits


def test_a_namespace_without_a_quota_is_not_limited() -> None:
    cluster = cluster_of(node(), quota("team", min={"cpu": "1"}), *running(1, "team"))
    assert_placed(cluster.schedule(pod("free", "other")), on="a")


def test_the_first_quota_of_a_namespace_counts() -> None:
    second = quota("team", "second", min={"cpu": "4"}, max={"cpu": "4"})
    cluster = cluster_of(node(), quota("team", min={"cpu": "4"}, max={"cpu": "0"}), second)
    assert "more than Max" in message(cluster.schedule(pod("p", "team")))


def test_pods_that_have_ended_or_are_gone_take_nothing() -> None:
    bounds: dict[str, Any] = {"min": {"cpu": "2"}, "max": {"cpu": "2"}}
    cluster = cluster_of(node(), quota("team", **bounds), *running(2, "team"))
    assert "more than Max" in message(cluster.schedule(pod("p", "team")))
    cluster.delete("team/team-a-0")
    cluster.wait(60)
    assert cluster.run() == ["p"]
    cluster.put(pod("q", "team"))
    assert cluster.run() == ["q"]
    cluster.change("team/team-a-1", phase="Succeeded")
    cluster.wait(60)
    assert cluster.run() == ["q"]


def test_a_larger_quota_wakes_pods_that_wait_for_it() -> None:
    cluster = cluster_of(node(), quota("team", min={"cpu": "1"}), *running(1, "team"))
    cluster.schedule(pod("p", "team"))
    cluster.wait(60)
    assert cluster.run() == []
    cluster.put(quota("team", min={"cpu": "2"}))
    assert cluster.run() == ["p"]


@pytest.mark.parametrize(
    ("namespace", "priority", "refusal"),
    [
        ("team", 1, "more than Max"),
        ("team", 5, "more than Max"),
        ("team", 9, None),
        ("other", 9, "more than min"),
    ],
)
def test_nominated_pods_that_come_first_are_left_room_for(
    namespace: str, priority: int, refusal: str | None
) -> None:
    """Those of the same namespace that are as important, and those of others within their min."""
    cluster = cluster_of(
        node(),
        quota("team", min={"cpu": "2"}, max={"cpu": "2"}),
        quota("other", min={"cpu": "1"}),
        *running(1, "team"),
    )
    cluster.put(pod("hopeful", "team", priority=5, status={"nominatedNodeName": "a"}))
    assert cluster.nominated() == {"hopeful": "a"}
    cpu = "1" if namespace == "team" else "1500m"
    asking = cycle_for(pod("p", namespace, cpu, priority=priority), cluster.engine.cluster)
    plugin = cluster.plugin("CapacityScheduling")
    assert isinstance(plugin, CapacityScheduling)
    status = plugin.pre_filter(asking)
    assert (status is None) if refusal is None else (status and refusal in status.message)


# --- whom a preemptor may take ------------------------------------------------------------------


def test_a_namespace_takes_back_what_it_is_guaranteed_from_those_that_borrowed() -> None:
    cluster = cluster_of(
        node("a", cpu="4"),
        quota("owner", min={"cpu": "2"}),
        quota("borrower", min={"cpu": "2"}),
        *running(4, "borrower", priority=1000),
    )
    cluster.schedule(pod("mine", "owner", cpu="2", priority=0))
    assert len(evicted(cluster)) == 2
    assert cluster.nominated() == {"mine": "a"}


def test_no_more_is_taken_back_than_was_borrowed() -> None:
    cluster = cluster_of(
        node("a", cpu="4"),
        quota("owner", min={"cpu": "3"}),
        quota("borrower", min={"cpu": "3"}),
        *running(4, "borrower"),
    )
    cluster.schedule(pod("large", "owner", cpu="2"))
    assert evicted(cluster) == []
    cluster.schedule(pod("small", "owner", cpu="1"))
    assert len(evicted(cluster)) == 1


def test_a_namespace_that_has_used_up_its_minimum_takes_its_own_weaker_pods_only() -> None:
    cluster = cluster_of(
        node("a", cpu="4"),
        quota("one", min={"cpu": "2"}),
        quota("two", min={"cpu": "2"}),
        *running(2, "one", priority=0),
        *running(2, "two", priority=0),
    )
    cluster.schedule(pod("strong", "one", priority=10))
    assert len(evicted(cluster)) == 1
    assert evicted(cluster)[0].startswith("one-")
    cluster.schedule(pod("equal", "two", priority=0))
    assert len(evicted(cluster)) == 1


def test_pods_with_and_without_a_quota_leave_each_other_alone() -> None:
    cluster = cluster_of(
        node("a", cpu="2"),
        quota("team", min={"cpu": "2"}),
        *running(1, "team", priority=0),
        *running(1, "other", priority=0),
    )
    cluster.schedule(pod("outside", "another", priority=10))
    assert evicted(cluster) == ["other-a-0"]
    cluster = cluster_of(
        node("a", cpu="1"), quota("team", min={"cpu": "2"}), *running(1, "other", priority=0)
    )
    cluster.schedule(pod("inside", "team", priority=10))
    assert evicted(cluster) == []


def test_a_pod_that_neither_room_nor_quota_lets_back_is_one_victim() -> None:
    budget = msgspec.convert(
        {
            "metadata": {"name": "b", "namespace": "borrower"},
            "spec": {"selector": {"matchLabels": {"app": "x"}}},
            "status": {"disruptionsAllowed": 0},
        },
        PodDisruptionBudget,
    )
    cluster = cluster_of(
        node("a", cpu="2"),
        budget,
        quota("owner", min={"cpu": "1"}),
        quota("borrower", min={"cpu": "1"}),
        *running(2, "borrower", labels={"app": "x"}),
    )
    decision = cluster.schedule(pod("mine", "owner"))
    assert decision.post_filter is not None
    assert len(decision.post_filter.victims) == 1
    assert len(evicted(cluster)) == 1


def test_a_victim_that_only_a_quota_keeps_out_counts_against_its_budget() -> None:
    """Node a has room to spare, so only the sum of all quotas keeps its pods from coming back."""
    budget = msgspec.convert(
        {
            "metadata": {"name": "b", "namespace": "borrower"},
            "spec": {"selector": {"matchLabels": {"app": "protected"}}},
            "status": {"disruptionsAllowed": 0},
        },
        PodDisruptionBudget,
    )
    cluster = cluster_of(
        node("a"),
        node("b"),
        budget,
        quota("owner", min={"cpu": "1"}),
        quota("borrower", min={"cpu": "1"}),
        *running(1, "borrower", labels={"app": "protected"}, on="a"),
        *running(1, "borrower", labels={"app": "plain"}, on="b"),
    )
    cluster.schedule(pod("mine", "owner"))
    assert evicted(cluster) == ["borrower-b-0"]


def test_every_card_in_use_can_be_reclaimed() -> None:
    card = {GPU: 1}
    theirs = [
        make_pod(f"b{number}", namespace="borrower", node="a", requests=card) for number in range(8)
    ]
    bounds: dict[str, Any] = {"min": {GPU: 4, "cpu": "8"}}
    cluster = cluster_of(node(), quota("owner", **bounds), quota("borrower", **bounds), *theirs)
    for number in range(4):
        cluster.schedule(make_pod(f"mine-{number}", namespace="owner", requests=card))
    assert len(set(evicted(cluster))) == 4
    cluster.schedule(make_pod("one-too-many", namespace="owner", requests=card))
    assert len(set(evicted(cluster))) == 4


def test_nobody_else_has_to_go_while_a_borrower_is_leaving_the_nominated_node() -> None:
    cluster = cluster_of(
        node("a", cpu="2"),
        quota("owner", min={"cpu": "1"}),
        quota("borrower", min={"cpu": "1"}),
        *running(2, "borrower"),
    )
    cluster.terminate("borrower/borrower-a-0")
    decision = cluster.schedule(pod("mine", "owner", status={"nominatedNodeName": "a"}))
    assert "a terminating pod on the nominated node" in message(decision)
    assert evicted(cluster) == []


def test_a_pod_that_may_not_preempt_does_not() -> None:
    cluster = cluster_of(
        node("a", cpu="2"),
        quota("owner", min={"cpu": "1"}),
        quota("borrower", min={"cpu": "1"}),
        *running(2, "borrower"),
    )
    cluster.schedule(pod("mine", "owner", preemptionPolicy="Never"))
    assert evicted(cluster) == []


def test_all_nodes_are_candidates_and_the_best_is_taken() -> None:
    cluster = cluster_of(
        *(node(f"n{number:03}", cpu="1") for number in range(120)),
        quota("owner", min={"cpu": "60"}),
        quota("borrower", min={"cpu": "60"}),
        *(
            each
            for number in range(120)
            for each in running(1, "borrower", on=f"n{number:03}", priority=120 - number)
        ),
        validate=False,
    )
    cluster.schedule(pod("mine", "owner"))
    assert evicted(cluster) == ["borrower-n119-0"]


def test_it_keeps_its_promises() -> None:
    assert_promises(
        CapacityScheduling,
        objects=[quota("default", min={"cpu": "3"}), quota("other", min={"cpu": "1"})],
        pods=[pod("p", "default"), pod("q", "other", cpu="3")],
    )

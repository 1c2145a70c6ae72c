"""CrossNodePreemption: victims on several nodes."""

from typing import Any

import pytest

from podium.addons.collection.preemption import CrossNodePreemption
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import FakeCluster, assert_promises, make_node, make_pod

ZONE = "topology.kubernetes.io/zone"
AWAY_FROM_DB = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}}
        ]
    }
}


def node(name: str, zone: str) -> Node:
    return make_node(name, labels={ZONE: zone, "kubernetes.io/hostname": name})


def db(name: str, on: str, priority: int = 0) -> Pod:
    return make_pod(name, labels={"app": "db"}, node=on, priority=priority)


def cluster_of(*objects: Any, **args: Any) -> FakeCluster:
    return FakeCluster(
        *objects,
        plugins=[CrossNodePreemption],
        disabled=["DefaultPreemption"],
        args={"CrossNodePreemption": args} if args else None,
    )


def evicted(cluster: FakeCluster) -> list[str]:
    evictions = [eviction for request in cluster.preemptions for eviction in request.evict]
    return sorted(eviction.victim.pod.metadata.name for eviction in evictions)


def shy(priority: int = 10, **given: Any) -> Pod:
    return make_pod("shy", affinity=AWAY_FROM_DB, priority=priority, **given)


def test_pods_on_other_nodes_that_stand_in_the_way_have_to_go() -> None:
    there = [db("one", "a"), db("two", "b"), make_pod("bystander", node="b", priority=0)]
    cluster = cluster_of(node("a", "z1"), node("b", "z1"), *there)
    cluster.schedule(shy())
    assert evicted(cluster) == ["one", "two"]
    assert cluster.nominated() == {"shy": "a"}
    for name in ("one", "two"):
        cluster.delete(name)
    cluster.engine.preemptions.finish_preemption(cluster.preemptions[0].preemptor, None)
    cluster.wait(60)
    assert cluster.run() == ["shy"]
    assert "shy" in cluster.bindings


def test_one_node_is_opened_where_that_is_enough() -> None:
    cluster = cluster_of(
        node("a", "z1"), node("b", "z1"), node("c", "z2"),
        db("one", "a"), db("two", "b"), db("three", "c"),
    )  # fmt: skip
    cluster.schedule(shy())
    assert evicted(cluster) == ["three"]


def test_pods_that_are_as_important_stay() -> None:
    there = [db("one", "a"), db("two", "b", priority=10)]
    cluster = cluster_of(node("a", "z1"), node("b", "z1"), *there)
    cluster.schedule(shy())
    assert evicted(cluster) == []


def test_the_search_is_bounded() -> None:
    there = [db("one", "a"), db("two", "b"), db("three", "b")]
    cluster = cluster_of(node("a", "z1"), node("b", "z1"), *there, maxPotentialVictims=2)
    cluster.schedule(shy())
    assert evicted(cluster) == []
    cluster = cluster_of(node("a", "z1"), node("b", "z1"), *there, maxPotentialVictims=3)
    cluster.schedule(shy())
    assert evicted(cluster) == ["one", "three", "two"]


def test_a_pod_that_may_not_preempt_does_not() -> None:
    cluster = cluster_of(node("a", "z1"), node("b", "z1"), db("one", "a"), db("two", "b"))
    cluster.schedule(shy(preemptionPolicy="Never"))
    assert evicted(cluster) == []


def test_bounds_are_bounded() -> None:
    with pytest.raises(ConfigurationError):
        cluster_of(maxCandidateNodes=0)


def test_it_keeps_its_promises() -> None:
    assert_promises(CrossNodePreemption, pods=[shy()])

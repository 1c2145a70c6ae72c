"""PodState: nodes that pods are leaving first, nodes that pods are nominated to last."""

from podium.addons.collection.node_scores import PodState
from podium.testing import FakeCluster, assert_promises, assert_scores, make_node, make_pod

LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def test_nodes_about_to_have_room_are_preferred_to_those_spoken_for() -> None:
    cluster = FakeCluster(
        *(make_node(name) for name in "abc"),
        make_pod("one", node="a", metadata=LEAVING),
        make_pod("two", node="a", metadata=LEAVING),
        make_pod("stays", node="b"),
        make_pod("hopeful", status={"nominatedNodeName": "c"}),
        plugins=[PodState],
    )
    assert cluster.nominated() == {"hopeful": "c"}
    decision = cluster.schedule(make_pod("web", priority=10))
    assert_scores(decision, "PodState", {"a": 100, "b": 33, "c": 0})


def test_nodes_that_are_alike_get_nothing() -> None:
    cluster = FakeCluster(*(make_node(name) for name in "ab"), plugins=[PodState])
    assert_scores(cluster.schedule(make_pod("web")), "PodState", {"a": 0, "b": 0})


def test_a_pod_that_begins_to_leave_counts_from_then_on() -> None:
    cluster = FakeCluster(
        *(make_node(name) for name in "ab"), make_pod("there", node="b"), plugins=[PodState]
    )
    assert_scores(cluster.schedule(make_pod("web")), "PodState", {"a": 0, "b": 0})
    cluster.terminate("there")
    assert_scores(cluster.schedule(make_pod("next")), "PodState", {"a": 0, "b": 100})
    cluster.delete("there")
    assert_scores(cluster.schedule(make_pod("last")), "PodState", {"a": 0, "b": 0})


def test_it_keeps_its_promises() -> None:
    assert_promises(PodState, nodes=[make_node("a")], pods=[make_pod("x", node="a")])

"""The cache: pods added, assumed, confirmed, forgotten, and rows without a node."""

import pytest

from podium.kubernetes.rules.labels import EVERYTHING
from podium.scheduler.cluster.nodes import CPU
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.state import CacheError, Cluster
from podium.testing import make_cluster, make_node, make_pod


def requested_milli(cluster: Cluster, name: str) -> int:
    return int(cluster.usage.requested[CPU, cluster.nodes.row(name)])


def names_on(cluster: Cluster, node: str) -> list[str]:
    return [i.pod.metadata.name for i in cluster.usage.pods(cluster.nodes.row(node))]


def test_a_pod_that_comes_before_its_node_waits_on_a_row_nobody_sees() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="later", requests={"cpu": "1"})])
    row = cluster.nodes.row("later")
    assert row >= 0
    assert not cluster.nodes.is_present("later")
    assert cluster.nodes.present_count == 1
    assert not cluster.nodes.dense()
    assert cluster.node_order().tolist() == [0]
    cluster.put_node(make_node("later"))
    assert cluster.nodes.row("later") == row
    assert requested_milli(cluster, "later") == 1000
    assert cluster.node_order().tolist() == [0, row]


def test_a_row_without_a_node_goes_with_its_last_pod() -> None:
    cluster = make_cluster(pods=[make_pod("p", node="later"), make_pod("q", node="later")])
    cluster.remove_pod("uid-default-p")
    assert cluster.nodes.row("later") >= 0
    cluster.remove_pod("uid-default-q")
    assert cluster.nodes.row("later") == -1
    cluster.put_node(make_node("new"))
    assert cluster.nodes.size == 1


def test_pods_stay_when_their_node_goes() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", requests={"cpu": "1"})])
    cluster.remove_node("a")
    assert not cluster.nodes.is_present("a")
    assert names_on(cluster, "a") == ["p"]
    cluster.remove_node("a")
    cluster.put_node(make_node("a"))
    assert requested_milli(cluster, "a") == 1000
    cluster.remove_pod("uid-default-p")
    assert requested_milli(cluster, "a") == 0


def test_a_pod_cannot_be_added_twice() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a")])
    with pytest.raises(CacheError, match="pod default/p was added twice"):
        cluster.add_pod(make_pod("p", node="a"))
    assert names_on(cluster, "a") == ["p"]


def test_an_assumed_pod_counts_at_once() -> None:
    cluster = make_cluster([make_node("a")])
    info = cluster.infos.of(make_pod("p", requests={"cpu": "1"}))
    cluster.assume(info, "a")
    assert cluster.is_assumed(info.uid)
    assert requested_milli(cluster, "a") == 1000


def test_a_pod_in_the_cache_cannot_be_assumed() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a")])
    with pytest.raises(CacheError) as caught:
        cluster.assume(cluster.infos.of(make_pod("p")), "a")
    assert str(caught.value) == (
        "pod uid-default-p(default/p) is in the cache, so can't be assumed"
    )


def test_adding_an_assumed_pod_confirms_it() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("other", node="a")])
    cluster.assume(cluster.infos.of(make_pod("p", requests={"cpu": "1"})), "a")
    cluster.assume(cluster.infos.of(make_pod("q", requests={"cpu": "1"})), "a")
    confirmed = make_pod("p", requests={"cpu": "1"}, node="a", priority=7)
    cluster.add_pod(confirmed)
    assert not cluster.is_assumed("uid-default-p")
    assert requested_milli(cluster, "a") == 2000
    assert names_on(cluster, "a") == ["other", "q", "p"]
    assert cluster.usage.pods(0)[2].pod == confirmed
    with pytest.raises(CacheError):
        cluster.add_pod(confirmed)


def test_an_assumed_pod_may_turn_up_elsewhere_or_changed() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])
    cluster.assume(cluster.infos.of(make_pod("p", requests={"cpu": "1"})), "a")
    cluster.add_pod(make_pod("p", requests={"cpu": "2"}, node="b"))
    assert requested_milli(cluster, "a") == 0
    assert requested_milli(cluster, "b") == 2000
    assert not cluster.is_assumed("uid-default-p")


def test_an_assumed_pod_may_turn_up_as_one_that_is_going() -> None:
    cluster = make_cluster([make_node("a")])
    cluster.assume(cluster.infos.of(make_pod("p")), "a")
    living = PodQuery(((None, EVERYTHING),), terminating=False)
    assert cluster.classes.counts(living)[0] == 1
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    cluster.add_pod(make_pod("p", node="a", metadata=going))
    assert cluster.classes.counts(living)[0] == 0
    cluster.remove_pod("uid-default-p")
    assert cluster.classes.counts(PodQuery(((None, EVERYTHING),)))[0] == 0


def test_confirming_takes_a_host_port_again_that_a_wrong_neighbour_freed() -> None:
    ports = [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    cluster = make_cluster([make_node("a")])
    cluster.assume(cluster.infos.of(make_pod("p", containers=ports)), "a")
    cluster.add_pod(make_pod("q", containers=ports, node="a"))
    cluster.remove_pod("uid-default-q")
    assert cluster.usage.ports.used_ports(0) == set()
    cluster.add_pod(make_pod("p", containers=ports, node="a"))
    assert len(cluster.usage.ports.used_ports(0)) == 1


def test_forgetting_undoes_an_assumption() -> None:
    cluster = make_cluster([make_node("a")])
    info = cluster.infos.of(make_pod("p", requests={"cpu": "1"}))
    cluster.assume(info, "a")
    cluster.forget(info)
    assert requested_milli(cluster, "a") == 0
    assert not cluster.is_assumed(info.uid)
    cluster.forget(info)


def test_a_confirmed_pod_cannot_be_forgotten() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a")])
    with pytest.raises(CacheError, match=r"wasn't assumed so cannot be forgotten"):
        cluster.forget(cluster.infos.of(make_pod("p")))
    assert names_on(cluster, "a") == ["p"]


def test_an_update_replaces_what_the_pod_takes() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", requests={"cpu": "1"})])
    cluster.update_pod(make_pod("p", node="a", requests={"cpu": "3"}))
    assert requested_milli(cluster, "a") == 3000


@pytest.mark.parametrize("assumed", [False, True])
def test_a_pod_that_is_unknown_or_assumed_cannot_be_updated(assumed: bool) -> None:
    cluster = make_cluster([make_node("a")])
    if assumed:
        cluster.assume(cluster.infos.of(make_pod("p")), "a")
    with pytest.raises(CacheError, match="pod default/p is not on a node yet"):
        cluster.update_pod(make_pod("p", node="a"))


def test_an_update_cannot_move_a_pod() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], [make_pod("p", node="a")])
    with pytest.raises(CacheError, match="pod default/p cannot move to node b"):
        cluster.update_pod(make_pod("p", node="b"))
    assert names_on(cluster, "a") == ["p"]


def test_an_update_of_the_only_pod_of_a_missing_node_keeps_its_row_alive() -> None:
    cluster = make_cluster(pods=[make_pod("p", node="later", requests={"cpu": "1"})])
    cluster.update_pod(make_pod("p", node="later", requests={"cpu": "2"}))
    assert requested_milli(cluster, "later") == 2000
    cluster.put_node(make_node("later"))
    assert requested_milli(cluster, "later") == 2000


def test_removing_an_unknown_pod_is_fine_and_an_assumed_one_goes() -> None:
    cluster = make_cluster([make_node("a")])
    cluster.remove_pod("ghost")
    info = cluster.infos.of(make_pod("p"))
    cluster.assume(info, "a")
    cluster.remove_pod(info.uid)
    assert names_on(cluster, "a") == []
    assert not cluster.is_assumed(info.uid)

"""What pods take on each row, and private copies for trials."""

from typing import Any

import numpy as np
import pytest

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.host_ports import HostPort
from podium.scheduler.cluster.growth import FIRST_CAPACITY
from podium.scheduler.cluster.nodes import CPU, MAX_UNOFFERED_RESOURCES, MEMORY
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Usage
from podium.testing import make_cluster, make_node, make_pod

GPU = "example.com/gpu"
WEB = HostPort("0.0.0.0", "TCP", 80)


def uids(usage: Usage, row: int) -> list[str]:
    return [info.pod.metadata.name for info in usage.pods(row)]


def web_pod(name: str, **more: Any) -> Pod:
    containers = [
        {
            "name": "main",
            "ports": [{"containerPort": 80, "hostPort": 80}],
            "resources": {"requests": {"cpu": "1", GPU: 1}},
        }
    ]
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    return make_pod(name, containers=containers, volumes=volumes, **more)


def two_nodes() -> Cluster:
    return make_cluster([make_node("a"), make_node("b")])


def test_a_pod_counts_with_its_requests_and_with_defaults_for_scoring() -> None:
    cluster = two_nodes()
    cluster.add_pod(make_pod("p", node="b", requests={"cpu": "250m", GPU: 2}))
    cluster.add_pod(make_pod("q", node="b", requests={"memory": "1Gi"}))
    usage = cluster.usage
    gpu = cluster.nodes.resources.find(GPU)
    assert usage.requested[CPU, :2].tolist() == [0, 250]
    assert usage.requested[MEMORY, :2].tolist() == [0, 2**30]
    assert usage.requested_of(gpu)[:2].tolist() == [0, 2]
    assert usage.nonzero[:, 1].tolist() == [350, 209715200 + 2**30]
    assert usage.pod_count[:2].tolist() == [0, 2]


def test_a_resource_younger_than_the_table_reads_as_zero() -> None:
    cluster = two_nodes()
    usage = cluster.usage
    gpu = cluster.nodes.resource_id(GPU)
    assert usage.requested_of(gpu)[:2].tolist() == [0, 0]


def test_the_last_pod_takes_the_place_of_one_that_leaves() -> None:
    cluster = make_cluster([make_node("a")], [make_pod(n, node="a") for n in "pqrs"])
    cluster.remove_pod("uid-default-q")
    assert uids(cluster.usage, 0) == ["p", "s", "r"]
    cluster.remove_pod("uid-default-r")
    assert uids(cluster.usage, 0) == ["p", "s"]


def test_an_updated_pod_goes_to_the_end() -> None:
    cluster = make_cluster([make_node("a")], [make_pod(n, node="a") for n in "pqr"])
    cluster.update_pod(make_pod("p", node="a", labels={"new": "label"}))
    assert uids(cluster.usage, 0) == ["r", "q", "p"]


def test_what_a_pod_gives_back_is_what_it_took_whatever_it_asks_for_now() -> None:
    cluster = make_cluster([make_node("a")], [make_pod("p", node="a", requests={"cpu": "1"})])
    cluster.usage.remove(0, cluster.infos.of(make_pod("p", requests={"cpu": "3", GPU: 1})))
    assert not cluster.usage.requested.any()
    assert not cluster.usage.nonzero.any()


def test_removing_a_pod_that_is_not_on_the_row_is_an_error() -> None:
    cluster = two_nodes()
    info = cluster.infos.of(make_pod("p"))
    with pytest.raises(LookupError, match="pod default/p is not on row 0"):
        cluster.usage.remove(0, info)


def test_claims_are_counted_over_all_nodes() -> None:
    cluster = two_nodes()
    cluster.add_pod(web_pod("p", node="a"))
    cluster.add_pod(web_pod("q", node="b"))
    assert cluster.usage.claims == {"default/data": 2}
    cluster.remove_pod("uid-default-p")
    assert cluster.usage.claims == {"default/data": 1}
    cluster.remove_pod("uid-default-q")
    assert cluster.usage.claims == {}


def test_usage_grows_with_the_nodes() -> None:
    cluster = make_cluster([make_node("first")], [web_pod("p", node="first")])
    for number in range(FIRST_CAPACITY + 1):
        cluster.put_node(make_node(f"n{number}"))
    cluster.add_pod(web_pod("q", node=f"n{FIRST_CAPACITY}"))
    usage = cluster.usage
    last = cluster.nodes.row(f"n{FIRST_CAPACITY}")
    assert usage.capacity == cluster.nodes.capacity
    assert usage.requested[CPU, [0, last]].tolist() == [1000, 1000]
    assert usage.ports.used_ports(0) == usage.ports.used_ports(last) == {WEB}


def test_the_rows_a_change_touched_are_known_by_generation() -> None:
    cluster = two_nodes()
    seen = cluster.usage.generation
    cluster.add_pod(make_pod("p", node="b"))
    assert np.flatnonzero(cluster.usage.changed > seen).tolist() == [1]


def test_changes_in_a_fork_never_show_in_the_original() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], [web_pod("p", node="a")])
    usage = cluster.usage
    before = (usage.requested.copy(), usage.nonzero.copy(), usage.pod_count.copy())
    fork = usage.fork()
    fork.remove(0, usage.pods(0)[0])
    fork.add(1, cluster.infos.of(web_pod("q", labels={"a": "b"})))
    fork.add(1, cluster.infos.of(make_pod("r", requests={"example.com/new": 1})))
    assert uids(fork, 0) == []
    assert uids(fork, 1) == ["q", "r"]
    assert fork.requested[CPU, :2].tolist() == [0, 1000]
    assert fork.ports.used_ports(0) == set()
    assert fork.ports.used_ports(1) == {WEB}
    assert fork.claims == {"default/data": 1}
    assert uids(usage, 0) == ["p"]
    assert uids(usage, 1) == []
    for column, kept in zip((usage.requested, usage.nonzero, usage.pod_count), before, strict=True):
        np.testing.assert_array_equal(column, kept)
    assert usage.ports.used_ports(0) == {WEB}
    assert usage.ports.used_ports(1) == set()
    assert usage.claims == {"default/data": 1}


def test_a_fork_of_a_fork_is_its_own() -> None:
    cluster = make_cluster([make_node("a")], [web_pod("p", node="a")])
    first = cluster.usage.fork()
    first.remove(0, cluster.usage.pods(0)[0])
    second = first.fork()
    second.add(0, cluster.infos.of(web_pod("q")))
    assert uids(first, 0) == []
    assert first.ports.used_ports(0) == set()
    assert first.requested[CPU, 0] == 0
    assert uids(second, 0) == ["q"]
    assert uids(cluster.usage, 0) == ["p"]


def test_resetting_a_row_of_a_fork_brings_it_back() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], [web_pod("p", node="a")])
    fork = cluster.usage.fork()
    fork.remove(0, cluster.usage.pods(0)[0])
    fork.add(0, cluster.infos.of(make_pod("q", requests={"cpu": "3"})))
    fork.reset(0, cluster.usage)
    assert uids(fork, 0) == ["p"]
    assert fork.ports.used_ports(0) == {WEB}
    assert fork.claims == {"default/data": 1}
    np.testing.assert_array_equal(fork.requested, cluster.usage.requested)
    np.testing.assert_array_equal(fork.nonzero, cluster.usage.nonzero)
    np.testing.assert_array_equal(fork.pod_count, cluster.usage.pod_count)
    fork.remove(0, cluster.usage.pods(0)[0])
    assert uids(cluster.usage, 0) == ["p"]


def test_a_row_can_be_reset_after_a_trial_met_a_new_resource() -> None:
    cluster = two_nodes()
    fork = cluster.usage.fork()
    fork.add(0, cluster.infos.of(make_pod("q", requests={"example.com/new": 5})))
    fork.reset(0, cluster.usage)
    new = cluster.nodes.resources.find("example.com/new")
    assert fork.requested_of(new)[:2].tolist() == [0, 0]
    assert cluster.usage.requested_of(new)[:2].tolist() == [0, 0]


def test_a_fork_knows_the_rows_whose_pods_it_moved() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")], [web_pod("p", node="a")])
    fork = cluster.usage.fork()
    assert fork.strayed_rows() == []
    fork.remove(0, cluster.usage.pods(0)[0])
    twin = fork.fork()
    twin.add(1, cluster.infos.of(make_pod("q")))
    assert fork.strayed_rows() == [0]
    assert twin.strayed_rows() == [0, 1]
    twin.reset_rows([0, 1], fork)
    assert twin.strayed_rows() == [0]
    twin.reset(0, cluster.usage)
    assert twin.strayed_rows() == []
    cluster.add_pod(make_pod("r", node="b"))
    assert cluster.usage.strayed_rows() == []


def pods_asking(first: int, count: int, node: str = "a", name: str = "greedy") -> Pod:
    """A pod that asks for so many resources, each of a name of its own."""
    return make_pod(
        name, node=node, requests={f"example.com/r{n}": 2 for n in range(first, first + count)}
    )


def test_resources_that_no_node_offers_take_a_bounded_part_of_the_tables() -> None:
    cluster = two_nodes()
    for number in range(3):
        cluster.add_pod(pods_asking(20_000 * number, 20_000, name=f"greedy-{number}"))
    usage, table = cluster.usage, cluster.nodes
    usage.grow()
    assert len(table.resources) == 3 + MAX_UNOFFERED_RESOURCES
    assert usage.requested.nbytes + table.allocatable.nbytes < 100_000
    for number in range(3):
        cluster.remove_pod(f"uid-default-greedy-{number}")
    assert not usage.requested.any()


def test_a_resource_that_a_node_begins_to_offer_counts_what_pods_have_of_it() -> None:
    cluster = two_nodes()
    many = MAX_UNOFFERED_RESOURCES + 10
    cluster.add_pod(pods_asking(0, many))
    cluster.add_pod(pods_asking(0, many, node="b", name="other"))
    fork = cluster.usage.fork()
    last = f"example.com/r{many - 1}"
    assert cluster.nodes.resources.find(last) < 0

    cluster.put_node(make_node("a", allocatable={"cpu": "4", last: 5}))
    fork.remove(1, cluster.usage.pods(1)[0])
    index = cluster.nodes.resources.find(last)
    assert fork.requested_of(index)[:2].tolist() == [2, 0]
    assert cluster.usage.requested_of(index)[:2].tolist() == [2, 2]
    cluster.remove_pod("uid-default-greedy")
    assert cluster.usage.requested_of(index)[:2].tolist() == [0, 2]
    fork.reset(1, cluster.usage)
    assert fork.requested_of(index)[:2].tolist() == [2, 2]

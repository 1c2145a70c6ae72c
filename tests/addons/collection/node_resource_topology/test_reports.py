"""NodeResourceTopologyMatch: which reports are believed while pods are on their way."""

from typing import Any

import pytest
from support.addons.collection.topologies import container, topology

from podium.addons.collection.node_resource_topology.numa_placement import pod_fingerprint, xxh64
from podium.addons.collection.node_resource_topology.plugin import NodeResourceTopologyMatch
from podium.kubernetes.kinds.pod import Pod
from podium.plugin import error
from podium.testing import FakeCluster, assert_placed, assert_rejected, make_node, make_pod

ZONE = {"cpu": "4", "memory": "8Gi"}


def cluster_of(**args: Any) -> FakeCluster:
    amounts = {"cpu": "16", "memory": "32Gi", "pods": 110}
    return FakeCluster(
        make_node("a", allocatable=amounts),
        topology("a", ZONE, ZONE),
        plugins=[NodeResourceTopologyMatch],
        args={"NodeResourceTopologyMatch": args},
    )


def pod(name: str, cpu: str = "3", **given: Any) -> Pod:
    return make_pod(name, containers=[container(cpu=cpu, memory="1Gi")], **given)


def report_of(*pods: str, method: str = "all", cpus: tuple[str, ...] = ("1", "4")) -> Any:
    attributes = {
        "nodeTopologyPodsFingerprint": pod_fingerprint(("default", name) for name in pods),
        "nodeTopologyPodsFingerprintMethod": method,
    }
    return topology("a", *({**ZONE, "cpu": cpu} for cpu in cpus), attributes=attributes)


def test_the_fingerprint_is_that_of_the_agents() -> None:
    assert pod_fingerprint([("namespace1", "pod1")]) == "pfp0v0019e0420efb37746c6"
    one = pod_fingerprint([("a", "x"), ("b", "y")])
    assert one == pod_fingerprint([("b", "y"), ("a", "x")]) != pod_fingerprint([("a", "x")])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_hashes_are_those_of_xxh64(data: bytes, expected: int) -> None:
    assert xxh64(data) == expected


def test_every_report_is_believed_unless_told_otherwise() -> None:
    cluster = cluster_of()
    for name in ("one", "two", "three"):
        assert_placed(cluster.schedule(pod(name)), on="a")


def test_a_node_is_not_believed_while_a_pod_is_on_its_way_there() -> None:
    cluster = cluster_of(discardReservedNodes=True)
    cluster.put(pod("one"), pod("two"))
    cluster.attempt()
    second = cluster.attempt()
    assert second is not None
    assert_rejected(second.decision, node="a", reason="invalid node topology data")
    cluster.bound("one")
    cluster.wait(60)
    cluster.put(topology("a", ZONE))
    assert cluster.run() == ["two"]
    assert "two" in cluster.bindings


def test_what_was_placed_since_the_report_is_taken_off_every_zone() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    assert_placed(cluster.schedule(pod("one")), on="a")
    decision = cluster.schedule(pod("two"))
    assert_rejected(decision, node="a", reason="cannot align container")


def test_a_pod_that_does_not_get_there_gives_back_what_was_taken_off() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    cluster.put(pod("one"))
    cluster.attempt()
    cluster.finish("one", error("no"))
    cluster.delete("one")
    assert_placed(cluster.schedule(pod("two")), on="a")


@pytest.mark.parametrize("method", ["all", "with-exclusive-resources"])
def test_a_report_that_speaks_of_the_nodes_pods_is_believed_again(method: str) -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    cluster.schedule(pod("one"))
    cluster.change("one", phase="Running")
    assert_rejected(cluster.schedule(pod("two")), node="a", reason="cannot align container")
    cluster.put(report_of("another", method=method))
    cluster.wait(6)
    assert cluster.run() == ["two"]
    assert cluster.where()["two"] == "unschedulable"
    cluster.put(report_of("one", method=method))
    cluster.wait(6)
    assert "two" in cluster.run()
    assert "two" in cluster.bindings


def test_pods_that_have_nothing_to_themselves_can_be_left_out_of_the_fingerprint() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    cluster.put(make_pod("small", node="a", status={"phase": "Running"}, requests={"cpu": "1"}))
    cluster.schedule(pod("one"))
    cluster.change("one", phase="Running")
    cluster.schedule(pod("two"))
    cluster.put(report_of("one", method="with-exclusive-resources"))
    cluster.wait(6)
    assert "two" in cluster.run()
    assert "two" in cluster.bindings


def test_a_node_where_others_place_pods_is_not_believed_until_it_speaks_of_them() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    cluster.put(pod("stranger", node="a", schedulerName="another", status={"phase": "Running"}))
    decision = cluster.schedule(pod("one"))
    assert_rejected(decision, node="a", reason="invalid node topology data")
    cluster.put(report_of("stranger"))
    cluster.wait(6)
    assert "one" in cluster.run()
    assert "one" in cluster.bindings


def test_pods_of_others_need_not_be_minded() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5, cache={"foreignPodsDetect": "None"})
    cluster.put(pod("stranger", node="a", schedulerName="another", status={"phase": "Running"}))
    assert_placed(cluster.schedule(pod("one")), on="a")


def test_another_configuration_of_the_kubelet_is_believed_at_once() -> None:
    cluster = cluster_of(cacheResyncPeriodSeconds=5)
    cluster.schedule(pod("one"))
    cluster.schedule(pod("two"))
    cluster.put(topology("a", ZONE, policy="restricted"))
    cluster.wait(6)
    assert "two" in cluster.run()
    assert "two" in cluster.bindings

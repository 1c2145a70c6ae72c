"""NodeResourceTopologyMatch: which nodes can align a pod."""

from typing import Any

import pytest
from support.addons.collection.topologies import container, topology

from podium.addons.collection.node_resource_topology.plugin import NodeResourceTopologyMatch
from podium.kubernetes.kinds.node import Node
from podium.scheduler.engine.decision import Decision
from podium.testing import (
    FakeCluster,
    assert_fits,
    assert_placed,
    assert_promises,
    assert_rejected,
    make_node,
    make_pod,
)

GPU = "example.com/gpu"
ZONE = {"cpu": "4", "memory": "8Gi"}


def node(name: str = "a") -> Node:
    amounts = {"cpu": "16", "memory": "32Gi", "pods": 110, GPU: 4, "hugepages-2Mi": "1Gi"}
    return make_node(name, allocatable=amounts)


def decide(
    *zones: dict[str, Any], containers: list[Any], scope: str = "container", **given: Any
) -> Decision:
    spec = {key: given.pop(key) for key in ("initContainers", "overhead") if key in given}
    cluster = FakeCluster(
        node(), topology("a", *zones, scope=scope, **given), plugins=[NodeResourceTopologyMatch]
    )
    return cluster.schedule(make_pod("p", containers=containers, **spec))


@pytest.mark.parametrize(
    ("scope", "containers", "reason"),
    [
        ("container", [container(cpu="4", memory="8Gi")], None),
        ("container", [container(cpu="5", memory="1Gi")], "cannot align container"),
        ("container", [container(cpu="2", memory="9Gi")], "cannot align container"),
        # each container has a zone of its own, or shares one
        ("container", [container(cpu="4", memory="1Gi")] * 2, None),
        ("container", [container(cpu="2", memory="1Gi")] * 4, None),
        ("container", [container(cpu="3", memory="1Gi")] * 3, "cannot align container"),
        # the first zone that fits is taken, and what is left counts
        (
            "container",
            [container(cpu="1", memory="1Gi"), container(cpu="4", memory="1Gi")] * 2,
            "cannot align container",
        ),
        ("pod", [container(cpu="2", memory="4Gi")] * 2, None),
        ("pod", [container(cpu="3", memory="1Gi")] * 2, "cannot align pod"),
    ],
)
def test_guaranteed_pods_are_aligned_in_one_zone(
    scope: str, containers: list[Any], reason: str | None
) -> None:
    decision = decide(ZONE, ZONE, containers=containers, scope=scope)
    if reason is None:
        assert_placed(decision, on="a")
    else:
        assert_rejected(decision, node="a", by="NodeResourceTopologyMatch", reason=reason)


def test_init_containers_stand_alone_before_the_others() -> None:
    large, small = container(cpu="4", memory="8Gi"), container(cpu="1", memory="1Gi")
    assert_placed(decide(ZONE, containers=[small], initContainers=[large, large]), on="a")
    tall = container(cpu="5", memory="1Gi")
    decision = decide(ZONE, ZONE, containers=[small], initContainers=[tall])
    assert_rejected(decision, node="a", reason="cannot align init container")
    sidecar = {**tall, "restartPolicy": "Always"}
    decision = decide(ZONE, ZONE, containers=[small], initContainers=[sidecar])
    assert_rejected(decision, node="a", reason="cannot align sidecar container")


def test_overhead_counts_for_the_whole_pod() -> None:
    almost = [container(cpu="3500m", memory="1Gi")]
    assert_placed(decide(ZONE, ZONE, containers=almost, scope="pod"), on="a")
    decision = decide(ZONE, ZONE, containers=almost, scope="pod", overhead={"cpu": "1"})
    assert_rejected(decision, node="a", reason="cannot align pod")


@pytest.mark.parametrize(
    ("requests", "fits"),
    [
        ({"cpu": "6"}, True),  # of a pod that is not Guaranteed neither cpu nor memory is aligned
        ({"hugepages-2Mi": "512Mi", "memory": "1Gi"}, False),  # no zone reports huge pages
        ({GPU: 1}, True),
        ({GPU: 2}, False),
        ({}, True),
    ],
)
def test_other_pods_are_aligned_by_their_devices_alone(
    requests: dict[str, Any], fits: bool
) -> None:
    zones = [{**ZONE, GPU: 1}, {**ZONE, GPU: 1}]
    holder = {"name": "c", "image": "i", "resources": {"requests": requests}}
    decision = decide(*zones, containers=[holder])
    assert (decision.bound == "a") is fits


def test_what_no_zone_reports_belongs_to_the_node_if_it_is_storage_or_extended() -> None:
    both = {"cpu": "1", "memory": "1Gi"}
    for more, fits in (({GPU: 4}, True), ({"hugepages-2Mi": "2Mi"}, False)):
        amounts = {**both, **more}
        holder = {"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
        assert (decide(ZONE, ZONE, containers=[holder]).bound == "a") is fits


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"policy": "restricted"}, True),
        ({"policy": "none"}, True),
        ({"policy": "nonsense"}, True),
        ({"policy": "", "topologyPolicies": ["SingleNUMANodeContainerLevel"]}, False),
        ({"policy": "", "topologyPolicies": ["SingleNUMANodePodLevel", "Restricted"]}, False),
        ({"policy": "", "topologyPolicies": ["RestrictedPodLevel"]}, True),
        ({"policy": "none", "topologyPolicies": ["SingleNUMANodePodLevel"]}, True),
    ],
)
def test_only_nodes_with_the_policy_are_filtered(given: dict[str, Any], fits: bool) -> None:
    decision = decide(ZONE, ZONE, containers=[container(cpu="5", memory="1Gi")], **given)
    assert (decision.bound == "a") is fits


def test_a_node_without_a_report_passes_and_zones_of_other_kinds_do_not_count() -> None:
    tall = make_pod("p", containers=[container(cpu="5", memory="1Gi")])
    cluster = FakeCluster(node("a"), node("b"), plugins=[NodeResourceTopologyMatch])
    cluster.put(topology("b", ZONE, ZONE))
    decision = cluster.schedule(tall)
    assert_fits(decision, "a")
    assert_rejected(decision, node="b", reason="cannot align container")


def test_a_new_report_wakes_the_pod_and_counts_at_once() -> None:
    cluster = FakeCluster(node(), plugins=[NodeResourceTopologyMatch])
    cluster.put(topology("a", ZONE, ZONE))
    cluster.schedule(make_pod("p", containers=[container(cpu="5", memory="1Gi")]))
    cluster.wait(60)
    assert cluster.run() == []
    cluster.put(topology("a", {"cpu": "6", "memory": "8Gi"}))
    assert cluster.run() == ["p"]
    assert cluster.where() == {"p": "binding"}


def test_it_keeps_its_promises() -> None:
    nodes = [node("a"), node("b"), node("c")]
    pods = [
        make_pod("one", containers=[container(cpu="3", memory="1Gi")] * 2),
        make_pod("two", containers=[container(cpu="1", memory="1Gi")]),
        make_pod("gpu", requests={GPU: 1}),
    ]
    reports = [
        topology("a", {**ZONE, GPU: 1}, ZONE),
        topology("b", ZONE, ZONE, scope="pod", costs=[[10, 20], [20, 10]]),
        topology("node-1", ZONE),
    ]
    for strategy in ("LeastAllocated", "MostAllocated", "BalancedAllocation", "LeastNUMANodes"):
        assert_promises(
            NodeResourceTopologyMatch,
            args={"scoringStrategy": {"type": strategy}},
            nodes=nodes,
            pods=pods,
            objects=reports,
        )

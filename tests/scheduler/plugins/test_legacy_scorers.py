"""Plugins that kube-scheduler has given up: they answer as they did in 1.22."""

import json
from typing import Any

import msgspec

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.workloads import Service
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import ResourceSpec, UtilizationShapePoint
from podium.scheduler.config.typed_args import (
    NodeLabelArgs,
    NodeResourcesLeastAllocatedArgs,
    NodeResourcesMostAllocatedArgs,
    RequestedToCapacityRatioArgs,
    ServiceAffinityArgs,
)
from podium.scheduler.framework.points import ScorePlugin
from podium.scheduler.plugins.legacy_scorers import (
    ANNOTATION,
    NodePreferAvoidPods,
    NodeResourceLimits,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
    SelectorSpread,
)
from podium.scheduler.plugins.node_label import WRONG_LABELS, NodeLabel
from podium.scheduler.plugins.service_affinity import WRONG_NODE, ServiceAffinity
from podium.testing import (
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    score_answers,
)

ZONE = "topology.kubernetes.io/zone"


def normalized(plugin: ScorePlugin, pod: Any, cluster: Cluster) -> dict[str, int]:
    answers = score_answers(plugin, pod, cluster)
    assert answers is not None
    return answers[1]


def one_node() -> Cluster:
    return make_cluster([make_node("n", allocatable={"cpu": "4", "memory": "8Gi", "pods": 9})])


def service(cluster: Cluster, selector: dict[str, str]) -> None:
    raw = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": selector}}
    cluster.catalog.put(msgspec.convert(raw, Service))


def test_least_and_most_allocated_add_up_to_all() -> None:
    cluster, pod = one_node(), make_pod("p", requests={"cpu": "1", "memory": "2Gi"})
    least = NodeResourcesLeastAllocated(NodeResourcesLeastAllocatedArgs(), make_handle(cluster))
    most = NodeResourcesMostAllocated(NodeResourcesMostAllocatedArgs(), make_handle(cluster))
    assert normalized(least, pod, cluster) == {"n": 75}
    assert normalized(most, pod, cluster) == {"n": 25}


def test_a_resource_named_twice_counts_once_with_the_last_weight() -> None:
    cluster, pod = one_node(), make_pod("p", requests={"cpu": "1", "memory": "4Gi"})
    resources = (ResourceSpec("cpu", 9), ResourceSpec("memory", 1), ResourceSpec("cpu", 1))
    args = NodeResourcesMostAllocatedArgs(resources=resources)
    plugin = NodeResourcesMostAllocated(args, make_handle(cluster))
    assert normalized(plugin, pod, cluster) == {"n": (25 + 50) // 2}


def test_the_ratio_follows_its_curve() -> None:
    cluster, pod = one_node(), make_pod("p", requests={"cpu": "1", "memory": "2Gi"})
    shape = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))
    args = RequestedToCapacityRatioArgs(shape=shape)
    plugin = RequestedToCapacityRatio(args, make_handle(cluster))
    assert normalized(plugin, pod, cluster) == {"n": 75}


def avoiding(name: str, written: str) -> Node:
    node = make_node(name)
    metadata = msgspec.structs.replace(node.metadata, annotations={ANNOTATION: written})
    return msgspec.structs.replace(node, metadata=metadata)


def test_nodes_that_ask_to_be_avoided_get_nothing() -> None:
    controller = {"kind": "ReplicaSet", "uid": "u1"}
    asked = json.dumps({"preferAvoidPods": [{"podSignature": {"podController": controller}}]})
    nodes = [avoiding("asks", asked), avoiding("garbled", "{"), make_node("plain")]
    cluster = make_cluster(nodes)
    plugin = NodePreferAvoidPods(None, make_handle(cluster))

    def scores(kind: str, uid: str) -> dict[str, int]:
        owner = {"apiVersion": "apps/v1", "kind": kind, "name": "r", "uid": uid, "controller": True}
        pod = make_pod("p", metadata={"ownerReferences": [owner]})
        return normalized(plugin, pod, cluster)

    assert scores("ReplicaSet", "u1") == {"asks": 0, "garbled": 100, "plain": 100}
    assert scores("ReplicaSet", "u2")["asks"] == 100
    assert scores("StatefulSet", "u1")["asks"] == 100


def test_labels_are_demanded_and_preferred_whatever_their_values() -> None:
    nodes = [make_node("a", labels={"x": "1"}), make_node("b", labels={"x": "2", "y": "1"})]
    cluster = make_cluster(nodes)
    args = NodeLabelArgs(
        present_labels=("x",),
        absent_labels=("y",),
        present_labels_preference=("x", "y"),
        absent_labels_preference=("y",),
    )
    plugin = NodeLabel(args, make_handle(cluster))
    assert filter_answers(plugin, make_pod("p"), cluster) == {"a": None, "b": WRONG_LABELS}
    assert normalized(plugin, make_pod("p"), cluster) == {"a": 66, "b": 66}


def test_pods_of_a_service_spread_over_nodes_and_zones() -> None:
    nodes = [make_node(name, labels={ZONE: zone}) for name, zone in (("n1", "a"), ("n2", "b"))]
    placed = [make_pod(f"p{i}", labels={"app": "a"}, node="n1") for i in range(3)]
    placed.append(make_pod("q", labels={"app": "a"}, node="n2"))
    cluster = make_cluster([*nodes, make_node("n3")], placed)
    service(cluster, {"app": "a"})
    plugin = SelectorSpread(None, make_handle(cluster))
    pod = make_pod("p", labels={"app": "a"})
    assert normalized(plugin, pod, cluster) == {"n1": 0, "n2": 66, "n3": 100}
    alone = make_pod("p", labels={"app": "b"})
    assert normalized(plugin, alone, cluster) == {"n1": 100, "n2": 100, "n3": 100}


def test_pods_with_constraints_of_their_own_are_not_spread_by_selector() -> None:
    cluster = one_node()
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}
    pod = make_pod("p", topologySpreadConstraints=[constraint])
    assert score_answers(SelectorSpread(None, make_handle(cluster)), pod, cluster) is None


def test_a_service_stays_where_its_first_pod_is() -> None:
    nodes = [make_node("n1", labels={"rack": "a"}), make_node("n2", labels={"rack": "b"})]
    cluster = make_cluster(nodes, [make_pod("q", labels={"app": "a"}, node="n2")])
    plugin = ServiceAffinity(ServiceAffinityArgs(affinity_labels=("rack",)), make_handle(cluster))
    pod = make_pod("p", labels={"app": "a"})
    assert filter_answers(plugin, pod, cluster) == {"n1": None, "n2": None}
    service(cluster, {"app": "a"})
    assert filter_answers(plugin, pod, cluster) == {"n1": WRONG_NODE, "n2": None}
    chosen = make_pod("p", labels={"app": "a"}, nodeSelector={"rack": "a"})
    assert filter_answers(plugin, chosen, cluster) == {"n1": None, "n2": WRONG_NODE}


def test_a_service_spreads_over_the_values_of_a_label() -> None:
    nodes = [make_node("n1", labels={"rack": "a"}), make_node("n2", labels={"rack": "b"})]
    placed = [make_pod(f"q{i}", labels={"app": "a"}, node="n1") for i in range(3)]
    placed.append(make_pod("r", labels={"app": "a"}, node="n2"))
    cluster = make_cluster([*nodes, make_node("n3")], placed)
    service(cluster, {"app": "a"})
    args = ServiceAffinityArgs(anti_affinity_labels_preference=("rack",))
    plugin = ServiceAffinity(args, make_handle(cluster))
    pod = make_pod("p", labels={"app": "a"})
    assert normalized(plugin, pod, cluster) == {"n1": 25, "n2": 75, "n3": 0}


def test_a_node_that_holds_one_of_the_limits_gets_a_point() -> None:
    def limited(name: str, **limits: str) -> dict[str, Any]:
        return {"name": name, "image": "i", "resources": {"limits": limits}}

    cluster = make_cluster(
        [
            make_node("both", allocatable={"cpu": "4", "memory": "8Gi", "pods": 9}),
            make_node("cpu", allocatable={"cpu": "4", "memory": "1Gi", "pods": 9}),
            make_node("none", allocatable={"cpu": "1", "memory": "1Gi", "pods": 9}),
        ]
    )
    plugin = NodeResourceLimits(None, make_handle(cluster))
    containers = [limited("a", cpu="1", memory="1Gi"), limited("b", cpu="1", memory="1Gi")]
    pod = make_pod("p", containers=containers)
    assert normalized(plugin, pod, cluster) == {"both": 1, "cpu": 1, "none": 0}
    heavy = make_pod("h", containers=containers, initContainers=[limited("i", cpu="8")])
    assert normalized(plugin, heavy, cluster) == {"both": 1, "cpu": 0, "none": 0}
    assert normalized(plugin, make_pod("free"), cluster) == {"both": 0, "cpu": 0, "none": 0}

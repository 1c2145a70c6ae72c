"""TopologicalSort and NetworkOverhead: pods that talk to each other."""

from typing import Any

import msgspec
import pytest

from podium.addons.collection.network_aware import (
    GROUP_LABEL,
    REGION,
    WORKLOAD_LABEL,
    ZONE,
    AppGroup,
    NetworkOverhead,
    NetworkTopology,
    TopologicalSort,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.testing import (
    FakeCluster,
    assert_promises,
    assert_rejected,
    assert_scores,
    make_node,
    make_pod,
)


def app_group(max_cost: int = 10, order: tuple[str, ...] = (), name: str = "shop") -> AppGroup:
    """The front depends on the back, and the back on the store."""
    limits = {"maxNetworkCost": max_cost, "minBandwidth": "1Gi"}
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "workloads": [
                {
                    "workload": {"selector": "front"},
                    "dependencies": [{"workload": {"selector": "back"}, **limits}],
                },
                {
                    "workload": {"selector": "back"},
                    "dependencies": [{"workload": {"selector": "store"}, **limits}],
                },
                {"workload": {"selector": "store"}},
            ]
        },
        "status": {
            "topologyOrder": [
                {"workload": {"selector": selector}, "index": index + 1}
                for index, selector in enumerate(order)
            ]
        },
    }
    return msgspec.convert(raw, AppGroup)


def costs(key: str, *known: tuple[str, str, int]) -> dict[str, Any]:
    return {
        "topologyKey": key,
        "originList": [
            {"origin": origin, "costList": [{"destination": to, "networkCost": cost}]}
            for origin, to, cost in known
        ],
    }


def network(name: str = "nt-default", weights: str = "UserDefined") -> NetworkTopology:
    regions = costs(REGION, ("r1", "r2", 20), ("r2", "r1", 30))
    zones = costs(ZONE, ("z1", "z2", 5), ("z2", "z1", 15))
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"weights": [{"name": weights, "topologyList": [regions, zones]}]},
    }
    return msgspec.convert(raw, NetworkTopology)


def node(name: str, region: str = "", zone: str = "") -> Node:
    labels = {key: value for key, value in ((REGION, region), (ZONE, zone)) if value}
    return make_node(name, labels=labels)


def pod(name: str, workload: str, *, group: str = "shop", **given: Any) -> Pod:
    return make_pod(name, labels={GROUP_LABEL: group, WORKLOAD_LABEL: workload}, **given)


NODES = (
    node("same", "r1", "z1"),
    node("near", "r1", "z1"),
    node("next", "r1", "z2"),
    node("far", "r2", "z9"),
    node("lost"),
)


# --- the queue ----------------------------------------------------------------------------------


def ordered(*pods: Pod, **args: Any) -> list[str]:
    cluster = FakeCluster(
        app_group(order=("store", "back", "front")),
        plugins=[TopologicalSort],
        disabled=["PrioritySort"],
        args={"TopologicalSort": args} if args else None,
    )
    for each in pods:
        cluster.put(each)
        cluster.clock.advance(1)
    cluster.put(make_node("a"))
    return cluster.run()


def test_pods_of_an_application_go_in_its_order_and_others_by_priority() -> None:
    found = ordered(
        pod("front-1", "front", priority=9),
        pod("back-1", "back"),
        pod("store-1", "store"),
        pod("store-2", "store"),
    )
    assert found == ["store-1", "store-2", "back-1", "front-1"]
    assert ordered(make_pod("late"), make_pod("urgent", priority=1)) == ["urgent", "late"]


def test_a_workload_without_an_index_comes_first_and_unknown_groups_go_by_time() -> None:
    assert ordered(pod("store-1", "store"), pod("new", "new")) == ["new", "store-1"]
    groups = [pod("two", "front", group="other"), pod("one", "store", group="other")]
    assert ordered(*groups) == ["two", "one"]


def test_groups_are_looked_for_in_some_namespaces_only() -> None:
    pods = [pod("front-1", "front"), pod("store-1", "store")]
    assert ordered(*pods, namespaces=["elsewhere"]) == ["front-1", "store-1"]
    assert ordered(*pods, namespaces=["elsewhere", "default"]) == ["store-1", "front-1"]


# --- nodes --------------------------------------------------------------------------------------


def cluster_of(*objects: Any, max_cost: int = 10, **args: Any) -> FakeCluster:
    return FakeCluster(
        *NODES,
        app_group(max_cost),
        network(),
        *objects,
        plugins=[NetworkOverhead],
        args={"NetworkOverhead": args} if args else None,
    )


def test_nodes_are_rated_by_what_it_costs_to_reach_dependencies() -> None:
    cluster = cluster_of(pod("back-1", "back", node="same"), max_cost=1000)
    decision = cluster.schedule(pod("front-1", "front"))
    # 0 on the same node, 1 in its zone, 15 from z2 to z1, 30 from r2 to r1, 100 from nowhere
    expected = {"same": 100, "near": 99, "next": 85, "far": 70, "lost": 0}
    assert_scores(decision, "NetworkOverhead", expected)


def test_nodes_with_more_violated_than_satisfied_dependencies_are_refused() -> None:
    cluster = cluster_of(
        pod("back-1", "back", node="same"),
        pod("back-2", "back", node="same"),
        pod("back-3", "back", node="far"),
    )
    decision = cluster.schedule(pod("front-1", "front"))
    text = (
        "Node next does not meet several network requirements from Workload dependencies:"
        " Satisfied: 0 Violated: 3"
    )
    assert_rejected(decision, node="next", by="NetworkOverhead", reason=text)
    assert_rejected(decision, node="far", by="NetworkOverhead")
    fitting = {name for name, status in decision.filter_statuses().items() if status is None}
    assert fitting == {"same", "near", "lost"}  # an unknown cost is neither one nor the other


def test_a_dependency_on_a_node_that_is_nowhere_is_violated() -> None:
    cluster = cluster_of(pod("back-1", "back", node="lost"), max_cost=1000)
    decision = cluster.schedule(pod("front-1", "front"))
    fitting = {name for name, status in decision.filter_statuses().items() if status is None}
    assert fitting == {"lost"}


@pytest.mark.parametrize(
    "asking",
    [
        make_pod("plain"),
        pod("store-1", "store"),
        pod("stranger", "front", group="other"),
        pod("back-2", "back"),
    ],
)
def test_pods_without_dependencies_on_nodes_fit_everywhere_alike(asking: Pod) -> None:
    cluster = cluster_of(pod("back-1", "back", node="same"))
    decision = cluster.schedule(asking)
    assert_scores(decision, "NetworkOverhead", dict.fromkeys(("same", "near", "lost"), 0))


def test_costs_of_another_name_are_not_read() -> None:
    cluster = cluster_of(
        pod("back-1", "back", node="same"), max_cost=1000, weightsName="NetperfCosts"
    )
    decision = cluster.schedule(pod("front-1", "front"))
    assert_scores(decision, "NetworkOverhead", {"same": 100, "near": 99, "next": 0, "far": 0})


def test_a_dependency_that_gets_a_node_wakes_the_pod() -> None:
    cluster = cluster_of(pod("back-1", "back", node="lost"))
    cluster.delete("back-1")
    cluster.put(pod("back-2", "back", node="far"), make_pod("full", node="far"))
    selector = {REGION: "r1"}
    cluster.schedule(pod("front-1", "front", nodeSelector=selector))
    assert cluster.where()["front-1"] == "unschedulable"
    cluster.put(pod("back-3", "back", node="same"), pod("back-4", "back", node="near"))
    cluster.wait(60)
    assert cluster.run() == ["front-1"]


def test_they_keep_their_promises() -> None:
    assert_promises(TopologicalSort, objects=[app_group(order=("store", "back"))])
    there = [pod("b", "back", node="same"), pod("s", "store", node="far")]
    asking = [pod("f", "front"), pod("k", "back")]
    objects = [app_group(), network()]
    assert_promises(NetworkOverhead, nodes=NODES, pods=[*there, *asking], objects=objects)

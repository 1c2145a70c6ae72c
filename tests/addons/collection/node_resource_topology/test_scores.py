"""NodeResourceTopologyMatch: how well zones fit."""

from typing import Any

import pytest
from support.addons.collection.topologies import GIB, container, topology

from podium.addons.collection.node_resource_topology.plugin import NodeResourceTopologyMatch
from podium.addons.collection.node_resource_topology.topologies import (
    NodeResourceTopology,
    zones_of,
)
from podium.addons.collection.node_resource_topology.zone_scores import find_zones
from podium.scheduler.config.errors import ConfigurationError
from podium.testing import FakeCluster, make_node, make_pod, scores_of

CLOSE = [[10, 20], [20, 10]]


def score(
    report: NodeResourceTopology | None, *containers: dict[str, Any], strategy: str, **more: Any
) -> int:
    amounts = {"cpu": "64", "memory": "256Gi", "pods": 110}
    args = {"scoringStrategy": {"type": strategy, **more}}
    cluster = FakeCluster(
        make_node("a", allocatable=amounts),
        make_node("b", allocatable=amounts),
        plugins=[NodeResourceTopologyMatch],
        args={"NodeResourceTopologyMatch": args},
    )
    if report is not None:
        cluster.put(report)
    decision = cluster.schedule(make_pod("p", containers=list(containers)))
    return scores_of(decision, "NodeResourceTopologyMatch")["a"]


SMALL = container(cpu="2", memory="1Gi")
FOUR = {"cpu": "4", "memory": "4Gi"}
EIGHT = {"cpu": "8", "memory": "8Gi"}


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        # zone of 4: (50 + 75) / 2, zone of 8: (75 + 87) / 2; the lower one counts
        ("LeastAllocated", 62),
        # zone of 4: (50 + 25) / 2, zone of 8: (25 + 12) / 2
        ("MostAllocated", 18),
        # shares 1/2 and 1/4 have the variance 1/32, 1/4 and 1/8 have 1/128
        ("BalancedAllocation", 96),
    ],
)
def test_the_worst_zone_that_fits_counts(strategy: str, expected: int) -> None:
    for scope in ("pod", "container"):
        report = topology("a", FOUR, EIGHT, scope=scope)
        assert score(report, SMALL, strategy=strategy) == expected


def test_a_zone_without_room_does_not_count() -> None:
    report = topology("a", {"cpu": "1", "memory": "512Mi"}, EIGHT, scope="pod")
    assert score(report, SMALL, strategy="LeastAllocated") == 81


def test_half_a_cpu_counts_as_one_in_scores() -> None:
    half = container(cpu="1500m", memory="1Gi")
    assert score(topology("a", FOUR), half, strategy="LeastAllocated") == 62


def test_resources_have_weights() -> None:
    resources = [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]
    report = topology("a", FOUR)
    assert score(report, SMALL, strategy="LeastAllocated", resources=resources) == 56


def test_containers_are_averaged() -> None:
    report = topology("a", EIGHT)
    containers = [SMALL, container(cpu="4", memory="2Gi")]
    # (75 + 87) / 2 = 81 and (50 + 75) / 2 = 62
    assert score(report, *containers, strategy="LeastAllocated") == 71


@pytest.mark.parametrize("strategy", ["LeastAllocated", "MostAllocated", "BalancedAllocation"])
def test_nodes_without_the_policy_or_a_report_get_nothing(strategy: str) -> None:
    assert score(topology("a", FOUR, policy="restricted"), SMALL, strategy=strategy) == 0
    assert score(None, SMALL, strategy=strategy) == 0


def test_pods_that_are_not_guaranteed_are_at_home_everywhere() -> None:
    burstable = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    assert score(topology("a", FOUR), burstable, strategy="LeastAllocated") == 100


@pytest.mark.parametrize(
    ("cpu", "attributes", "costs", "expected"),
    [
        ("4", {}, CLOSE, 94),
        ("4", {}, [[10, 20], [20, 9]], 88),  # the zone that is closer to itself has no room
        ("6", {}, CLOSE, 82),
        ("9", {}, CLOSE, 0),
        ("4", {"topologyManagerMaxNUMANodes": "2"}, CLOSE, 75),
        ("4", {"topologyManagerMaxNUMANodes": "1"}, CLOSE, 94),  # makes no sense: the default
        ("4", {"topologyManagerMaxNUMANodes": "5000"}, CLOSE, 100),  # 1024 at most: units are 0
    ],
)
def test_the_fewer_zones_the_better(
    cpu: str, attributes: dict[str, str], costs: list[list[int]], expected: int
) -> None:
    zones = [{"cpu": "4", "memory": "4Gi"}, {"cpu": "3", "memory": "4Gi"}]
    for scope in ("pod", "container"):
        report = topology(
            "a", *zones, policy="none", scope=scope, costs=costs, attributes=attributes
        )
        found = score(report, container(cpu=cpu, memory="1Gi"), strategy="LeastNUMANodes")
        assert found == expected


def test_two_zones_that_are_not_the_closest_get_less() -> None:
    costs = [[10, 12, 20], [12, 10, 20], [20, 20, 10]]
    zones = [{"cpu": cpu, "memory": "4Gi"} for cpu in ("2", "4", "4")]
    report = topology("a", *zones, policy="none", scope="pod", costs=costs)
    assert score(report, container(cpu="8", memory="1Gi"), strategy="LeastNUMANodes") == 76
    assert score(report, container(cpu="6", memory="1Gi"), strategy="LeastNUMANodes") == 82


def test_containers_take_from_zones_one_after_another() -> None:
    report = topology("a", FOUR, FOUR, policy="none", costs=CLOSE)
    three = container(cpu="3", memory="1Gi")
    assert score(report, three, three, strategy="LeastNUMANodes") == 94
    assert score(report, three, three, SMALL, strategy="LeastNUMANodes") == 82


def test_a_request_that_concerns_no_zone_is_at_home() -> None:
    report = topology("a", {"example.com/gpu": 1}, policy="none")
    assert score(report, SMALL, strategy="LeastNUMANodes") == 100


def test_sets_of_zones_are_looked_for_by_size_and_distance() -> None:
    def places(*cpus: int, asked: int, costs: list[list[int]] | None = None) -> Any:
        report = topology("a", *({"cpu": str(cpu), "memory": "10Gi"} for cpu in cpus), costs=costs)
        return find_zones({"cpu": asked * 1000, "memory": 2 * GIB}, zones_of(report))

    assert places(8, asked=2) == ((0,), True)
    assert places(8, 8, asked=12) == ((0, 1), True)
    assert places(8, 8, asked=20) == ((), False)
    assert places(8, 12, asked=12) == ((1,), True)
    costs = [[10, 30, 12], [30, 10, 30], [12, 30, 10]]
    assert places(6, 6, 6, asked=12, costs=costs) == ((0, 2), True)
    assert places(6, 6, 4, asked=12, costs=costs) == ((0, 1), False)


@pytest.mark.parametrize(
    "args",
    [
        {"scoringStrategy": {"type": "Random"}},
        {"preemptionMode": "Sometimes"},
        {"cacheResyncPeriodSeconds": -1},
        {"cache": {"resyncMethod": "Never"}},
    ],
)
def test_arguments_that_mean_nothing_are_refused(args: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        FakeCluster(plugins=[NodeResourceTopologyMatch], args={"NodeResourceTopologyMatch": args})

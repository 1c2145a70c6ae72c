"""The one-row form of a plugin says what its vector form says, row by row."""

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    default_args,
)
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins.node_resources_balanced_allocation import (
    NodeResourcesBalancedAllocation,
)
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.testing import make_handle, make_node, make_pod

amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "100m", "1", "2500m", "7"]),
        "memory": st.sampled_from(["0", "1", "64Mi", "1Gi", "5Gi"]),
        "example.com/gpu": st.integers(0, 4),
        "ephemeral-storage": st.sampled_from(["1Gi", "20Gi"]),
    },
)
nodes = st.lists(
    st.fixed_dictionaries(
        {
            "cpu": st.sampled_from(["0", "1", "4", "8"]),
            "memory": st.sampled_from(["0", "1Gi", "8Gi"]),
            "pods": st.integers(0, 4),
        },
        optional={"example.com/gpu": st.integers(0, 4)},
    ),
    min_size=1,
    max_size=5,
)


def cluster_of(allocatables: list[Any], placed: list[Any]) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    for number, allocatable in enumerate(allocatables):
        cluster.put_node(make_node(f"n{number}", allocatable=allocatable))
    for number, requests in enumerate(placed):
        name = f"n{number % len(allocatables)}"
        cluster.add_pod(make_pod(f"p{number}", node=name, requests=requests))
    return cluster


def strategies() -> list[dict[str, Any]]:
    resources = [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}]
    extended = [*resources, {"name": "example.com/gpu", "weight": 5}]
    shape = [{"utilization": 0, "score": 10}, {"utilization": 30, "score": 5}]
    ratio = {"type": "RequestedToCapacityRatio", "resources": extended}
    return [
        {"type": "LeastAllocated", "resources": extended},
        {"type": "MostAllocated", "resources": extended},
        {**ratio, "requestedToCapacityRatio": {"shape": [*shape, {"utilization": 70, "score": 0}]}},
    ]


@pytest.mark.parametrize("strategy", strategies(), ids=lambda s: s["type"])
@settings(max_examples=120, deadline=None)
@given(nodes, st.lists(amounts, max_size=8), amounts)
def test_fit_says_the_same_of_one_row(
    strategy: dict[str, Any], allocatables: list[Any], placed: list[Any], requests: Any
) -> None:
    cluster = cluster_of(allocatables, placed)
    args = msgspec.convert({"scoringStrategy": strategy}, NodeResourcesFitArgs)
    plugin = NodeResourcesFit(args, make_handle(cluster))
    cycle = Cycle(cluster.infos.of(make_pod("new", requests=requests)), cluster)
    plugin.pre_filter(cycle)
    rows = cluster.nodes.all_rows()
    verdict = plugin.filter(cycle, rows)
    values = np.zeros(cluster.nodes.size, int) if verdict is None else verdict.values
    expected = [
        verdict.describe(int(value)) if verdict is not None and value else None for value in values
    ]
    numbers = range(cluster.nodes.size)

    assert [plugin.filter_row(cycle, row) for row in numbers] == expected
    assert [plugin.score_row(cycle, row) for row in numbers] == plugin.score(cycle, rows).tolist()


@settings(max_examples=200, deadline=None)
@given(nodes, st.lists(amounts, max_size=8), amounts, st.integers(1, 3))
def test_balance_says_the_same_of_one_row(
    allocatables: list[Any], placed: list[Any], requests: Any, count: int
) -> None:
    names = ("cpu", "memory", "example.com/gpu")[:count]
    raw = {"resources": [{"name": name, "weight": 1} for name in names]}
    cluster = cluster_of(allocatables, placed)
    args = msgspec.convert(raw, NodeResourcesBalancedAllocationArgs)
    plugin = NodeResourcesBalancedAllocation(args, make_handle(cluster))
    cycle = Cycle(cluster.infos.of(make_pod("new", requests=requests)), cluster)
    scores = plugin.score(cycle, cluster.nodes.all_rows()).tolist()

    assert [plugin.score_row(cycle, row) for row in range(cluster.nodes.size)] == scores


def test_default_arguments_give_row_forms_too() -> None:
    cluster = cluster_of([{"cpu": "4", "memory": "8Gi", "pods": 10}], [{"cpu": "1"}])
    args = default_args("NodeResourcesFit", FeatureGates())
    assert isinstance(args, NodeResourcesFitArgs)
    plugin = NodeResourcesFit(args, make_handle(cluster))
    cycle = Cycle(cluster.infos.of(make_pod("new", requests={"cpu": "1"})), cluster)
    plugin.pre_filter(cycle)

    assert plugin.filter_row(cycle, 0) is None
    assert plugin.score_row(cycle, 0) == plugin.score(cycle, slice(0, 1))[0]

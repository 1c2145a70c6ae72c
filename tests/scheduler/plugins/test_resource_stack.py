"""Resources at once, held against resources one by one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.plugins import in_tree_registry
from podium.scheduler.plugins.resources.stack import FLOAT_EXACT_BELOW, ResourceStacks, lines_of
from podium.testing import make_node, make_pod

GIB = 2**30
amounts = st.fixed_dictionaries(
    {"cpu": st.integers(1, 64), "memory": st.integers(1, 64 * GIB), "pods": st.sampled_from((2, 9))}
)
requests = st.fixed_dictionaries(
    {}, optional={"cpu": st.sampled_from(("1m", "700m", "3")), "memory": st.integers(0, 9 * GIB)}
)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(amounts, min_size=3, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), requests), max_size=8),
    requests,
)
def test_both_ways_say_the_same(
    nodes: list[dict[str, Any]], pods: list[tuple[int, dict[str, Any]]], wanted: dict[str, Any]
) -> None:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()), in_tree_registry(), gates=FeatureGates()
    )
    profile, cluster = engine.first_profile, engine.cluster
    for number, allocatable in enumerate(nodes):
        cluster.put_node(make_node(f"n{number}", allocatable=allocatable))
    for number, (row, taken) in enumerate(pods):
        cluster.add_pod(make_pod(f"p{number}", node=f"n{row % len(nodes)}", requests=taken))
    cycle = Cycle(cluster.infos.of(make_pod("pending", requests=wanted)), cluster)
    profile.run_pre_filters(cycle)
    whole, some = cluster.nodes.all_rows(), np.arange(len(nodes), dtype=np.intp)

    for plugin, _ in profile.score:
        if plugin.name.startswith("NodeResources"):
            assert plugin.score(cycle, some).tolist() == plugin.score(cycle, whole).tolist()
    fit = next(plugin for plugin in profile.filter if plugin.name == "NodeResourcesFit")
    verdicts = [fit.filter(cycle, rows) for rows in (whole, some)]
    told = [
        [] if verdict is None else [verdict.describe(v) if v else None for v in verdict.values]
        for verdict in verdicts
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("names", "allocatable", "stacked"),
    [
        (("cpu", "memory"), {"cpu": 1, "memory": GIB}, True),
        (("memory",), {"cpu": 1, "memory": GIB}, True),
        (("memory", "cpu"), {"cpu": 1, "memory": GIB}, False),
        (("cpu", "memory"), {"cpu": 1}, False),
        (("cpu", "memory"), {"cpu": 1, "memory": FLOAT_EXACT_BELOW}, False),
        (("cpu", "memory", "ephemeral-storage"), {"cpu": 1, "memory": 1}, False),
        (("cpu", "example.com/gpu"), {"cpu": 1, "example.com/gpu": 1}, False),
    ],
)
def test_resources_are_stacked_that_stand_side_by_side_on_every_node(
    names: tuple[str, ...], allocatable: dict[str, int], stacked: bool
) -> None:
    cluster = Cluster(ALL_REQUESTS)
    cluster.put_node(make_node("a", allocatable=allocatable))
    stacks = ResourceStacks(names, cluster.nodes, nonzero=True)

    found = stacks.of(cluster.usage, np.array([0], dtype=np.intp), {})
    assert (found is not None) == stacked


def test_lines_are_one_piece_or_none() -> None:
    assert lines_of([1, 2]) == slice(1, 3)
    assert lines_of([0, 2]) is None
    assert lines_of([-1]) is None
    assert lines_of([]) is None


def test_a_table_without_nodes_has_nothing_to_stack() -> None:
    stacks = ResourceStacks(("cpu",), Cluster(ALL_REQUESTS).nodes, nonzero=False)
    assert stacks.of(Cluster(ALL_REQUESTS).usage, np.zeros(0, dtype=np.intp), {}) is None

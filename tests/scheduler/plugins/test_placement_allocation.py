"""NodeResourcesFit's score of a placement: how full it would be, as a whole."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import NodeResourcesFitArgs, ResourceSpec, default_args
from podium.scheduler.framework.cycle import Assignments, Placement, PodGroupCycle
from podium.scheduler.plugins.node_resources_fit import NodeResourcesFit
from podium.scheduler.plugins.node_resources_fit.plugin import placement_score
from podium.testing import make_cluster, make_handle, make_node, make_pod

CPU_AND_MEMORY = (ResourceSpec(name="cpu", weight=1), ResourceSpec(name="memory", weight=1))
GPU = "example.com/gpu"


def example() -> tuple[Cluster, list[Pod]]:
    cluster = make_cluster(
        [
            make_node("a", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}),
            make_node("b", allocatable={"cpu": "8", "memory": "16Gi", "pods": 10}),
        ],
        [make_pod("old", node="a", requests={"cpu": "1", "memory": "1Gi"})],
    )
    return cluster, [make_pod(f"m{i}", requests={"cpu": "2", "memory": "4Gi"}) for i in range(2)]


def score(cluster: Cluster, pods: list[Pod], resources: Any = CPU_AND_MEMORY) -> int:
    return placement_score(cluster, resources, cluster.node_order(), map(cluster.infos.of, pods))


def test_the_worked_example_gives_39() -> None:
    assert score(*example()) == 39


def test_the_plugin_scores_by_most_allocated_whatever_its_strategy() -> None:
    cluster, pods = example()
    args = default_args("NodeResourcesFit", FeatureGates())
    assert isinstance(args, NodeResourcesFitArgs)
    assert args.scoring_strategy.type == "LeastAllocated"
    plugin = NodeResourcesFit(args, make_handle(cluster))
    placement = Placement("x", cluster.node_order())
    proposed = tuple((cluster.infos.of(pod), "a") for pod in pods)
    group = PodGroupCycle(("default", "g"), cluster)
    assert plugin.score_placement(group, Assignments(placement, proposed)) == 39
    assert list(plugin.normalize_placements(group, [39, 250])) == [39, 250]


def test_only_the_nodes_of_the_placement_count() -> None:
    cluster, pods = example()
    rows = np.array([1], dtype=np.intp)
    infos = [cluster.infos.of(pod) for pod in pods]
    assert placement_score(cluster, CPU_AND_MEMORY, rows, infos) == 50


def test_members_without_requests_count_at_what_they_are_assumed_to_use() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1", "memory": "2000Mi"})])
    assert score(cluster, [make_pod("m")]) == 10


def test_an_overfull_placement_is_a_full_one() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1", "memory": "1Gi"})])
    assert score(cluster, [make_pod("m", requests={"cpu": "5", "memory": "5Gi"})]) == 100


def test_a_scalar_that_no_member_asks_for_is_left_out() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "2", "memory": "4Gi", GPU: 4})])
    resources = (*CPU_AND_MEMORY, ResourceSpec(name=GPU, weight=8))
    plain = make_pod("m", requests={"cpu": "1", "memory": "2Gi"})
    assert score(cluster, [plain], resources) == 50
    asking = make_pod("n", requests={"cpu": "1", "memory": "2Gi", GPU: 4})
    assert score(cluster, [asking], resources) == 90


def test_a_placement_that_has_none_of_anything_scores_nothing() -> None:
    cluster = make_cluster([make_node("a", allocatable={"pods": 1})])
    assert score(cluster, [make_pod("m", requests={"cpu": "1"})]) == 0


amounts = st.sampled_from((0, 1, 2, 5, 8))
bodies = st.fixed_dictionaries({"cpu": amounts, "memory": amounts, GPU: amounts})


@given(
    st.lists(st.tuples(bodies, st.lists(bodies, max_size=2)), min_size=1, max_size=4),
    st.lists(bodies, max_size=3),
    st.lists(st.tuples(st.sampled_from(("cpu", "memory", GPU)), st.integers(1, 5)), min_size=1),
)
def test_it_is_the_formula_node_by_node(
    nodes: list[tuple[dict[str, int], list[dict[str, int]]]],
    members: list[dict[str, int]],
    weights: list[tuple[str, int]],
) -> None:
    cluster = make_cluster(
        [make_node(f"n{i}", allocatable=body) for i, (body, _) in enumerate(nodes)],
        [
            make_pod(f"p{i}{k}", node=f"n{i}", requests=body)
            for i, (_, pods) in enumerate(nodes)
            for k, body in enumerate(pods)
        ],
    )
    pods = [make_pod(f"m{i}", requests=body) for i, body in enumerate(members)]
    specs = [ResourceSpec(name=name, weight=weight) for name, weight in weights]
    assert score(cluster, pods, specs) == reference(nodes, members, weights)


def reference(
    nodes: list[tuple[dict[str, int], list[dict[str, int]]]],
    members: list[dict[str, int]],
    weights: list[tuple[str, int]],
) -> int:
    """Upstream's loop: over resources and nodes, one at a time."""
    total = weight_sum = 0
    for name, weight in weights:
        unit = 1000 if name == "cpu" else 1
        requested = sum(body[name] * unit for body in members)
        capacity = 0
        for allocatable, pods in nodes:
            if requested == 0 and name == GPU:
                continue
            if allocatable[name] == 0:
                continue
            capacity += allocatable[name] * unit
            requested += sum(body[name] * unit for body in pods)
        if capacity == 0:
            continue
        total += weight * (min(requested, capacity) * 100 // capacity)
        weight_sum += weight
    return total // weight_sum if weight_sum else 0

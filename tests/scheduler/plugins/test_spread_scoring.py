"""Soft spread constraints: columns against dictionaries, and the numbers of the worked examples."""

from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st
from support.scheduler.plugins.spread_clusters import (
    HOSTNAME,
    ZONE,
    example_cluster,
    node_lists,
    pending_pods,
    placed_pods,
    pod_labels,
    spread,
)
from support.scheduler.plugins.spread_reference import (
    constraints_of,
    reference_scores,
    selector_for,
)
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Service
from podium.kubernetes.rules.labels import selector_of_map
from podium.scheduler.cluster.growth import Rows
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import SYSTEM_SPREAD_CONSTRAINTS, PodTopologySpreadArgs
from podium.scheduler.plugins.pod_topology_spread import PodTopologySpread
from podium.testing import cycle_for, make_cluster, make_handle, make_node, make_pod, score_answers


def plugin_for(cluster: Cluster, args: PodTopologySpreadArgs | None = None) -> PodTopologySpread:
    return PodTopologySpread(args or PodTopologySpreadArgs(), make_handle(cluster))


def scores_of(
    plugin: PodTopologySpread, pod: Pod, cluster: Cluster, rows: Rows
) -> tuple[list[int], list[int]]:
    cycle = cycle_for(pod, cluster)
    assert plugin.pre_score(cycle, rows) is None
    raw = plugin.score(cycle, rows)
    return raw.tolist(), plugin.normalize(cycle, rows, raw).tolist()


def some_rows(cluster: Cluster, nodes: list[Node]) -> Rows:
    rows = np.array([cluster.nodes.row(n.metadata.name) for n in nodes], dtype=np.intp)
    whole = cluster.nodes.all_rows()
    return whole if rows.tolist() == list(range(whole.stop)) else rows


@st.composite
def feasible_nodes(draw: st.DrawFn) -> tuple[list[Node], list[Node]]:
    nodes = draw(node_lists())
    chosen = draw(st.sets(st.integers(0, len(nodes) - 1), min_size=1))
    return nodes, [nodes[i] for i in sorted(chosen)] if draw(st.booleans()) else nodes


@given_examples(
    60, 300, found=feasible_nodes(), pods=placed_pods(), pod=pending_pods("ScheduleAnyway")
)
def test_columns_score_as_single_nodes_do(
    found: tuple[list[Node], list[Node]], pods: list[Pod], pod: Pod
) -> None:
    nodes, feasible = found
    cluster = make_cluster(nodes, pods)
    written = [(c, selector_for(c, pod)) for c in constraints_of(pod, "ScheduleAnyway")]
    raw, normalized = reference_scores(pod, written, nodes, feasible, pods, needs_all_keys=True)
    rows = some_rows(cluster, feasible)
    assert scores_of(plugin_for(cluster), pod, cluster, rows) == (
        list(raw.values()),
        list(normalized.values()),
    )


@given_examples(
    60,
    300,
    found=feasible_nodes(),
    pods=placed_pods(),
    labels=pod_labels,
    node_selector=st.sampled_from((None, {"disk": "ssd"})),
)
def test_system_defaults_score_as_single_nodes_do(
    found: tuple[list[Node], list[Node]],
    pods: list[Pod],
    labels: dict[str, str],
    node_selector: dict[str, str] | None,
) -> None:
    """Nodes without a zone take part here, as one more zone without a name."""
    nodes, feasible = found
    cluster = make_cluster(nodes, pods)
    cluster.catalog.put(service({"app": "a"}))
    pod = make_pod("pending", labels={**labels, "app": "a"}, nodeSelector=node_selector)
    written = [(c, selector_of_map({"app": "a"})) for c in SYSTEM_SPREAD_CONSTRAINTS]
    raw, normalized = reference_scores(pod, written, nodes, feasible, pods, needs_all_keys=False)
    rows = some_rows(cluster, feasible)
    assert scores_of(plugin_for(cluster), pod, cluster, rows) == (
        list(raw.values()),
        list(normalized.values()),
    )


def service(selector: dict[str, str] | None) -> Service:
    return msgspec.convert(
        {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": selector}}, Service
    )


def soft(**fields: Any) -> dict[str, Any]:
    return spread(whenUnsatisfiable="ScheduleAnyway", **fields)


def example_scores(**spec: Any) -> tuple[dict[str, int], dict[str, int]] | None:
    cluster = example_cluster()
    cluster.catalog.put(service({"app": "a"}))
    return score_answers(plugin_for(cluster), make_pod("p", labels={"app": "a"}, **spec), cluster)


def test_zones_with_3_and_1_pods_score_25_and_100() -> None:
    assert example_scores(topologySpreadConstraints=[soft()]) == (
        {"n1": 4, "n2": 4, "n3": 1, "n4": 0},
        {"n1": 25, "n2": 25, "n3": 100, "n4": 0},
    )


def test_two_constraints_add_up_with_their_skews() -> None:
    written = [soft(maxSkew=5), soft(maxSkew=3, topologyKey=HOSTNAME)]
    assert example_scores(topologySpreadConstraints=written) == (
        {"n1": 13, "n2": 12, "n3": 9, "n4": 0},
        {"n1": 69, "n2": 76, "n3": 100, "n4": 0},
    )


def test_with_system_defaults_the_node_without_zone_wins() -> None:
    """Quirk Q13."""
    assert example_scores() == (
        {"n1": 14, "n2": 13, "n3": 9, "n4": 4},
        {"n1": 28, "n2": 35, "n3": 64, "n4": 100},
    )


def test_a_cluster_without_matching_pods_gives_full_marks() -> None:
    cluster = make_cluster([make_node(name, labels={ZONE: name}) for name in ("a", "b")])
    pod = make_pod("p", topologySpreadConstraints=[soft()])
    assert score_answers(plugin_for(cluster), pod, cluster) == (
        {"a": 0, "b": 0},
        {"a": 100, "b": 100},
    )


def test_if_every_node_is_ignored_all_score_zero() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])
    pod = make_pod("p", topologySpreadConstraints=[soft()])
    assert score_answers(plugin_for(cluster), pod, cluster) == ({"a": 0, "b": 0}, {"a": 0, "b": 0})

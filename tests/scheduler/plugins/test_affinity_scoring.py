"""Preferred (anti-)affinity: columns against dictionaries, and the numbers of the examples."""

import numpy as np
import pytest
from hypothesis import strategies as st
from support.scheduler.plugins.affinity_clusters import (
    NAMESPACES,
    cluster_of,
    node_lists,
    pending_pods,
    pod_lists,
    preferred,
    required,
    term,
)
from support.scheduler.plugins.affinity_reference import reference_scores
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.framework.status import SKIP
from podium.scheduler.plugins.inter_pod_affinity import InterPodAffinity, counting
from podium.scheduler.plugins.inter_pod_affinity.counting import normalize
from podium.scheduler.plugins.inter_pod_affinity.terms import MAX_COUNTED_TERMS
from podium.testing import cycle_for, make_handle, make_node, make_pod, present_rows, score_answers

HOSTS = [make_node(f"n{i}", labels={"host": f"s{i}"}) for i in range(4)]


def plugin_for(
    cluster: Cluster, *, hard_weight: int = 1, own_only: bool = False
) -> InterPodAffinity:
    args = InterPodAffinityArgs(
        hard_pod_affinity_weight=hard_weight, ignore_preferred_terms_of_existing_pods=own_only
    )
    return InterPodAffinity(args, make_handle(cluster))


@given_examples(
    80,
    400,
    nodes=node_lists(),
    pods=pod_lists(),
    pod=pending_pods,
    chosen=st.sets(st.integers(0, 5), min_size=1),
    hard_weight=st.sampled_from((0, 1, 7)),
    own_only=st.booleans(),
    counted=st.sampled_from((0, MAX_COUNTED_TERMS)),
)
def test_columns_score_as_single_nodes_do(
    nodes: list[Node],
    pods: list[Pod],
    pod: Pod,
    chosen: set[int],
    hard_weight: int,
    own_only: bool,
    counted: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MAX_COUNTED_TERMS", counted)
        check_scores(nodes, pods, pod, chosen, hard_weight, own_only)


def check_scores(
    nodes: list[Node],
    pods: list[Pod],
    pod: Pod,
    chosen: set[int],
    hard_weight: int,
    own_only: bool,
) -> None:
    cluster = cluster_of(nodes, pods)
    plugin = plugin_for(cluster, hard_weight=hard_weight, own_only=own_only)
    whole = reference_scores(
        pod, nodes, nodes, pods, NAMESPACES, hard_weight=hard_weight, own_only=own_only
    )
    assert score_answers(plugin, pod, cluster) == whole
    feasible = [node for i, node in enumerate(nodes) if i in chosen] or nodes
    rows = np.array([cluster.nodes.row(n.metadata.name) for n in feasible], dtype=np.intp)
    some = reference_scores(
        pod, nodes, feasible, pods, NAMESPACES, hard_weight=hard_weight, own_only=own_only
    )
    cycle = cycle_for(pod, cluster)
    skipped = plugin.pre_score(cycle, rows) is SKIP
    assert skipped == (some is None)
    if some is not None:
        raw = plugin.score(cycle, rows)
        assert raw.tolist() == list(some[0].values())
        assert plugin.normalize(cycle, rows, raw).tolist() == list(some[1].values())


def test_weights_7_5_and_minus_4_give_100_81_0_and_36() -> None:
    pods = [make_pod(f"p{i}", labels={"app": app}, node=f"n{i}") for i, app in enumerate("abc")]
    cluster = cluster_of(HOSTS, pods)
    affinity = preferred("podAffinity", (7, term("a")), (5, term("b")))
    affinity |= preferred("podAntiAffinity", (4, term("c")))
    assert score_answers(plugin_for(cluster), make_pod("p", affinity=affinity), cluster) == (
        {"n0": 7, "n1": 5, "n2": -4, "n3": 0},
        {"n0": 100, "n1": 81, "n2": 0, "n3": 36},
    )


def test_the_division_comes_before_the_multiplication() -> None:
    raw = np.array([29, 57, 58, 100, 0], dtype=np.int64)
    assert normalize(raw).tolist() == [28, 56, 57, 100, 0]


def test_equal_scores_are_all_zero() -> None:
    assert normalize(np.array([5, 5], dtype=np.int64)).tolist() == [0, 0]


def test_weights_that_cancel_out_still_count_as_scoring() -> None:
    cluster = cluster_of(HOSTS, [make_pod("p", labels={"app": "a"}, node="n0")])
    affinity = preferred("podAffinity", (3, term("a"))) | preferred(
        "podAntiAffinity", (3, term("a"))
    )
    scores = score_answers(plugin_for(cluster), make_pod("q", affinity=affinity), cluster)
    assert scores == (dict.fromkeys(("n0", "n1", "n2", "n3"), 0),) * 2


def test_terms_that_reach_no_domain_skip() -> None:
    cluster = cluster_of([*HOSTS, make_node("bare")], [make_pod("p", node="bare")])
    affinity = preferred("podAffinity", (3, term(None)))
    cycle = cycle_for(make_pod("q", affinity=affinity), cluster)
    assert plugin_for(cluster).pre_score(cycle, present_rows(cluster)) is SKIP


def test_required_affinity_of_others_draws_the_pod_with_the_configured_weight() -> None:
    fan = make_pod("p", node="n1", affinity=required("podAffinity", term("a")))
    cluster = cluster_of(HOSTS[:2], [fan])
    pod = make_pod("q", labels={"app": "a"})
    assert score_answers(plugin_for(cluster, hard_weight=9), pod, cluster) == (
        {"n0": 0, "n1": 9},
        {"n0": 0, "n1": 100},
    )
    assert score_answers(plugin_for(cluster, hard_weight=0), pod, cluster) is None


def test_preferences_of_others_are_ignored_only_for_pods_without_their_own() -> None:
    fan = make_pod("p", node="n1", affinity=preferred("podAffinity", (6, term("a"))))
    cluster = cluster_of(HOSTS[:2], [fan])
    plugin = plugin_for(cluster, own_only=True)
    assert score_answers(plugin, make_pod("q", labels={"app": "a"}), cluster) is None
    own = preferred("podAffinity", (1, term("nobody")))
    picky = make_pod("q", labels={"app": "a"}, affinity=own)
    assert score_answers(plugin, picky, cluster) == ({"n0": 0, "n1": 6}, {"n0": 0, "n1": 100})

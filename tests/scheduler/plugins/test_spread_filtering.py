"""Hard spread constraints: columns against dictionaries, and what trials do to the counts."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.scheduler.plugins.spread_clusters import (
    HOSTNAME,
    example_cluster,
    node_lists,
    pending_pods,
    placed_pods,
    spread,
)
from support.scheduler.plugins.spread_reference import ReferenceFilter
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import PodTopologySpreadArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.status import Code, Status
from podium.scheduler.plugins.pod_topology_spread import PodTopologySpread
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
)

SKEWED = "node(s) didn't match pod topology spread constraints"
UNLABELLED = SKEWED + " (missing required label)"


def plugin_for(cluster: Cluster) -> PodTopologySpread:
    return PodTopologySpread(PodTopologySpreadArgs(), make_handle(cluster))


def word(status: Status | None) -> str:
    if status is None:
        return ""
    (reason,) = status.reasons
    expected = Code.UNRESOLVABLE if reason == UNLABELLED else Code.UNSCHEDULABLE
    assert status.code is expected
    return {UNLABELLED: "unlabelled", SKEWED: "skewed"}[reason]


@given_examples(60, 300, nodes=node_lists(), pods=placed_pods(), pod=pending_pods("DoNotSchedule"))
def test_columns_answer_as_single_nodes_do(nodes: list[Node], pods: list[Pod], pod: Pod) -> None:
    cluster = make_cluster(nodes, pods)
    reference = ReferenceFilter(pod, nodes, pods)
    answers = filter_answers(plugin_for(cluster), pod, cluster)
    assert {name: word(status) for name, status in answers.items()} == {
        node.metadata.name: reference.verdict(node) for node in nodes
    }


@given_examples(
    60,
    300,
    nodes=node_lists(),
    pods=placed_pods(),
    pod=pending_pods("DoNotSchedule"),
    moves=st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=6),
)
def test_trials_change_counts_as_upstream_does(
    nodes: list[Node], pods: list[Pod], pod: Pod, moves: list[tuple[int, bool]]
) -> None:
    """Pods are added and removed on one node, as nominations and preemption do."""
    cluster = make_cluster(nodes, pods)
    plugin, cycle = plugin_for(cluster), cycle_for(pod, cluster)
    assert plugin.pre_filter(cycle) is None
    before = filter_words(plugin, cycle)
    node, reference = nodes[-1], ReferenceFilter(pod, nodes, pods)
    row, trial = cluster.nodes.row(node.metadata.name), cycle.fork()
    for number, added in moves:
        if pods:
            other = pods[number % len(pods)]
            reference.shift(other, node, 1 if added else -1)
            move = plugin.add_pod if added else plugin.remove_pod
            move(trial, cluster.infos.of(other), row)
    assert filter_words(plugin, trial)[node.metadata.name] == reference.verdict(node)
    assert filter_words(plugin, cycle) == before


def filter_words(plugin: PodTopologySpread, cycle: Cycle) -> dict[str, str]:
    rows = indices(present_rows(cycle.cluster))
    words = {}
    for row in rows:
        verdict = plugin.filter(cycle, np.array([row]))
        status = verdict.describe(int(verdict.values[0])) if verdict else None
        words[cycle.nodes.names[row]] = word(status)
    return words


def example_words(**fields: Any) -> dict[str, str]:
    cluster = example_cluster()
    pod = make_pod("p", labels={"app": "a"}, topologySpreadConstraints=[spread(**fields)])
    answers = filter_answers(plugin_for(cluster), pod, cluster)
    return {name: word(status) for name, status in answers.items()}


def test_the_fuller_zone_is_out_and_a_node_without_zone_cannot_be_helped() -> None:
    assert example_words() == {"n1": "skewed", "n2": "skewed", "n3": "", "n4": "unlabelled"}


def test_a_larger_skew_lets_both_zones_in() -> None:
    assert example_words(maxSkew=3) == {"n1": "", "n2": "", "n3": "", "n4": "unlabelled"}


def test_fewer_domains_than_asked_for_make_the_minimum_zero() -> None:
    words = example_words(maxSkew=3, minDomains=3)
    assert words == {"n1": "skewed", "n2": "skewed", "n3": "", "n4": "unlabelled"}


def test_removing_a_terminating_pod_lowers_a_count_that_never_had_it() -> None:
    """Quirk Q4."""
    nodes = [make_node(name, labels={HOSTNAME: name}) for name in ("n1", "n2")]
    leaving = make_pod(
        "leaving", labels={"app": "a"}, node="n1", metadata={"deletionTimestamp": "2025-01-01"}
    )
    cluster = make_cluster(nodes, [leaving])
    pod = make_pod(
        "p", labels={"app": "a"}, topologySpreadConstraints=[spread(topologyKey=HOSTNAME)]
    )
    plugin, cycle = plugin_for(cluster), cycle_for(pod, cluster)
    plugin.pre_filter(cycle)
    assert filter_words(plugin, cycle) == {"n1": "", "n2": ""}
    plugin.remove_pod(cycle, cluster.infos.of(leaving), cluster.nodes.row("n1"))
    # n1 counts -1 now, so n2 with its 0 + 1 - (-1) = 2 is too far ahead.
    assert filter_words(plugin, cycle) == {"n1": "", "n2": "skewed"}


def test_an_empty_selector_counts_nothing_until_a_trial_adds_a_pod() -> None:
    """Quirk Q4."""
    nodes = [make_node(name, labels={HOSTNAME: name}) for name in ("n1", "n2")]
    cluster = make_cluster(nodes, [make_pod(f"p{i}", node="n1") for i in range(3)])
    constraint = spread(topologyKey=HOSTNAME, labelSelector={})
    pod = make_pod("p", topologySpreadConstraints=[constraint])
    plugin, cycle = plugin_for(cluster), cycle_for(pod, cluster)
    plugin.pre_filter(cycle)
    assert filter_words(plugin, cycle) == {"n1": "", "n2": ""}
    plugin.add_pod(cycle, cluster.infos.of(make_pod("new", labels={"any": "thing"})), 0)
    assert filter_words(plugin, cycle) == {"n1": "skewed", "n2": ""}

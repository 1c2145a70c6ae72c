"""Required (anti-)affinity: columns against dictionaries, and what trials do to the counts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from support.scheduler.plugins.affinity_clusters import (
    NAMESPACES,
    cluster_of,
    node_lists,
    pending_pods,
    pod_lists,
    required,
    term,
)
from support.scheduler.plugins.affinity_reference import ReferenceFilter
from support.suite.slow_cases import given_examples

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.status import SKIP, Code, Status
from podium.scheduler.plugins.inter_pod_affinity import InterPodAffinity, counting
from podium.scheduler.plugins.inter_pod_affinity.terms import MAX_COUNTED_TERMS
from podium.testing import cycle_for, filter_answers, make_handle, make_node, make_pod, present_rows

WORDS = {
    "node(s) didn't match pod affinity rules": ("affinity", Code.UNRESOLVABLE),
    "node(s) didn't match pod anti-affinity rules": ("anti", Code.UNSCHEDULABLE),
    "node(s) didn't satisfy existing pods anti-affinity rules": ("existing", Code.UNSCHEDULABLE),
}
HOSTS = [make_node(name, labels={"host": name}) for name in ("n1", "n2")]


def plugin_for(cluster: Cluster) -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(), make_handle(cluster))


def word(status: Status | None) -> str:
    if status is None:
        return ""
    (reason,) = status.reasons
    found, code = WORDS[reason]
    assert status.code is code
    return found


def words_for(cluster: Cluster, pod: Pod) -> dict[str, str]:
    answers = filter_answers(plugin_for(cluster), pod, cluster)
    return {name: word(status) for name, status in answers.items()}


@given_examples(
    80,
    400,
    nodes=node_lists(),
    pods=pod_lists(),
    pod=pending_pods,
    counted=st.sampled_from((0, MAX_COUNTED_TERMS)),
)
def test_columns_answer_as_single_nodes_do(
    nodes: list[Node], pods: list[Pod], pod: Pod, counted: int
) -> None:
    cluster = cluster_of(nodes, pods)
    reference = ReferenceFilter(pod, nodes, pods, NAMESPACES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MAX_COUNTED_TERMS", counted)
        skipped = plugin_for(cluster).pre_filter(cycle_for(pod, cluster)) is SKIP
        assert skipped == reference.skips
        assert words_for(cluster, pod) == {
            node.metadata.name: reference.verdict(node) for node in nodes
        }


@given_examples(
    80,
    400,
    nodes=node_lists(),
    pods=pod_lists(),
    pod=pending_pods,
    newcomers=pod_lists(),
    leavers=st.sets(st.integers(0, 7)),
)
def test_trials_change_counts_as_upstream_does(
    nodes: list[Node], pods: list[Pod], pod: Pod, newcomers: list[Pod], leavers: set[int]
) -> None:
    cluster = cluster_of(nodes, pods)
    plugin, cycle = plugin_for(cluster), cycle_for(pod, cluster)
    if plugin.pre_filter(cycle) is SKIP:
        return
    before = filter_words(plugin, cycle)
    by_name = {node.metadata.name: node for node in nodes}
    reference = ReferenceFilter(pod, nodes, pods, NAMESPACES)
    trial = cycle.fork()
    leaving = [p for i, p in enumerate(pods) if i in leavers]
    for move, delta, moved in (
        (plugin.remove_pod, -1, leaving),
        (plugin.add_pod, 1, newcomers),
    ):
        for other in moved:
            node = by_name.get(other.spec.node_name)
            if node is not None:
                reference.shift(other, node, delta)
                row = cluster.nodes.row(node.metadata.name)
                move(trial, cluster.infos.of(other), row)
    assert filter_words(plugin, trial) == {n: reference.verdict(by_name[n]) for n in by_name}
    assert filter_words(plugin, cycle) == before


def filter_words(plugin: InterPodAffinity, cycle: Cycle) -> dict[str, str]:
    words = {}
    for row in indices(present_rows(cycle.cluster)):
        verdict = plugin.filter(cycle, np.array([row]))
        status = verdict.describe(int(verdict.values[0])) if verdict else None
        words[cycle.nodes.names[row]] = word(status)
    return words


def pod_with(affinity: dict[str, Any] | None = None, **fields: Any) -> Pod:
    return make_pod("pending", labels={"app": "a"}, affinity=affinity, **fields)


def test_affinity_wants_a_domain_where_a_match_of_all_terms_is() -> None:
    both = make_pod("p", labels={"app": "a"}, node="n1")
    cluster = cluster_of(HOSTS, [both, make_pod("q", labels={"app": "b"}, node="n2")])
    assert words_for(cluster, pod_with(required("podAffinity", term("a")))) == {
        "n1": "",
        "n2": "affinity",
    }
    # No single pod matches both terms, and the pod does not match them itself.
    assert words_for(cluster, pod_with(required("podAffinity", term("a"), term("b")))) == {
        "n1": "affinity",
        "n2": "affinity",
    }


def test_the_first_of_its_kind_may_go_anywhere_that_has_the_key() -> None:
    cluster = cluster_of([*HOSTS, make_node("n3")], [])
    assert words_for(cluster, pod_with(required("podAffinity", term("a")))) == {
        "n1": "",
        "n2": "",
        "n3": "affinity",
    }
    assert words_for(cluster, pod_with(required("podAffinity", term("b"))))["n1"] == "affinity"


def test_a_terminating_match_keeps_later_pods_from_being_the_first() -> None:
    leaving = make_pod(
        "p", labels={"app": "a"}, node="n1", metadata={"deletionTimestamp": "2025-01-01"}
    )
    cluster = cluster_of(HOSTS, [leaving])
    wanted = pod_with(required("podAffinity", term("a")))
    assert words_for(cluster, wanted) == {"n1": "", "n2": "affinity"}


def test_removing_the_last_match_in_a_trial_makes_the_pod_the_first() -> None:
    only = make_pod("p", labels={"app": "a"}, node="n1")
    cluster = cluster_of(HOSTS, [only])
    plugin = plugin_for(cluster)
    cycle = cycle_for(pod_with(required("podAffinity", term("a"))), cluster)
    plugin.pre_filter(cycle)
    plugin.remove_pod(cycle, cluster.infos.of(only), cluster.nodes.row("n1"))
    assert filter_words(plugin, cycle) == {"n1": "", "n2": ""}


def test_anti_affinity_works_in_both_directions_and_the_pods_own_is_told_first() -> None:
    hostile = make_pod(
        "p", labels={"app": "a"}, node="n1", affinity=required("podAntiAffinity", term("a"))
    )
    cluster = cluster_of(HOSTS, [hostile])
    assert words_for(cluster, pod_with()) == {"n1": "existing", "n2": ""}
    assert words_for(cluster, pod_with(required("podAntiAffinity", term("a")))) == {
        "n1": "anti",
        "n2": "",
    }


def test_a_negative_namespace_selector_reaches_the_namespace_it_excludes() -> None:
    """Quirk Q1."""
    cluster = cluster_of(HOSTS, [make_pod("p", labels={"app": "a"}, node="n1")])
    not_x = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}
    only_y = {"matchLabels": {"team": "y"}}

    def word_on_n1(selector: dict[str, Any]) -> str:
        far = required("podAntiAffinity", term("a", namespaceSelector=selector))
        return words_for(cluster, pod_with(far, namespace="other"))["n1"]

    assert word_on_n1(not_x) == "anti"
    assert word_on_n1(only_y) == ""


def test_terms_of_others_see_the_namespaces_as_they_are() -> None:
    """Quirk Q1 is about the pending pod's terms alone."""
    not_x = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}
    hostile = make_pod(
        "p",
        node="n1",
        affinity=required("podAntiAffinity", term("a", namespaceSelector=not_x)),
    )
    cluster = cluster_of(HOSTS, [hostile])
    assert words_for(cluster, pod_with())["n1"] == ""
    assert words_for(cluster, pod_with(namespace="other"))["n1"] == "existing"


def test_a_pod_that_skips_is_not_kept_off_by_nominated_pods() -> None:
    """Quirk Q6: there is no state that a trial could change."""
    cluster = cluster_of(HOSTS, [])
    plugin, cycle = plugin_for(cluster), cycle_for(pod_with(), cluster)
    assert plugin.pre_filter(cycle) is SKIP
    assert plugin.name not in cycle.states

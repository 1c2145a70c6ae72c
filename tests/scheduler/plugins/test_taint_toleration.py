"""TaintToleration: hard taints reject, soft ones cost points."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.tolerations import tolerates
from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import unresolvable
from podium.scheduler.plugins.taint_toleration import TaintToleration
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
    score_answers,
)

UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")

PLUGIN = TaintToleration(None, make_handle())
COMPARING = TaintToleration(None, make_handle(TaintTolerationComparisonOperators=True))

taints = st.tuples(
    st.sampled_from(("gpu", "spot")), st.sampled_from(("", "true", "5")), st.sampled_from(EFFECTS)
)
tolerations = st.fixed_dictionaries(
    {
        "key": st.sampled_from(("", "gpu", "spot")),
        "operator": st.sampled_from(("", "Equal", "Exists", "Lt", "Gt")),
        "value": st.sampled_from(("", "true", "7")),
        "effect": st.sampled_from(("", *EFFECTS)),
    }
)
node_lists = st.lists(st.lists(taints, max_size=4), min_size=1, max_size=6).map(
    lambda sets: [make_node(f"n{i}", taints=t) for i, t in enumerate(sets)]
)
pods = st.none() | st.lists(tolerations, max_size=3)


def untolerated_on(node: Node, pod: Pod, *, comparison: bool) -> list[str]:
    """The effects of the taints that the pod does not tolerate, one node at a time."""
    return [
        taint.effect
        for taint in node.spec.taints or ()
        if not any(
            tolerates(t, taint.key, taint.value, taint.effect, comparison=comparison)
            for t in pod.spec.tolerations or ()
        )
    ]


@given(nodes=node_lists, given_=pods, comparison=st.booleans(), gone=st.sets(st.integers(0, 5)))
def test_columns_answer_as_single_nodes_do(
    nodes: list[Node], given_: list[dict[str, Any]] | None, comparison: bool, gone: set[int]
) -> None:
    plugin = COMPARING if comparison else PLUGIN
    cluster, pod = make_cluster(nodes), make_pod("p", tolerations=given_)
    for index in gone & set(range(1, len(nodes))):
        cluster.remove_node(f"n{index}")
    left = {
        node.metadata.name: untolerated_on(node, pod, comparison=comparison)
        for node in nodes
        if cluster.nodes.is_present(node.metadata.name)
    }
    assert filter_answers(plugin, pod, cluster) == {
        name: UNTOLERATED if {"NoSchedule", "NoExecute"} & set(effects) else None
        for name, effects in left.items()
    }
    counts = {name: effects.count("PreferNoSchedule") for name, effects in left.items()}
    most = max(counts.values())
    assert score_answers(plugin, pod, cluster) == (
        counts,
        {name: 100 - (100 * count // most if most else 0) for name, count in counts.items()},
    )


def test_three_one_and_two_soft_taints_score_0_67_and_34() -> None:
    soft = [(key, "", "PreferNoSchedule") for key in ("a", "b", "c")]
    cluster = make_cluster(
        make_node(name, taints=soft[:count]) for name, count in (("x", 3), ("y", 1), ("z", 2))
    )
    assert score_answers(PLUGIN, make_pod("p"), cluster) == (
        {"x": 3, "y": 1, "z": 2},
        {"x": 0, "y": 67, "z": 34},
    )


def test_without_soft_taints_every_node_has_full_marks() -> None:
    cluster = make_cluster([make_node("a"), make_node("b", taints=[("k", "", "NoExecute")])])
    assert score_answers(PLUGIN, make_pod("p"), cluster) == (
        {"a": 0, "b": 0},
        {"a": 100, "b": 100},
    )


def test_scoring_without_pre_score_fails_in_upstreams_words() -> None:
    cluster = make_cluster([make_node("a")])
    with pytest.raises(StateMissing) as failure:
        PLUGIN.score(cycle_for(make_pod("p"), cluster), present_rows(cluster))
    assert str(failure.value) == (
        'failed to read "PreScoreTaintToleration" from cycleState: not found'
    )


def test_a_node_whose_hard_taints_are_tolerated_now_requeues() -> None:
    registration = PLUGIN.events()[0]
    assert registration[:2] == (Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
    hint = registration.hint
    assert hint is not None
    pod = make_cluster().infos.of(make_pod("p", tolerations=[{"key": "ok", "operator": "Exists"}]))
    bad = make_node("n", taints=[("k", "", "NoSchedule")])
    fine = make_node("n", taints=[("ok", "", "NoSchedule"), ("k", "", "PreferNoSchedule")])
    assert hint(pod, None, fine)
    assert hint(pod, bad, fine)
    assert not hint(pod, fine, fine)
    assert not hint(pod, None, bad)
    assert not hint(pod, fine, bad)
    assert not hint(pod, bad, bad)


def test_a_change_of_the_pods_own_tolerations_requeues() -> None:
    registration = PLUGIN.events()[1]
    assert registration[:2] == (Resource.POD, Action.UPDATE_POD_TOLERATION)
    hint = registration.hint
    assert hint is not None
    waiting = make_cluster().infos.of(make_pod("p"))
    assert hint(waiting, waiting.pod, make_pod("p", tolerations=[{"key": "useless"}]))
    assert not hint(waiting, None, make_pod("other", tolerations=[{"operator": "Exists"}]))

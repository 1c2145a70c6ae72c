"""NodeUnschedulable: cordoned nodes."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import unresolvable
from podium.scheduler.plugins.node_unschedulable import NodeUnschedulable
from podium.testing import filter_answers, make_cluster, make_handle, make_node, make_pod

CORDONED = unresolvable("node(s) were unschedulable")
TOLERANT = [
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
]

PLUGIN = NodeUnschedulable(None, make_handle())


@given(
    cordons=st.lists(st.booleans(), min_size=1, max_size=6),
    gone=st.sets(st.integers(0, 5)),
    tolerations=st.sampled_from(
        (
            None,
            TOLERANT,
            [{"operator": "Exists"}],
            [{"key": "node.kubernetes.io/unschedulable"}],
            [{"key": "node.kubernetes.io/unschedulable", "effect": "NoExecute"}],
            [{"key": "node.kubernetes.io/unschedulable", "value": "true"}],
            [{"key": "other", "operator": "Exists"}],
        )
    ),
)
def test_cordoned_nodes_take_only_pods_that_tolerate_it(
    cordons: list[bool], gone: set[int], tolerations: list[dict[str, Any]] | None
) -> None:
    cluster = make_cluster(
        make_node(f"n{i}", unschedulable=cordoned) for i, cordoned in enumerate(cordons)
    )
    for index in gone:
        cluster.remove_node(f"n{index}")
    accepted = tolerations is not None and (
        tolerations[0].get("key", "") in ("", "node.kubernetes.io/unschedulable")
        and tolerations[0].get("effect", "") in ("", "NoSchedule")
        and (tolerations[0].get("operator") == "Exists" or not tolerations[0].get("value"))
    )
    assert filter_answers(PLUGIN, make_pod("p", tolerations=tolerations), cluster) == {
        f"n{i}": CORDONED if cordoned and not accepted else None
        for i, cordoned in enumerate(cordons)
        if i not in gone
    }


def test_the_taint_without_the_cordon_does_not_reject() -> None:
    taint = ("node.kubernetes.io/unschedulable", "", "NoSchedule")
    cluster = make_cluster([make_node("tainted", taints=[taint])])
    assert filter_answers(PLUGIN, make_pod("p"), cluster) == {"tainted": None}


def test_a_node_that_is_schedulable_now_and_was_not_requeues() -> None:
    registration = PLUGIN.events()[0]
    assert registration[:2] == (Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT)
    hint = registration.hint
    assert hint is not None
    pod = make_cluster().infos.of(make_pod("p"))
    cordoned, free = make_node("n", unschedulable=True), make_node("n")
    assert hint(pod, None, free)
    assert hint(pod, cordoned, free)
    assert not hint(pod, None, cordoned)
    assert not hint(pod, free, free)
    assert not hint(pod, free, cordoned)
    assert not hint(pod, cordoned, cordoned)


def test_the_pods_own_new_toleration_requeues() -> None:
    registration = PLUGIN.events()[1]
    assert registration[:2] == (Resource.POD, Action.UPDATE_POD_TOLERATION)
    hint = registration.hint
    assert hint is not None
    waiting = make_cluster().infos.of(make_pod("p"))
    assert hint(waiting, waiting.pod, make_pod("p", tolerations=TOLERANT))
    assert not hint(waiting, waiting.pod, make_pod("p", tolerations=[{"key": "x"}]))
    assert not hint(waiting, None, make_pod("other", tolerations=TOLERANT))

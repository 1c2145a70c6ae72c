"""NodeDeclaredFeatures: features pods need and nodes declare."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.scheduler.framework.cycle import StateMissing
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, unresolvable
from podium.scheduler.plugins.node_declared_features import (
    FEATURES,
    NodeDeclaredFeatures,
    declared_bits,
)
from podium.testing import (
    cycle_for,
    filter_answers,
    make_cluster,
    make_handle,
    make_node,
    make_pod,
    present_rows,
)

MISSING = unresolvable("node(s) didn't match Pod's required features")
RESTART_ALL = "RestartAllContainersOnContainerExits"
HOST_NETWORK = "UserNamespacesHostNetworkSupport"

PLUGIN = NodeDeclaredFeatures(None, make_handle())
RULE = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
CONTAINER: dict[str, Any] = {"name": "c", "image": "app"}
HOST_USERS: dict[str, Any] = {"hostNetwork": True, "hostUsers": False}


@st.composite
def needs(draw: st.DrawFn) -> tuple[dict[str, Any], set[str]]:
    """A pod's spec, and the features it needs."""
    spec: dict[str, Any] = {}
    needed: set[str] = set()
    match draw(st.integers(0, 3)):
        case 1:
            spec["containers"] = [CONTAINER | {"restartPolicyRules": RULE}]
            needed.add(RESTART_ALL)
        case 2:
            spec["initContainers"] = [CONTAINER | {"name": "i", "restartPolicyRules": RULE}]
            needed.add(RESTART_ALL)
        case 3:
            spec["containers"] = [CONTAINER | {"restartPolicyRules": [{"action": "Restart"}]}]
    spec["hostNetwork"] = draw(st.booleans())
    spec["hostUsers"] = draw(st.none() | st.booleans())
    if spec["hostNetwork"] and spec["hostUsers"] is False:
        needed.add(HOST_NETWORK)
    return spec, needed


@given(
    pod=needs(),
    declared=st.lists(
        st.sets(st.sampled_from((*FEATURES, "Another", "Zebra"))).map(sorted),
        min_size=1,
        max_size=5,
    ),
)
def test_a_node_must_declare_all_that_a_pod_needs(
    pod: tuple[dict[str, Any], set[str]], declared: list[list[str]]
) -> None:
    spec, needed = pod
    cluster = make_cluster(make_node(f"n{i}", features=f) for i, f in enumerate(declared))
    assert filter_answers(PLUGIN, make_pod("p", **spec), cluster) == {
        f"n{i}": None if needed <= set(f) else MISSING for i, f in enumerate(declared)
    }


def test_a_pod_without_needs_skips() -> None:
    cluster = make_cluster([make_node("a")])
    assert PLUGIN.pre_filter(cycle_for(make_pod("p"), cluster)) is SKIP
    assert PLUGIN.pre_filter(cycle_for(make_pod("p", hostNetwork=True), cluster)) is SKIP


def test_with_its_gate_off_it_does_nothing() -> None:
    handle = make_handle(
        NodeDeclaredFeatures=False,
        ExtendWebSocketsToKubelet=False,
        InPlacePodLevelResourcesVerticalScaling=False,
        InPlacePodVerticalScalingInitContainers=False,
        RestartAllContainersOnContainerExits=False,
    )
    plugin = NodeDeclaredFeatures(None, handle)
    cluster = make_cluster([make_node("a")])
    cycle = cycle_for(make_pod("p", **HOST_USERS), cluster)
    assert plugin.pre_filter(cycle) is SKIP
    assert plugin.filter(cycle, present_rows(cluster)) is None
    assert plugin.events() == ()


def test_a_feature_behind_one_that_sorts_after_it_is_missed() -> None:
    last = 1 << len(FEATURES) - 1
    assert declared_bits(sorted((HOST_NETWORK, RESTART_ALL))) == last | last >> 1
    assert declared_bits((HOST_NETWORK, RESTART_ALL)) == last
    assert declared_bits(("Zebra", HOST_NETWORK)) == 0
    assert declared_bits(()) == 0


def test_filtering_without_pre_filter_fails_in_upstreams_words() -> None:
    cluster = make_cluster([make_node("a")])
    with pytest.raises(StateMissing) as failure:
        PLUGIN.filter(cycle_for(make_pod("p"), cluster), present_rows(cluster))
    assert str(failure.value) == (
        'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    )


def test_a_node_with_another_list_requeues() -> None:
    registration = PLUGIN.events()[0]
    assert registration[:2] == (
        Resource.NODE,
        Action.ADD | Action.UPDATE_NODE_DECLARED_FEATURE,
    )
    hint = registration.hint
    assert hint is not None
    waiting = make_cluster().infos.of(make_pod("p", **HOST_USERS))
    bare, useless = make_node("n"), make_node("n", features=["Another"])
    assert hint(waiting, None, bare)
    assert hint(waiting, bare, useless)
    assert not hint(waiting, useless, useless)


def test_a_change_of_what_the_pod_itself_needs_requeues() -> None:
    registration = PLUGIN.events()[1]
    assert registration[:2] == (Resource.POD, Action.UPDATE)
    hint = registration.hint
    assert hint is not None
    needy, modest = make_pod("p", **HOST_USERS), make_pod("p", hostNetwork=True)
    waiting = make_cluster().infos.of(needy)
    assert hint(waiting, needy, modest)
    assert not hint(waiting, needy, make_pod("p", labels={"a": "b"}, **HOST_USERS))
    assert not hint(waiting, make_pod("q", **HOST_USERS), make_pod("q"))

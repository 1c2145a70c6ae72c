"""NodeAffinity: required terms filter, preferred terms score."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import NodeAffinity as WrittenAffinity
from podium.kubernetes.kinds.pod import NodeSelector, Pod, PreferredSchedulingTerm
from podium.kubernetes.rules.node_affinity import (
    NodeSelectorError,
    parse_node_selector,
    preferred_of,
)
from podium.kubernetes.rules.node_affinity import required_of as required_by
from podium.scheduler.config.plugin_args import NodeAffinityArgs
from podium.scheduler.framework.events import Action, Resource
from podium.scheduler.framework.status import SKIP, Status, unresolvable
from podium.scheduler.plugins.node_affinity import NodeAffinity
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

ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
MISMATCH = unresolvable("node(s) didn't match Pod's node affinity/selector")
CONFLICT = unresolvable("pod affinity terms conflict")

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

NAMES = ("n1", "n2", "n3", "n4")


Term = dict[str, Any]


def affinity_of(
    required: list[Term] | None = None, preferred: list[Term] | None = None
) -> dict[str, Any]:
    """A node affinity as users write it; None leaves a part out."""
    affinity: dict[str, Any] = {}
    if required is not None:
        affinity[REQUIRED] = {"nodeSelectorTerms": required}
    if preferred is not None:
        affinity[PREFERRED] = preferred
    return affinity


def added(required: list[Term] | None = None, preferred: list[Term] | None = None) -> NodeAffinity:
    """The plugin of a profile that adds an affinity."""
    written = msgspec.convert(affinity_of(required, preferred), WrittenAffinity)
    return NodeAffinity(NodeAffinityArgs(added_affinity=written), make_handle())


def affine(
    required: list[Term] | None = None,
    preferred: list[Term] | None = None,
    selector: dict[str, str] | None = None,
) -> Pod:
    """A pod with a node affinity and a nodeSelector."""
    affinity = affinity_of(required, preferred)
    return make_pod("p", affinity={"nodeAffinity": affinity}, nodeSelector=selector)


def zone(*values: str) -> Term:
    return {"matchExpressions": [{"key": "zone", "operator": "In", "values": list(values)}]}


def named(*names: str, operator: str = "In") -> Term:
    field = {"key": "metadata.name", "operator": operator, "values": list(names)}
    return {"matchFields": [field]}


PLUGIN = NodeAffinity(None, make_handle())

BROKEN = {"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a"]}]}

label_maps = st.dictionaries(
    st.sampled_from(("zone", "rank")), st.sampled_from(("a", "b", "3", "7")), max_size=2
)
node_lists = st.lists(label_maps, min_size=1, max_size=4).map(
    lambda maps: [make_node(n, labels=m) for n, m in zip(NAMES, maps, strict=False)]
)
terms = st.sampled_from(
    (
        {},
        zone("a"),
        zone("a", "b"),
        {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]},
        {"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]},
        {"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["3"]}]},
        {"matchExpressions": [{"key": "rank", "operator": "Lt", "values": ["4"]}]},
        named("n1", operator="NotIn"),
        {**zone("a"), **named("n2", operator="NotIn")},
    )
)
required_lists = st.lists(st.one_of(terms, st.just(BROKEN)), max_size=3)
preferred_lists = st.lists(
    st.fixed_dictionaries({"weight": st.integers(0, 100), "preference": terms}), max_size=3
)


def filtered(node: Node, pod: Pod, enforced: list[Term] | None) -> Status | None:
    labels, name = node.metadata.labels, node.metadata.name
    if enforced is not None:
        written = msgspec.convert({"nodeSelectorTerms": enforced}, NodeSelector)
        if not any(term.matches(labels, name) for term in parse_node_selector(written)):
            return ENFORCED
    return None if required_by(pod).matches(labels, name) else MISMATCH


@given(
    nodes=node_lists,
    own=st.none() | required_lists,
    enforced=st.none() | st.lists(terms, max_size=2),
    selector=st.none() | label_maps,
)
def test_filtering_columns_answers_as_single_nodes_do(
    nodes: list[Node],
    own: list[Term] | None,
    enforced: list[Term] | None,
    selector: dict[str, str] | None,
) -> None:
    pod = affine(own, selector=selector)
    assert filter_answers(added(enforced), pod, make_cluster(nodes)) == {
        node.metadata.name: filtered(node, pod, enforced) for node in nodes
    }


@given(nodes=node_lists, own=st.none() | preferred_lists, extra=st.none() | preferred_lists)
def test_scoring_columns_answers_as_single_nodes_do(
    nodes: list[Node], own: list[Term] | None, extra: list[Term] | None
) -> None:
    plugin = added(preferred=extra)
    answers = score_answers(plugin, affine(preferred=own), make_cluster(nodes))
    if own is None and not extra:
        assert answers is None
        return
    listed = [*(extra or ()), *(own or ())]
    entries = preferred_of(msgspec.convert(listed, tuple[PreferredSchedulingTerm, ...]))
    raw = {
        node.metadata.name: sum(
            entry.weight
            for entry in entries
            if entry.term.matches(node.metadata.labels, node.metadata.name)
        )
        for node in nodes
    }
    most = max(raw.values())
    scaled = {name: 100 * score // most if most else 0 for name, score in raw.items()}
    assert answers == (raw, scaled)


def test_weights_3_and_4_score_as_the_spec_says() -> None:
    cluster = make_cluster(
        make_node(name, labels={"zone": z}) for name, z in (("n1", "a"), ("n2", "b"), ("n3", "b"))
    )
    pod = affine(
        preferred=[
            {"weight": 3, "preference": zone("b")},
            {"weight": 4, "preference": named("n2")},
            {"weight": 50, "preference": {}},
        ]
    )
    assert score_answers(PLUGIN, pod, cluster) == (
        {"n1": 0, "n2": 7, "n3": 3},
        {"n1": 0, "n2": 100, "n3": 42},
    )


def test_a_pod_without_wishes_skips_and_an_empty_selector_does_not() -> None:
    cluster = make_cluster([make_node("n1")])
    rows = present_rows(cluster)
    assert PLUGIN.pre_filter(cycle_for(make_pod("p"), cluster)) is SKIP
    assert PLUGIN.pre_score(cycle_for(make_pod("p"), cluster), rows) is SKIP
    assert PLUGIN.pre_filter(cycle_for(make_pod("p", nodeSelector={}), cluster)) is None
    assert PLUGIN.pre_score(cycle_for(affine(preferred=[]), cluster), rows) is None


def test_what_a_profile_adds_is_never_skipped() -> None:
    cluster = make_cluster([make_node("n1", labels={"zone": "a"})])
    plugin = added(required=[zone("a")], preferred=[{"weight": 1, "preference": {}}])
    assert plugin.pre_filter(cycle_for(make_pod("p"), cluster)) is None
    assert plugin.pre_score(cycle_for(make_pod("p"), cluster), present_rows(cluster)) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([named("n1")], frozenset({"n1"})),
        ([named("n1"), named("n2", "n3")], frozenset({"n1", "n2", "n3"})),
        ([named("n1"), zone("a")], None),
        ([named("n1", operator="NotIn")], None),
        ([{"matchFields": named("n1")["matchFields"] + named("n2")["matchFields"]}], CONFLICT),
        ([], None),
    ],
)
def test_names_narrow_the_search(
    written: list[Term], expected: frozenset[str] | Status | None
) -> None:
    cluster = make_cluster(map(make_node, NAMES))
    pod = affine(written)
    assert PLUGIN.pre_filter(cycle_for(pod, cluster)) == expected


def test_two_names_in_one_field_narrow_the_search_to_nodes_that_then_fail() -> None:
    cluster = make_cluster(map(make_node, NAMES))
    pod = affine([named("n1", "n2")])
    assert PLUGIN.pre_filter(cycle_for(pod, cluster)) == frozenset({"n1", "n2"})
    assert set(filter_answers(PLUGIN, pod, cluster).values()) == {MISMATCH}


def test_one_bad_preference_fails_the_attempt() -> None:
    cluster = make_cluster([make_node("n1")])
    listed = [{"weight": 1, "preference": zone("a")}, {"weight": 1, "preference": BROKEN}]
    cycle = cycle_for(affine(preferred=listed), cluster)
    with pytest.raises(NodeSelectorError, match=r"\[1\]\.matchExpressions\[0\]\.operator"):
        PLUGIN.pre_score(cycle, present_rows(cluster))


def test_an_added_affinity_must_parse_as_a_whole() -> None:
    with pytest.raises(NodeSelectorError, match=f"^parsing addedAffinity.{REQUIRED}: "):
        added(required=[zone("a"), BROKEN])
    with pytest.raises(NodeSelectorError, match=f"^parsing addedAffinity.{PREFERRED}: "):
        added(preferred=[{"weight": 1, "preference": BROKEN}])


def hint_of(plugin: NodeAffinity, pod: Pod, old: Node | None, new: Node) -> bool:
    (registration,) = plugin.events()
    assert registration[:2] == (Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)
    assert registration.hint is not None
    return registration.hint(make_cluster().infos.of(pod), old, new)


def test_a_node_that_matches_now_and_did_not_before_requeues() -> None:
    pod = affine([zone("a")])
    matching, other = make_node("n", labels={"zone": "a"}), make_node("n", labels={"zone": "b"})
    assert hint_of(PLUGIN, pod, None, matching)
    assert hint_of(PLUGIN, pod, other, matching)
    assert not hint_of(PLUGIN, pod, matching, matching)
    assert not hint_of(PLUGIN, pod, None, other)
    assert not hint_of(PLUGIN, pod, matching, other)


def test_a_node_the_added_affinity_refuses_does_not_requeue() -> None:
    plugin = added([zone("a")])
    pod = make_pod("p", nodeSelector={"disk": "ssd"})
    both = make_node("n", labels={"zone": "a", "disk": "ssd"})
    only_own = make_node("n", labels={"zone": "b", "disk": "ssd"})
    assert hint_of(plugin, pod, None, both)
    assert not hint_of(plugin, pod, None, only_own)
    # the pod's own affinity matched before, which is all that is compared
    assert not hint_of(plugin, pod, only_own, both)


def test_a_term_that_cannot_be_parsed_requeues_to_be_safe() -> None:
    pod = affine([zone("a"), BROKEN], selector={"disk": "ssd"})
    matching = make_node("n", labels={"zone": "a", "disk": "ssd"})
    unclear = make_node("n", labels={"zone": "b", "disk": "ssd"})
    assert hint_of(PLUGIN, pod, None, unclear)
    assert hint_of(PLUGIN, pod, matching, unclear)
    assert not hint_of(PLUGIN, pod, matching, matching)
    assert not hint_of(PLUGIN, pod, None, make_node("n", labels={"zone": "b"}))

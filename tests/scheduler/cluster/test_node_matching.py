"""Selecting rows by node selector terms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import Requirement, selector_of_map
from podium.kubernetes.rules.node_affinity import FieldRequirement, NodeTerm, RequiredNodeAffinity
from podium.scheduler.cluster.growth import Rows, indices
from podium.scheduler.cluster.node_matching import required_mask, term_mask, terms_mask
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node

KEYS = ("zone", "disk", "rank")
VALUES = ("a", "b", "", "1", "2", "10", "-3", "+4", "99999999999999999999")
NAMES = ("n0", "n1", "n2", "n3", "n4")

label_maps = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
requirements = st.one_of(
    st.builds(
        Requirement,
        st.sampled_from(KEYS),
        st.sampled_from(("In", "NotIn")),
        st.frozensets(st.sampled_from((*VALUES, "never")), min_size=1),
    ),
    st.builds(Requirement, st.sampled_from(KEYS), st.sampled_from(("Exists", "DoesNotExist"))),
    st.builds(
        Requirement,
        st.sampled_from(KEYS),
        st.sampled_from(("Gt", "Lt")),
        st.sampled_from(("0", "1", "5")).map(lambda text: frozenset((text,))),
    ),
)
fields = st.builds(
    FieldRequirement,
    st.sampled_from(("metadata.name", "spec.unschedulable")),
    st.sampled_from(("In", "NotIn")),
    st.sampled_from((*NAMES, "unknown", "")),
)
terms = st.builds(
    NodeTerm,
    st.lists(requirements, max_size=3).map(tuple),
    st.lists(fields, max_size=2).map(tuple),
    st.sampled_from((None, None, None, "broken")),
)
selectors = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2).map(
    selector_of_map
)
required = st.builds(
    RequiredNodeAffinity, selectors, st.none() | st.lists(terms, max_size=3).map(tuple)
)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A few labelled nodes, some of which came and went."""
    labels = draw(st.lists(label_maps, min_size=1, max_size=len(NAMES)))
    cluster = make_cluster(make_node(n, labels=m) for n, m in zip(NAMES, labels, strict=False))
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=2)):
        cluster.remove_node(name)
    if draw(st.booleans()):
        cluster.put_node(make_node(draw(st.sampled_from(NAMES)), labels=draw(label_maps)))
    return cluster


@st.composite
def row_choices(draw: st.DrawFn, cluster: Cluster) -> Rows:
    present = np.flatnonzero(cluster.nodes.present[: cluster.nodes.size])
    if cluster.nodes.dense() and draw(st.booleans()):
        return cluster.nodes.all_rows()
    if not len(present):
        return present
    picked = draw(st.lists(st.sampled_from(present.tolist()), unique=True))
    return np.array(picked, dtype=np.intp)


@given(data=st.data(), cluster=clusters(), affinity=required)
def test_rows_match_as_nodes_do(
    data: st.DataObject, cluster: Cluster, affinity: RequiredNodeAffinity
) -> None:
    rows = data.draw(row_choices(cluster))
    mask = required_mask(cluster.nodes, affinity, rows)
    expected = [
        affinity.matches(cluster.nodes.labels.labels_of(row), cluster.nodes.names[row])
        for row in indices(rows)
    ]
    assert expected == ([True] * len(expected) if mask is None else mask.tolist())


def test_no_restriction_is_no_mask() -> None:
    cluster = make_cluster([make_node("a")])
    assert required_mask(cluster.nodes, RequiredNodeAffinity(), slice(0, 1)) is None


def test_required_affinity_without_a_usable_term_matches_no_row() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])
    mask = required_mask(cluster.nodes, RequiredNodeAffinity(terms=()), slice(0, 2))
    assert mask is not None
    assert not mask.any()


def test_a_broken_term_does_not_spoil_the_others() -> None:
    cluster = make_cluster([make_node("a", labels={"zone": "x"}), make_node("b")])
    good = NodeTerm((Requirement("zone", "Exists"),))
    mask = terms_mask(cluster.nodes, (NodeTerm(error="bad"), good), slice(0, 2))
    assert mask.tolist() == [True, False]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("Gt", [True, False, False, False]), ("Lt", [False, True, False, False])],
)
def test_comparison_reads_integers_only(operator: str, expected: list[bool]) -> None:
    values = ("10", "-3", "1e3", "99999999999999999999")
    cluster = make_cluster(make_node(f"n{i}", labels={"rank": v}) for i, v in enumerate(values))
    term = NodeTerm((Requirement("rank", operator, frozenset(("5",))),))
    assert term_mask(cluster.nodes, term, slice(0, 4)).tolist() == expected


def test_comparison_follows_values_that_appear_later() -> None:
    cluster = make_cluster([make_node("a", labels={"rank": "1"})])
    term = NodeTerm((Requirement("rank", "Gt", frozenset(("5",))),))
    assert term_mask(cluster.nodes, term, slice(0, 1)).tolist() == [False]
    cluster.put_node(make_node("b", labels={"rank": "6"}))
    cluster.put_node(make_node("c"))
    assert term_mask(cluster.nodes, term, slice(0, 3)).tolist() == [False, True, False]


def test_a_mask_is_not_a_view_of_the_table() -> None:
    cluster = make_cluster([make_node("a", labels={"zone": "x"})])
    exists = NodeTerm((Requirement("zone", "Exists"),))
    mask = term_mask(cluster.nodes, exists, slice(0, 1))
    mask[:] = False
    assert term_mask(cluster.nodes, exists, slice(0, 1)).tolist() == [True]

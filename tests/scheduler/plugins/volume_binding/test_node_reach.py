"""Rows by conditions on labels, through an index that follows the nodes."""

from typing import Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.plugins.storage_builders import expression

from podium.kubernetes.kinds.pod import NodeSelector
from podium.kubernetes.rules.labels import IN, Requirement
from podium.kubernetes.rules.node_affinity import NodeTerm, parse_node_selector
from podium.scheduler.cluster.growth import Ints, Mask
from podium.scheduler.plugins.volume_binding.node_reach import EVERYWHERE, NONE, NodeReach, RowList
from podium.testing import make_cluster, make_node

keys = st.sampled_from(("zone", "host"))
values = st.sampled_from(("a", "b", "c"))
label_maps = st.dictionaries(keys, values)
expressions = st.one_of(
    st.builds(
        lambda k, o, v: expression(k, o, *v),
        keys,
        st.sampled_from(("In", "NotIn")),
        st.lists(values, min_size=1, max_size=2),
    ),
    st.builds(expression, keys, st.sampled_from(("Exists", "DoesNotExist"))),
    st.just(expression("zone", "Near", "a")),
)
selectors = st.lists(st.lists(expressions, max_size=2), max_size=3).map(
    lambda terms: terms_of(*terms)
)


def terms_of(*terms: list[dict[str, Any]]) -> tuple[NodeTerm, ...]:
    raw = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return parse_node_selector(msgspec.convert(raw, NodeSelector))


@given(
    labels=st.lists(label_maps, min_size=1, max_size=5),
    wanted=st.lists(selectors, min_size=1, max_size=3),
    changes=st.lists(st.tuples(st.integers(0, 6), st.none() | label_maps), max_size=4),
)
def test_row_lists_follow_the_labels_of_nodes(
    labels: list[dict[str, str]],
    wanted: list[tuple[NodeTerm, ...]],
    changes: list[tuple[int, dict[str, str] | None]],
) -> None:
    cluster = make_cluster(make_node(f"n{i}", labels=found) for i, found in enumerate(labels))
    reach = NodeReach(cluster.nodes)
    numbers = [reach.of_terms(terms) for terms in wanted]

    def check() -> None:
        reach.refresh()
        for number, terms in zip(numbers, wanted, strict=True):
            mask = reach.mask(number)
            for row in range(cluster.nodes.size):
                if cluster.nodes.present[row]:
                    found = cluster.nodes.labels.labels_of(row)
                    assert mask[row] == any(term.matches(found, "") for term in terms)

    check()
    for row, changed in changes:
        if changed is None:
            cluster.remove_node(f"n{row}")
        else:
            cluster.put_node(make_node(f"n{row}", labels=changed))
        check()


def test_equal_conditions_share_a_number() -> None:
    reach = NodeReach(make_cluster([make_node("n")]).nodes)
    first = reach.of_terms(terms_of([expression("zone", "In", "a", "b")]))
    again = reach.of_terms(terms_of([expression("zone", "In", "b", "a")]))
    assert first == again
    assert first != reach.of_terms(terms_of([expression("zone", "In", "a")]))


def test_no_affinity_reaches_everywhere_and_no_term_nowhere() -> None:
    cluster = make_cluster([make_node("n")])
    reach = NodeReach(cluster.nodes)
    assert reach.of_terms(None) == EVERYWHERE
    assert reach.rows(EVERYWHERE) is None
    assert reach.mask(EVERYWHERE).tolist() == [True]
    assert reach.mask(reach.of_terms(())).tolist() == [False]


def test_a_local_volume_is_one_row() -> None:
    cluster = make_cluster(make_node(f"n{i}", labels={"host": f"n{i}"}) for i in range(9))
    reach = NodeReach(cluster.nodes)
    number = reach.of_conditions(((Requirement("host", IN, frozenset({"n4"})),),))
    rows = reach.rows(number)
    assert rows is not None
    assert rows.tolist() == [4]


@given(
    labels=st.lists(label_maps, min_size=1, max_size=5),
    wanted=st.lists(st.none() | selectors, max_size=5),
    closed=st.sets(st.integers(0, 4)),
    barred=st.none() | st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4))),
)
def test_each_row_gets_the_first_offer_that_reaches_it(
    labels: list[dict[str, str]],
    wanted: list[tuple[NodeTerm, ...] | None],
    closed: set[int],
    barred: set[tuple[int, int]] | None,
) -> None:
    cluster = make_cluster(make_node(f"n{i}", labels=found) for i, found in enumerate(labels))
    reach = NodeReach(cluster.nodes)
    offers = np.array([reach.of_terms(terms) for terms in wanted], dtype=np.int64)
    open_rows = np.array([row not in closed for row in range(len(labels))])

    def allowed(positions: Ints, rows: RowList) -> Mask:
        pairs = zip(positions.tolist(), rows.tolist(), strict=True)
        return np.array([pair not in (barred or set()) for pair in pairs], dtype=np.bool_)

    picks = reach.first_fit(offers, open_rows, allowed if barred is not None else None)
    for row in range(len(labels)):
        fitting = (
            position
            for position, number in enumerate(offers.tolist())
            if open_rows[row]
            and reach.mask(number)[row]
            and (position, row) not in (barred or set())
        )
        assert picks[row] == next(fitting, NONE)

"""Selecting rows by taints that are not tolerated."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Toleration
from podium.kubernetes.rules.tolerations import HARD_EFFECTS, PREFER_NO_SCHEDULE, tolerates
from podium.scheduler.cluster.node_matching import untolerated_counts, untolerated_mask
from podium.testing import make_cluster, make_node

EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")

taints = st.tuples(
    st.sampled_from(("gpu", "spot", "size")),
    st.sampled_from(("", "true", "5", "12")),
    st.sampled_from(EFFECTS),
)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(("", "gpu", "spot", "size")),
    operator=st.sampled_from(("", "Equal", "Exists", "Lt", "Gt", "Odd")),
    value=st.sampled_from(("", "true", "5", "7")),
    effect=st.sampled_from(("", *EFFECTS)),
)
node_lists = st.lists(st.lists(taints, max_size=3, unique=True), min_size=1, max_size=5).map(
    lambda sets: [make_node(f"n{i}", taints=t) for i, t in enumerate(sets)]
)


def count_on(
    node: Node, given_: list[Toleration], effects: frozenset[str], *, comparison: bool
) -> int:
    return sum(
        taint.effect in effects
        and not any(
            tolerates(t, taint.key, taint.value, taint.effect, comparison=comparison)
            for t in given_
        )
        for taint in node.spec.taints or ()
    )


@given(
    nodes=node_lists,
    tolerated=st.lists(tolerations, max_size=3),
    effects=st.frozensets(st.sampled_from(EFFECTS)),
    comparison=st.booleans(),
    data=st.data(),
)
def test_rows_count_as_nodes_do(
    nodes: list[Node],
    tolerated: list[Toleration],
    effects: frozenset[str],
    comparison: bool,
    data: st.DataObject,
) -> None:
    table = make_cluster(nodes).nodes
    picked = data.draw(st.lists(st.sampled_from(range(len(nodes))), unique=True))
    for rows in (table.all_rows(), np.array(picked, dtype=np.intp)):
        numbers = range(len(nodes)) if isinstance(rows, slice) else picked
        expected = [
            count_on(nodes[row], tolerated, effects, comparison=comparison) for row in numbers
        ]
        counts = untolerated_counts(table, tolerated, effects, rows, comparison=comparison)
        mask = untolerated_mask(table, tolerated, effects, rows, comparison=comparison)
        assert expected == ([0] * len(expected) if counts is None else counts.tolist())
        flags = [False] * len(expected) if mask is None else mask.tolist()
        assert flags == [count > 0 for count in expected]


def test_without_taints_there_is_no_mask() -> None:
    table = make_cluster([make_node("a"), make_node("b")]).nodes
    assert untolerated_mask(table, (), HARD_EFFECTS, slice(0, 2), comparison=False) is None


def test_tolerations_that_cover_every_taint_give_no_mask() -> None:
    table = make_cluster([make_node("a", taints=[("k", "v", "NoSchedule")])]).nodes
    everything = (Toleration(operator="Exists"),)
    assert untolerated_mask(table, everything, HARD_EFFECTS, slice(0, 1), comparison=False) is None


def test_taints_that_appear_later_are_seen() -> None:
    cluster = make_cluster([make_node("a", taints=[("k", "v", "NoSchedule")])])
    soft = frozenset((PREFER_NO_SCHEDULE,))
    assert untolerated_mask(cluster.nodes, (), soft, slice(0, 1), comparison=False) is None
    cluster.put_node(make_node("b", taints=[("k", "v", "PreferNoSchedule")]))
    mask = untolerated_mask(cluster.nodes, (), soft, slice(0, 2), comparison=False)
    assert mask is not None
    assert mask.tolist() == [False, True]


def test_a_node_that_loses_its_taints_is_seen() -> None:
    cluster = make_cluster(
        [
            make_node("a", taints=[("k", "", "NoExecute")]),
            make_node("b", taints=[("k", "", "NoExecute")]),
        ]
    )
    cluster.put_node(make_node("a"))
    mask = untolerated_mask(cluster.nodes, (), HARD_EFFECTS, slice(0, 2), comparison=False)
    assert mask is not None
    assert mask.tolist() == [False, True]

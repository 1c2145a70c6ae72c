"""Nodes that stand in the table for a moment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import IN
from podium.kubernetes.rules.node_affinity import NAME_FIELD, FieldRequirement, NodeTerm
from podium.scheduler.cluster.audit import Audit
from podium.scheduler.cluster.node_matching import term_mask
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.trials import TemporaryNodes
from podium.testing import make_cluster, make_node, make_pod


def home() -> Cluster:
    nodes = [make_node("a", labels={"x": "1"}, images={"i:1": 5}), make_node("b")]
    return make_cluster(nodes, [make_pod("p", node="a", requests={"cpu": 1})])


def test_guests_have_rows_of_their_own_behind_all_others() -> None:
    cluster = home()
    with TemporaryNodes(cluster, [make_node("a", labels={"x": "2"}), make_node("z")]) as rows:
        assert rows.tolist() == [2, 3]
        assert [cluster.nodes.names[row] for row in rows] == ["a", "z"]
        assert cluster.nodes.labels.labels_of(2) == {"x": "2"}
        assert (cluster.nodes.row("a"), cluster.nodes.row("z")) == (0, -1)


def test_a_guest_has_no_pods_no_usage_and_no_images() -> None:
    cluster = home()
    guest = make_node("a", images={"i:1": 5})
    with TemporaryNodes(cluster, [guest]) as rows:
        assert list(cluster.usage.pods(int(rows[0]))) == []
        assert cluster.usage.requested[0, rows].tolist() == [0]
        state = cluster.nodes.images.state("i:1")
        assert state is not None
        assert state.rows.tolist() == [0]
        assert cluster.nodes.node(int(rows[0])) is guest


@pytest.mark.parametrize("whole", [True, False])
def test_a_name_means_the_guest_as_well(whole: bool) -> None:
    cluster = home()
    term = NodeTerm(fields=(FieldRequirement(NAME_FIELD, IN, "a"),))
    with TemporaryNodes(cluster, [make_node("a"), make_node("b")]):
        rows = cluster.nodes.all_rows() if whole else np.arange(4)
        assert term_mask(cluster.nodes, term, rows).tolist() == [True, False, True, False]


def test_a_guest_that_cannot_be_seated_leaves_nobody_behind() -> None:
    cluster = home()
    broken = make_node("z", allocatable={"cpu": "what"})
    with pytest.raises(ValueError, match="what"), TemporaryNodes(cluster, [make_node("a"), broken]):
        pass
    assert cluster.nodes.size == 2
    assert list(Audit(cluster).find_violations()) == []


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 200), st.booleans())
def test_the_table_is_as_it_was_when_guests_have_gone(count: int, gap: bool) -> None:
    cluster = home()
    if gap:
        cluster.remove_node("b")
    before = (cluster.nodes.size, cluster.nodes.present_count, cluster.node_order().tolist())
    with TemporaryNodes(cluster, [make_node(f"g{number}") for number in range(count)]):
        pass
    after = (cluster.nodes.size, cluster.nodes.present_count, cluster.node_order().tolist())
    assert before == after
    assert list(Audit(cluster).find_violations()) == []
    cluster.put_node(make_node("c"))
    assert list(Audit(cluster).find_violations()) == []

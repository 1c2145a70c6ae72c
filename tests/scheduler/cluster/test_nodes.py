"""The static columns: rows for life, growth, and what a row shows of its node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.growth import FIRST_CAPACITY
from podium.scheduler.cluster.nodes import CPU, EPHEMERAL_STORAGE, MEMORY, NodeTable
from podium.scheduler.cluster.state import Cluster
from podium.testing import make_cluster, make_node

GPU = "example.com/gpu"


def lengths(table: NodeTable) -> set[int]:
    """The lengths of everything that has one entry per row."""
    columns = (
        table.present,
        table.unschedulable,
        table.taint_set,
        table.feature_set,
        table.allowed_pods,
        table.changed,
        table.allocatable[0],
        *(table.labels.codes(key) for key in table.labels.keys()),  # noqa: SIM118
    )
    return {*(len(column) for column in columns), len(table.names), len(table.objects)}


def test_a_node_keeps_its_row_while_others_come_and_go() -> None:
    cluster = make_cluster([make_node("a"), make_node("b"), make_node("c")])
    rows = {name: cluster.nodes.row(name) for name in "abc"}
    cluster.remove_node("a")
    cluster.put_node(make_node("c", labels={"new": "label"}))
    cluster.put_node(make_node("d"))
    assert cluster.nodes.row("b") == rows["b"]
    assert cluster.nodes.row("c") == rows["c"]


def test_a_free_row_is_used_again_and_shows_nothing_of_its_last_node() -> None:
    old = make_node(
        "old",
        labels={"zone": "z"},
        taints=[("k", "v", "NoSchedule")],
        allocatable={"cpu": "4", GPU: 8, "pods": 10},
        unschedulable=True,
        images={"app:v1": 100},
        features=["F"],
    )
    cluster = make_cluster([old, make_node("other")])
    table = cluster.nodes
    zone = table.labels.codes("zone")
    row = table.row("old")
    cluster.remove_node("old")
    assert table.images.state("app:v1") is None
    assert table.row("old") == -1
    assert not table.is_present("old")
    cluster.put_node(make_node("new", allocatable={"memory": "1Gi"}))
    assert table.row("new") == row
    assert table.size == 2
    assert table.allocatable[:, row].tolist() == [0, 2**30, 0, 0]
    assert table.allowed_pods[row] == 0
    assert zone[row] == -1
    assert not table.unschedulable[row]
    assert table.taint_sets[table.taint_set[row]] == ()
    assert table.feature_sets[table.feature_set[row]] == ()
    assert (table.tainted_count, table.unschedulable_count) == (0, 0)


def test_more_nodes_than_room_widen_every_column_at_once() -> None:
    count = 2 * FIRST_CAPACITY + 1
    cluster = Cluster(ALL_REQUESTS)
    cluster.nodes.labels.column("number")
    for number in range(count):
        cluster.put_node(
            make_node(
                f"n{number}",
                labels={"number": str(number)},
                allocatable={"cpu": number, "pods": number},
                unschedulable=number % 2 == 0,
            )
        )
    table = cluster.nodes
    assert lengths(table) == {table.capacity}
    assert table.capacity >= count == table.size == table.present_count
    assert table.allocatable[CPU, :count].tolist() == [1000 * n for n in range(count)]
    assert table.allowed_pods[:count].tolist() == list(range(count))
    assert table.unschedulable[:count].tolist() == [n % 2 == 0 for n in range(count)]
    column = table.labels.column("number")
    assert [column.values[c] for c in column.codes[:count]] == [str(n) for n in range(count)]
    assert (column.codes[count:] == -1).all()
    assert not table.present[count:].any()


def test_resources_get_a_row_the_first_time_they_are_seen() -> None:
    cluster = make_cluster([make_node("a", allocatable={"cpu": "1500m", "memory": "1Gi"})])
    table = cluster.nodes
    assert table.allocatable[:, 0].tolist() == [1500, 2**30, 0]
    cluster.put_node(make_node("b", allocatable={GPU: 4, "ephemeral-storage": "10G"}))
    gpu = table.resources.find(GPU)
    assert table.allocatable[gpu, :2].tolist() == [0, 4]
    assert table.allocatable[EPHEMERAL_STORAGE, :2].tolist() == [0, 10**10]
    assert table.allocatable[MEMORY, :2].tolist() == [2**30, 0]
    cluster.put_node(make_node("b", allocatable={"cpu": "1"}))
    assert table.allocatable[gpu, 1] == 0


def test_equal_taint_sets_share_a_number_and_order_makes_them_different() -> None:
    k, m = ("k", "v", "NoSchedule"), ("m", "", "NoExecute")
    cluster = make_cluster(
        [
            make_node("a", taints=[k, m]),
            make_node("b"),
            make_node("c", taints=[k, m]),
            make_node("d", taints=[m, k]),
        ]
    )
    codes = cluster.nodes.taint_set[:4].tolist()
    assert codes[0] == codes[2] != codes[3]
    assert codes[1] == 0
    assert cluster.nodes.taint_sets[codes[0]] == (k, m)


def test_tainted_and_cordoned_nodes_are_counted_through_every_change() -> None:
    taint = [("k", "", "NoSchedule")]
    cluster = make_cluster([make_node("a", taints=taint, unschedulable=True), make_node("b")])
    table = cluster.nodes
    assert (table.tainted_count, table.unschedulable_count) == (1, 1)
    cluster.put_node(make_node("b", taints=taint))
    assert (table.tainted_count, table.unschedulable_count) == (2, 1)
    cluster.put_node(make_node("a", taints=taint))
    assert (table.tainted_count, table.unschedulable_count) == (2, 0)
    cluster.remove_node("a")
    cluster.remove_node("a")
    assert (table.tainted_count, table.unschedulable_count) == (1, 0)


def test_equal_feature_lists_share_a_number() -> None:
    cluster = make_cluster([make_node("a", features=["X", "Y"]), make_node("b", features=["X"])])
    cluster.put_node(make_node("c", features=["X", "Y"]))
    codes = cluster.nodes.feature_set[:3].tolist()
    assert codes[0] == codes[2] != codes[1]
    assert cluster.nodes.feature_sets[codes[1]] == ("X",)


def test_every_change_of_a_node_moves_its_row_generation() -> None:
    cluster = make_cluster([make_node("a"), make_node("b"), make_node("c")])
    seen = cluster.nodes.generation
    assert cluster.nodes.changed_since(seen).tolist() == []
    cluster.put_node(make_node("b", labels={"x": "y"}))
    assert cluster.nodes.changed_since(seen).tolist() == [1]
    cluster.remove_node("c")
    assert cluster.nodes.changed_since(seen).tolist() == [1, 2]


def test_membership_moves_only_when_nodes_appear_or_vanish() -> None:
    cluster = make_cluster([make_node("a")])
    before = cluster.nodes.membership
    cluster.put_node(make_node("a", labels={"x": "y"}))
    assert cluster.nodes.membership == before
    cluster.remove_node("a")
    assert cluster.nodes.membership > before


def test_a_row_without_a_node_has_no_node_to_give() -> None:
    cluster = make_cluster([make_node("a")])
    assert cluster.nodes.node(0).metadata.name == "a"
    cluster.nodes.clear(0)
    with pytest.raises(LookupError, match="row 0 holds no node"):
        cluster.nodes.node(0)


def test_removing_a_node_that_is_not_there_changes_nothing() -> None:
    cluster = make_cluster([make_node("a")])
    cluster.remove_node("ghost")
    assert cluster.nodes.present_count == 1


NAMES = tuple(f"n{i}" for i in range(6))
nodes = st.builds(
    make_node,
    st.sampled_from(NAMES),
    labels=st.dictionaries(st.sampled_from(("zone", "disk")), st.sampled_from(("x", "y"))),
    taints=st.lists(
        st.tuples(st.sampled_from("kl"), st.just(""), st.just("NoSchedule")), max_size=2
    ),
    allocatable=st.dictionaries(
        st.sampled_from(("cpu", "memory", "pods", GPU, "hugepages-2Mi", "unknown")),
        st.integers(0, 50),
        min_size=1,
    ),
    unschedulable=st.booleans(),
    features=st.lists(st.sampled_from(("F", "G")), unique=True),
)
events = st.lists(st.one_of(nodes, st.sampled_from(NAMES)), max_size=20)


@given(events=events)
def test_after_any_events_each_row_shows_its_node(events: list[Node | str]) -> None:
    cluster = Cluster(ALL_REQUESTS)
    cluster.nodes.labels.column("zone")
    expected: dict[str, Node] = {}
    for event in events:
        if isinstance(event, str):
            cluster.remove_node(event)
            expected.pop(event, None)
        else:
            cluster.put_node(event)
            expected[event.metadata.name] = event
    table = cluster.nodes
    assert table.present_count == len(expected) == int(np.count_nonzero(table.present))
    assert {name for name in NAMES if table.is_present(name)} == set(expected)
    assert len({table.row(name) for name in expected}) == len(expected)
    assert table.dense() == (table.size == len(expected))
    assert table.tainted_count == sum(bool(n.spec.taints) for n in expected.values())
    assert table.unschedulable_count == sum(n.spec.unschedulable for n in expected.values())
    assert lengths(table) == {table.capacity}
    for name, node in expected.items():
        assert_shows(table, table.row(name), node)


def assert_shows(table: NodeTable, row: int, node: Node) -> None:
    allocatable = dict(node.status.allocatable or {})
    allocatable.pop("unknown", None)
    assert table.names[row] == node.metadata.name
    assert table.node(row) is node
    assert table.allowed_pods[row] == allocatable.pop("pods", 0)
    shown = {
        name: int(table.allocatable[index, row]) // (1000 if name == "cpu" else 1)
        for index, name in enumerate(table.resources)
    }
    assert {n: a for n, a in shown.items() if a} == {n: a for n, a in allocatable.items() if a}
    taints = tuple((t.key, t.value, t.effect) for t in node.spec.taints or ())
    assert table.taint_sets[table.taint_set[row]] == taints
    assert table.feature_sets[table.feature_set[row]] == tuple(node.status.declared_features or ())
    for key in ("zone", "disk"):
        column = table.labels.column(key)
        code = int(column.codes[row])
        assert (None if code == -1 else column.values[code]) == (node.metadata.labels or {}).get(
            key
        )

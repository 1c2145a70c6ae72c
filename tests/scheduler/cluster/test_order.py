"""The order of nodes in a snapshot: zones in turn, and when the list is made anew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.state import Cluster, NodeOrder, zone_key
from podium.testing import make_node

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"


def zoned(name: str, zone: str = "") -> Node:
    return make_node(name, labels={ZONE: zone} if zone else {})


def order_of(*nodes: Node) -> NodeOrder:
    order = NodeOrder()
    for node in nodes:
        order.put(node)
    return order


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""),
        ({ZONE: "z"}, ":\0:z"),
        ({REGION: "r"}, "r:\0:"),
        ({REGION: "r", ZONE: "z"}, "r:\0:z"),
        ({ZONE: "new", OLD_ZONE: "old"}, ":\0:old"),
        ({REGION: "new", OLD_REGION: "old", ZONE: "z"}, "old:\0:z"),
        ({ZONE: "", REGION: ""}, ""),
    ],
)
def test_region_and_zone_name_a_zone_and_the_old_labels_win(
    labels: dict[str, str], key: str
) -> None:
    assert zone_key(make_node("n", labels=labels)) == key


def test_zones_take_turns_in_order_of_appearance() -> None:
    order = order_of(
        zoned("a1", "a"), zoned("a2", "a"), zoned("b1", "b"), zoned("a3", "a"), zoned("c1", "c")
    )
    assert order.names() == ["a1", "b1", "c1", "a2", "a3"]


def test_a_zone_that_emptied_comes_back_last() -> None:
    order = order_of(zoned("a1", "a"), zoned("b1", "b"))
    order.remove("a1")
    order.put(zoned("a2", "a"))
    assert order.names() == ["b1", "a2"]


def test_a_zone_change_alone_does_not_reorder_the_list() -> None:
    order = order_of(zoned("a1", "a"), zoned("a2", "a"), zoned("b1", "b"))
    assert order.names() == ["a1", "b1", "a2"]
    order.put(zoned("a1", "b"))
    assert order.names() == ["a1", "b1", "a2"]
    order.put(zoned("b2", "b"))
    assert order.names() == ["a2", "b1", "a1", "b2"]


def test_a_node_that_went_and_came_back_between_snapshots_keeps_its_place() -> None:
    order = order_of(zoned("a"), zoned("b"))
    assert order.names() == ["a", "b"]
    order.remove("a")
    order.put(zoned("a"))
    assert order.names() == ["a", "b"]
    order.put(zoned("c"))
    assert order.names() == ["b", "a", "c"]


def test_a_node_that_was_seen_to_be_gone_comes_back_last() -> None:
    order = order_of(zoned("a"), zoned("b"))
    order.names()
    order.remove("a")
    assert order.names() == ["b"]
    order.put(zoned("a"))
    assert order.names() == ["b", "a"]


def test_one_node_gone_and_another_new_is_a_new_list() -> None:
    order = order_of(zoned("a"), zoned("b"))
    order.names()
    order.remove("a")
    order.put(zoned("c"))
    assert order.names() == ["b", "c"]


def test_removing_an_unknown_node_leaves_the_list() -> None:
    order = order_of(zoned("a"))
    order.names()
    version = order.version
    order.remove("ghost")
    assert (order.names(), order.version) == (["a"], version)


def test_the_cluster_lists_rows_in_that_order_also_when_rows_moved() -> None:
    cluster = Cluster(ALL_REQUESTS)
    for name in "abc":
        cluster.put_node(zoned(name))
    assert cluster.node_order().tolist() == [0, 1, 2]
    cluster.remove_node("a")
    cluster.remove_node("b")
    cluster.put_node(zoned("a"))
    cluster.put_node(zoned("b"))
    names = [cluster.nodes.names[row] for row in cluster.node_order()]
    assert names == ["a", "b", "c"]
    assert cluster.nodes.row("a") != 0


class ZoneTree:
    """Upstream's rules, said plainly: a list of zones, a snapshot, when it is rebuilt."""

    def __init__(self) -> None:
        self.zones: list[tuple[str, list[str]]] = []
        self.snapshot: list[str] = []

    def names(self) -> list[str]:
        return [name for _, names in self.zones for name in names]

    def remove(self, name: str) -> None:
        self.zones = [(z, [n for n in names if n != name]) for z, names in self.zones]
        self.zones = [(z, names) for z, names in self.zones if names]

    def put(self, name: str, zone: str) -> None:
        for held, names in self.zones:
            if name in names and held == zone:
                return
        self.remove(name)
        for held, names in self.zones:
            if held == zone:
                names.append(name)
                return
        self.zones.append((zone, [name]))

    def take_snapshot(self) -> list[str]:
        current = self.names()
        if set(current) - set(self.snapshot) or len(self.snapshot) > len(current):
            self.snapshot = []
            for index in range(len(current)):
                self.snapshot += [names[index] for _, names in self.zones if index < len(names)]
        return self.snapshot


names = st.sampled_from("abcdef")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, st.sampled_from(("", "x", "y"))),
        st.tuples(st.just("remove"), names, st.just("")),
        st.tuples(st.just("snapshot"), st.just(""), st.just("")),
    )
)


@given(steps=steps)
def test_any_sequence_lists_as_the_tree_of_zones_does(steps: list[tuple[str, str, str]]) -> None:
    cluster, tree = Cluster(ALL_REQUESTS), ZoneTree()
    for step, name, zone in (*steps, ("snapshot", "", "")):
        if step == "put":
            cluster.put_node(zoned(name, zone))
            tree.put(name, zone)
        elif step == "remove":
            cluster.remove_node(name)
            tree.remove(name)
        else:
            listed = [cluster.nodes.names[row] for row in cluster.node_order()]
            assert listed == tree.take_snapshot()

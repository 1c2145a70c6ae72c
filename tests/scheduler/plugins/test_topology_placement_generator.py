"""TopologyPlacementGenerator: one placement per value of the label a group asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scheduler.engine.group_driver import make_group, member

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.catalog import PodGroupMissing
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Placement, PodGroupCycle
from podium.scheduler.framework.placements import run_placement_generate
from podium.scheduler.framework.status import Status, error
from podium.scheduler.plugins.topology_placement_generator import TopologyPlacementGenerator
from podium.testing import make_handle, make_node

RACKS = {"a": "r2", "b": "r1", "c": None, "d": "r2"}


def cluster_of(racks: dict[str, str | None], group: PodGroup | None) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    cluster.pod_groups.enabled = True
    for name, rack in racks.items():
        cluster.put_node(make_node(name, labels={} if rack is None else {"rack": rack}))
    if group is not None:
        cluster.catalog.put(group)
    cluster.pod_groups.put(cluster.infos.of(member("waiting")))
    return cluster


def placements(cluster: Cluster) -> dict[str, list[str]]:
    """Name -> nodes, in order."""
    plugin = TopologyPlacementGenerator(None, make_handle(cluster))
    parent = Placement("", cluster.node_order())
    found = plugin.generate_placements(PodGroupCycle(("default", "g"), cluster), parent)
    assert isinstance(found, list)
    return {p.name: [cluster.nodes.names[row] for row in p.rows] for p in found}


def problem(cluster: Cluster) -> str:
    plugin = TopologyPlacementGenerator(None, make_handle(cluster))
    found = run_placement_generate([plugin], PodGroupCycle(("default", "g"), cluster))
    assert isinstance(found, Status)
    assert found == error(found.message).by(plugin.name)
    return found.message


def test_without_a_topology_the_parent_is_the_only_placement() -> None:
    assert placements(cluster_of(RACKS, make_group())) == {"": ["a", "b", "c", "d"]}
    empty = make_group(schedulingConstraints={})
    assert placements(cluster_of(RACKS, empty)) == {"": ["a", "b", "c", "d"]}


def test_each_value_of_the_label_is_a_placement_by_name() -> None:
    found = placements(cluster_of(RACKS, make_group(topology="rack")))
    assert list(found.items()) == [("r1", ["b"]), ("r2", ["a", "d"])]


def test_a_label_that_no_node_has_leaves_no_placement() -> None:
    cluster = cluster_of(RACKS, make_group(topology="row"))
    assert placements(cluster) == {}
    plugin = TopologyPlacementGenerator(None, make_handle(cluster))
    found = run_placement_generate([plugin], PodGroupCycle(("default", "g"), cluster))
    assert getattr(found, "message", "") == "no feasible placements found"


def test_members_that_have_nodes_fix_the_domain() -> None:
    cluster = cluster_of(RACKS, make_group(topology="rack"))
    cluster.add_pod(member("p", node="d"))
    cluster.assume(cluster.infos.of(member("q")), "a")
    assert placements(cluster) == {"r2": ["a", "d"]}


def test_assumed_members_fix_the_domain_as_well() -> None:
    cluster = cluster_of(RACKS, make_group(topology="rack"))
    cluster.pod_groups.put(cluster.infos.of(member("q")))
    cluster.assume(cluster.infos.of(member("q")), "b")
    assert placements(cluster) == {"r1": ["b"]}


def test_members_in_two_domains_are_an_error() -> None:
    cluster = cluster_of(RACKS, make_group(topology="rack"))
    cluster.add_pod(member("p", node="a"))
    cluster.add_pod(member("q", node="b"))
    assert problem(cluster) == (
        "cannot determine domain for already scheduled pods:"
        " more than 1 domain found for pod group: r2, r1"
    )


def test_a_member_on_a_node_without_the_label_is_an_error() -> None:
    cluster = cluster_of(RACKS, make_group(topology="rack"))
    cluster.add_pod(member("p", node="c"))
    assert problem(cluster) == (
        "cannot determine domain for already scheduled pods:"
        " no topology domain found for pod default/p"
    )


def test_a_member_on_a_node_that_is_gone_is_an_error() -> None:
    cluster = cluster_of(RACKS, make_group(topology="rack"))
    cluster.add_pod(member("p", node="a"))
    cluster.remove_node("a")
    assert problem(cluster) == (
        "cannot determine domain for already scheduled pods:"
        ' getting node for pod default/p: nodeinfo not found for node name "a"'
    )


def test_an_empty_value_is_a_domain_but_no_difference() -> None:
    cluster = cluster_of({"a": "", "b": "r1"}, make_group(topology="rack"))
    cluster.add_pod(member("p", node="a"))
    assert placements(cluster) == {"": ["a"]}
    cluster.add_pod(member("q", node="b"))
    assert placements(cluster) == {"r1": ["b"]}


def test_a_missing_group_is_an_error() -> None:
    cluster = cluster_of(RACKS, None)
    with pytest.raises(PodGroupMissing):
        placements(cluster)
    assert problem(cluster) == 'podgroup.scheduling.k8s.io "g" not found'


@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.sampled_from((None, "", "r1", "r2", "r3")), min_size=1
    )
)
def test_placements_are_the_labelled_nodes_taken_apart(racks: dict[str, str | None]) -> None:
    cluster = cluster_of(racks, make_group(topology="rack"))
    order = [cluster.nodes.names[row] for row in cluster.node_order()]
    expected: dict[str, list[str]] = {}
    for name in order:
        rack = racks[name]
        if rack is not None:
            expected.setdefault(rack, []).append(name)
    found = placements(cluster)
    assert found == expected
    assert list(found) == sorted(expected)

"""Topologies: rows numbered by domain, totals per domain, and counts that trials may change."""

import numpy as np

from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.topology import DomainCounts, Topologies
from podium.testing import make_cluster, make_node


def cluster_with(*zones: str | None) -> Cluster:
    return make_cluster(
        make_node(f"n{index}", labels={} if zone is None else {"zone": zone})
        for index, zone in enumerate(zones)
    )


def test_domains_are_numbered_without_gaps_and_slot_0_has_no_label() -> None:
    topology = Topologies(cluster_with("a", None, "b", "a").nodes).of("zone")
    assert topology.slots.tolist() == [1, 0, 2, 1]
    assert topology.domain_count == 2
    assert not topology.complete
    assert topology.unnamed == 0


def test_values_that_no_node_has_any_more_leave_no_gap() -> None:
    cluster = cluster_with("a", "b", "c")
    topologies = Topologies(cluster.nodes)
    assert topologies.of("zone").domain_count == 3
    cluster.put_node(make_node("n0", labels={"zone": "c"}))
    cluster.put_node(make_node("n1", labels={"zone": ""}))
    topology = topologies.of("zone")
    assert topology.domain_count == 2
    assert topology.complete
    assert topology.slots[0] == topology.slots[2]
    assert topology.unnamed == topology.slots[1]


def test_a_topology_is_renewed_only_when_nodes_change() -> None:
    cluster = cluster_with("a", "b")
    topologies = Topologies(cluster.nodes)
    first = topologies.of("zone")
    cluster.put_node(make_node("n0", labels={"zone": "a", "other": "label"}))
    assert topologies.of("zone") is first
    cluster.put_node(make_node("n2"))
    assert topologies.of("zone").slots.tolist() == [1, 2, 0]


def test_totals_add_up_eligible_rows_and_read_0_without_the_label() -> None:
    cluster = cluster_with("a", None, "b", "a")
    topology = Topologies(cluster.nodes).of("zone")
    per_row = np.array([1, 10, 100, 1000, 7, 7], dtype=np.int64)
    assert topology.totals(per_row).tolist() == [0, 1001, 100]
    eligible = np.array([True, True, False, True])
    assert topology.totals(per_row, eligible).tolist() == [0, 1001, 0]
    assert topology.mask_inhabited(eligible).tolist() == [False, True, False]


def test_a_key_that_no_node_has_makes_no_domain() -> None:
    topology = Topologies(cluster_with(None, None).nodes).of("zone")
    assert topology.domain_count == 0
    assert topology.totals(np.ones(64, dtype=np.int64)).tolist() == [0]


def test_clones_share_counts_until_one_of_them_changes() -> None:
    topology = Topologies(cluster_with("a", "b", None).nodes).of("zone")
    counts = DomainCounts(topology, np.array([0, 5, 6]))
    twin = counts.clone()
    assert twin.totals is counts.totals
    twin.shift(0, 1)
    counts.shift(1, -1)
    twin.shift(2, 1)
    assert counts.of(slice(0, 3)).tolist() == [5, 5, 0]
    assert twin.of(slice(0, 3)).tolist() == [6, 6, 0]

"""Sums per domain kept by deltas equal sums made anew, whatever comes between."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.rules.labels import selector_of_map
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_classes import PodQuery
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.plugins.topology import DomainSums, Topologies
from podium.testing import make_node, make_pod

NODES = [f"n{i}" for i in range(4)]
WEB = PodQuery(((None, selector_of_map({"app": "web"})),))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("node"), st.sampled_from(NODES), st.sampled_from(["a", "b", None])),
        st.tuples(st.just("gone"), st.sampled_from(NODES), st.none()),
        st.tuples(st.just("pod"), st.sampled_from(NODES), st.sampled_from(["web", "db"])),
        st.tuples(st.just("leave"), st.integers(0, 20), st.none()),
    ),
    max_size=30,
)


def apply(cluster: Cluster, number: int, step: tuple[Any, Any, Any]) -> None:
    what, target, value = step
    if what == "node":
        cluster.put_node(make_node(target, labels={} if value is None else {"zone": value}))
    elif what == "gone":
        cluster.remove_node(target)
    elif what == "pod":
        cluster.add_pod(make_pod(f"p{number}", node=target, labels={"app": value}))
    elif cluster.placements:
        uids = sorted(cluster.placements)
        cluster.remove_pod(uids[target % len(uids)])


@given(steps)
def test_sums_kept_by_deltas_equal_sums_made_anew(sequence: list[tuple[Any, Any, Any]]) -> None:
    cluster = Cluster(ALL_REQUESTS)
    for name in NODES[:2]:
        cluster.put_node(make_node(name, labels={"zone": "a"}))
    topologies, sums = Topologies(cluster.nodes), DomainSums(cluster.classes)
    for number, step in enumerate(sequence):
        apply(cluster, number, step)
        topology = topologies.of("zone")
        fresh = topology.totals(cluster.classes.counts(WEB))
        assert sums.of(cluster.classes.counter(WEB), topology).tolist() == fresh.tolist()


def cluster_in_zones(count: int) -> Cluster:
    cluster = Cluster(ALL_REQUESTS)
    for number in range(count):
        cluster.put_node(make_node(f"n{number}", labels={"zone": f"z{number}"}))
    return cluster


def test_sums_that_were_handed_out_do_not_change() -> None:
    cluster = cluster_in_zones(2)
    topologies, sums = Topologies(cluster.nodes), DomainSums(cluster.classes)
    counter = cluster.classes.counter(WEB)
    before = sums.of(counter, topologies.of("zone"))
    cluster.add_pod(make_pod("p", node="n1", labels={"app": "web"}))
    after = sums.of(counter, topologies.of("zone"))
    assert (before.tolist(), after.tolist()) == ([0, 0, 0], [0, 0, 1])


def test_many_changes_at_once_are_counted_anew() -> None:
    cluster = cluster_in_zones(2)
    topologies, sums = Topologies(cluster.nodes), DomainSums(cluster.classes)
    sums.of(cluster.classes.counter(WEB), topologies.of("zone"))
    for number in range(500):
        cluster.add_pod(make_pod(f"p{number}", node="n0", labels={"app": "web"}))
    assert sums.of(cluster.classes.counter(WEB), topologies.of("zone")).tolist() == [0, 500, 0]


def test_sums_stay_within_their_bytes() -> None:
    cluster = cluster_in_zones(3)
    topologies, sums = Topologies(cluster.nodes), DomainSums(cluster.classes, most_bytes=128)
    for number in range(20):
        query = PodQuery(((None, selector_of_map({"app": f"a{number}"})),))
        sums.of(cluster.classes.counter(query), topologies.of("zone"))
    assert sums.nbytes <= 128

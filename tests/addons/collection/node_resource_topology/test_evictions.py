"""NodeResourceTopologyMatch with `preemptionMode: Enabled`: zones as they would be without victims.

Placements are written here as agents write them.
"""

from typing import Any

import msgspec
import pytest
from support.addons.collection.topologies import container, topology

from podium.addons.collection.node_resource_topology.numa_placement import (
    METADATA,
    VECTOR,
    decode_numbers,
    placement_of,
    pod_fingerprint,
    xxh64,
)
from podium.addons.collection.node_resource_topology.plugin import NodeResourceTopologyMatch
from podium.addons.collection.node_resource_topology.topologies import NodeResourceTopology
from podium.kubernetes.kinds.pod import Pod
from podium.testing import FakeCluster, assert_promises, assert_unplaced, make_node, make_pod

FULL = {"cpu": "0", "memory": "0"}
LIMITS = {"cpu": "4", "memory": "8Gi"}
PAGES = {"cpu": "3", "memory": "8Gi"}


def guaranteed(name: str, cpu: str = "4", **given: Any) -> Pod:
    return make_pod(name, containers=[container(cpu=cpu, memory="8Gi")], **given)


def encode(zones: dict[str, int], count: int = 2) -> tuple[str, dict[int, str]]:
    """Zones of pods' only containers, as agents write them; for less than 64 containers."""
    ordered = sorted(zones, key=lambda name: xxh64(f"default\0{name}\0c".encode()))
    busiest = max(range(count), key=lambda zone: (list(zones.values()).count(zone), -zone))
    alphabet = [chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"&<>\\']
    vectors = {}
    for zone in set(zones.values()) - {busiest}:
        numbers = [n for n, name in enumerate(ordered) if zones[name] == zone]
        steps = [b - a for a, b in zip([0, *numbers], numbers, strict=False)]
        vectors[zone] = "".join(alphabet[step] for step in steps)
    return f"npv0v001::ve=leb89::cc={len(zones)}::nn={count}::bn={busiest}", vectors


def report(
    zones: dict[str, int], available: list[dict[str, str]], limits: list[dict[str, str]]
) -> NodeResourceTopology:
    metadata, vectors = encode(zones)
    attributes = {
        METADATA: metadata,
        "nodeTopologyPodsFingerprint": pod_fingerprint(("default", name) for name in zones),
    }
    raw = msgspec.to_builtins(topology("a", *available, attributes=attributes))
    for number, zone in enumerate(raw["zones"]):
        for resource in zone["resources"]:
            resource["allocatable"] = limits[number][resource["name"]]
        if number in vectors:
            zone["attributes"] = [{"name": VECTOR, "value": vectors[number]}]
    return msgspec.convert(raw, NodeResourceTopology)


def cluster_of(found: NodeResourceTopology, *running: Pod, **args: Any) -> FakeCluster:
    amounts = {"cpu": "8", "memory": "16Gi", "pods": 110}
    return FakeCluster(
        make_node("a", allocatable=amounts),
        found,
        *running,
        plugins=[NodeResourceTopologyMatch],
        args={"NodeResourceTopologyMatch": {"preemptionMode": "Enabled", **args}},
    )


def running(name: str, cpu: str = "4") -> Pod:
    return guaranteed(name, cpu, node="a", status={"phase": "Running"}, priority=0)


def nominated(cluster: FakeCluster, pod: Pod) -> str:
    return cluster.schedule(pod).nominated_node or ""


ONE_VICTIM = report({"victim": 0}, [FULL, PAGES], [LIMITS, PAGES])


def test_a_victim_makes_room_in_the_zone_that_it_runs_in() -> None:
    cluster = cluster_of(ONE_VICTIM, running("victim"))
    assert nominated(cluster, guaranteed("urgent", priority=10)) == "a"


def test_without_the_mode_nodes_stay_as_they_are_reported() -> None:
    cluster = cluster_of(ONE_VICTIM, running("victim"), preemptionMode="Disabled")
    assert nominated(cluster, guaranteed("urgent", priority=10)) == ""


def test_only_what_the_pod_needs_is_taken() -> None:
    zones = {"one": 0, "other": 1}
    both_full = report(zones, [FULL, FULL], [LIMITS, PAGES])
    cluster = cluster_of(both_full, running("one"), running("other", "3"))
    decision = cluster.schedule(guaranteed("urgent", priority=10))
    assert decision.post_filter is not None
    assert [pod.pod.metadata.name for pod in decision.post_filter.victims] == ["one"]


def test_a_report_that_speaks_of_other_containers_frees_nothing() -> None:
    cluster = cluster_of(ONE_VICTIM, running("victim"), running("unknown", "3"))
    assert nominated(cluster, guaranteed("urgent", priority=10)) == ""


def test_victims_that_have_nothing_to_themselves_free_nothing() -> None:
    shared = make_pod(
        "shared", node="a", status={"phase": "Running"}, requests={"cpu": "2"}, priority=0
    )
    held = report({"victim": 0}, [FULL, PAGES], [LIMITS, PAGES])
    strong = guaranteed("victim", node="a", status={"phase": "Running"}, priority=20)
    decision = cluster_of(held, strong, shared).schedule(guaranteed("urgent", priority=10))
    assert_unplaced(decision)
    assert decision.nominated_node == ""
    assert "eviction simulation in NRT is not possible:no resources to add" in str(
        decision.post_filter
    )


def test_more_than_a_zone_can_have_is_not_believed() -> None:
    wrong = report({"victim": 0}, [PAGES, PAGES], [LIMITS, PAGES])
    decision = cluster_of(wrong, running("victim")).schedule(guaranteed("urgent", priority=10))
    assert decision.nominated_node == ""
    assert "resource release request exceeds NUMA allocatable" in str(decision.post_filter)


def test_with_a_cache_placements_are_those_of_the_last_resync() -> None:
    cluster = cluster_of(ONE_VICTIM, running("victim"), cacheResyncPeriodSeconds=5)
    assert nominated(cluster, guaranteed("early", priority=10)) == ""
    cluster.wait(seconds=6)
    assert nominated(cluster, guaranteed("urgent", priority=10)) == "a"


def test_promises_are_kept() -> None:
    assert_promises(
        NodeResourceTopologyMatch,
        args={"preemptionMode": "Enabled"},
        nodes=[make_node("a", allocatable={"cpu": "7", "memory": "16Gi", "pods": 110})],
        objects=[ONE_VICTIM],
        pods=[running("victim"), guaranteed("urgent", priority=10)],
    )


@pytest.mark.parametrize(
    ("vector", "numbers"),
    [
        ("", []),
        ("!", [0]),
        ("#$", [1, 3]),
        ("f!", [64]),
        ("fe", [127]),
        ("g!", [128]),
        ("~e", [1663]),
        ("gf!", [1664]),
        ("f", None),
        ('"', None),
    ],
)
def test_vectors_are_differences_in_printable_characters(
    vector: str, numbers: list[int] | None
) -> None:
    assert decode_numbers(vector) == numbers


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "npv0v002::ve=leb89::cc=1::nn=2::bn=0",
        "npv0v001::ve=plain::cc=1::nn=2::bn=0",
        "npv0v001::ve=leb89::cc=1::nn=2",
        "npv0v001::ve=leb89::cc=1::nn=2::bn=2",
        "npv0v001::ve=leb89::cc=one::nn=2::bn=0",
        "npv0v001::ve=leb89::cc=2::nn=2::bn=0",
        "npv0v001::ve=leb89::cc=1::nn=2::bn=0::xx=1",
    ],
)
def test_metadata_that_makes_no_sense_tells_nothing(metadata: str) -> None:
    found = topology("a", FULL, FULL, attributes={METADATA: metadata})
    assert placement_of(found, [("default", "victim", "c")]) == {}

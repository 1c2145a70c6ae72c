"""What a run comes to in figures."""

from pathlib import Path
from typing import Any

import pytest
from support.commands.command_line import Raw, node, pod, writer

from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.offline.what_if import InputError, load_cluster
from podium.offline.what_if.node_selection import prices_of
from podium.offline.what_if.run_metrics import TypicalPod, median_pod, parse_typical_pod

ZONE = "topology.kubernetes.io/zone"


def measured(directory: Path, *objects: Raw, **options: Any) -> dict[str, Any]:
    model = load_cluster(writer(directory)(*objects))
    (run,) = model.compare("default", **options).runs
    return run


def in_zone(name: str, zone: str, **more: Any) -> Raw:
    return node(name, labels={ZONE: zone}, **more)


def owned(name: str, on: str = "", kind: str = "ReplicaSet", cpu: str = "1") -> Raw:
    made = pod(name, cpu, **({"nodeName": on} if on else {}))
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    return made


def test_pods_that_were_never_to_be_placed_are_not_pending(tmp_path: Path) -> None:
    gated = pod("gated", schedulingGates=[{"name": "wait"}])
    found = measured(
        tmp_path, node(), pod("a"), pod("big", "9"), gated, pod("other", schedulerName="x")
    )
    assert (found["placed"], found["pending"]) == (1, 1)


def test_free_room_is_fragmented_where_the_typical_pod_does_not_fit(tmp_path: Path) -> None:
    cluster = (node("n1"), node("n2"), pod("a", "3", nodeName="n1"), pod("b", "1", nodeName="n2"))
    found = measured(tmp_path, *cluster, typical_pod="cpu=2")
    assert found["cpu_fragmentation"] == 1 / 4
    assert found["memory_fragmentation"] == 1 / 2
    assert measured(tmp_path, *cluster, typical_pod="cpu=1")["cpu_fragmentation"] == 0


def test_a_node_that_is_cordoned_has_nothing_free(tmp_path: Path) -> None:
    closed = node("n2")
    closed["spec"] = {"unschedulable": True}
    found = measured(
        tmp_path, node("n1"), closed, pod("a", "3", nodeName="n1"), typical_pod="cpu=2"
    )
    assert found["cpu_fragmentation"] == 1


def test_a_full_cluster_is_not_fragmented(tmp_path: Path) -> None:
    found = measured(tmp_path, node("n1"), pod("a", "4", nodeName="n1"), typical_pod="cpu=2")
    assert found["cpu_fragmentation"] == 0


def test_skew_is_that_of_the_workload_with_the_largest(tmp_path: Path) -> None:
    cluster = (in_zone("n1", "a"), in_zone("n2", "a"), in_zone("n3", "b"))
    pods = (owned("w1", "n1"), owned("w2", "n1"), owned("w3", "n2"), owned("w4", "n3"))
    found = measured(tmp_path, *cluster, *pods)
    assert (found["zone_skew"], found["node_skew"]) == (2, 1)
    alone = measured(tmp_path, *cluster, *pods[:2])
    assert (alone["zone_skew"], alone["node_skew"]) == (2, 2)


def test_without_zones_there_is_no_skew_between_them(tmp_path: Path) -> None:
    assert "zone_skew" not in measured(tmp_path, node(), owned("w1", "n1"))


def test_a_node_with_nothing_but_daemons_is_not_used_and_costs_nothing(tmp_path: Path) -> None:
    price = {"podium.dev/price": "0.25"}
    nodes = (node("n1", annotations=price), node("n2", annotations=price))
    cluster = (*nodes, owned("d", "n2", "DaemonSet"))
    found = measured(tmp_path, *cluster, pod("a", nodeName="n1"))
    assert (found["nodes_used"], found["cost"]) == (1, 0.25)
    assert "cost" not in measured(tmp_path, node("n1"), pod("a"))


def test_waiting_is_counted_from_the_first_attempt(tmp_path: Path) -> None:
    objects: list[Raw] = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "urgent"},
            "value": 1000,
        },
        node(),
        pod("old", "3", nodeName="n1"),
    ]
    found = measured(tmp_path, *objects, pod("a", "4", priorityClassName="urgent"))
    assert found["evictions"] == 1
    assert found["wait_p50_s"] > 0
    assert measured(tmp_path, node(), pod("a"), pod("b"))["wait_p99_s"] == 0


def test_the_median_pod_requests_what_a_pod_does(tmp_path: Path) -> None:
    write = writer(tmp_path)
    model = load_cluster(write(node(), *(pod(f"p{cpu}", cpu) for cpu in ("1", "2", "4", "3"))))
    assert median_pod(model.scenario.pending, ALL_REQUESTS) == TypicalPod(2000, 0)
    assert median_pod((), ALL_REQUESTS) == TypicalPod()
    assert parse_typical_pod("memory=1Gi, cpu=250m") == TypicalPod(250, 1 << 30)
    for text in ("", "cpu", "gpu=1", "cpu=-1", "cpu=x"):
        with pytest.raises(InputError, match="is no pod"):
            parse_typical_pod(text)


def test_prices_are_given_by_name_label_or_annotation(tmp_path: Path) -> None:
    nodes = load_cluster(
        writer(tmp_path)(
            node("n1", annotations={"podium.dev/price": "1"}),
            node("n2", labels={"podium/price": "2", "pool": "a"}),
            node("n3", labels={"pool": "a"}),
            node("n4"),
        )
    ).scenario.nodes
    assert prices_of(nodes) == {"n1": 1, "n2": 2}
    assert prices_of(nodes, ["pool=a:5", "n3:7"]) == {"n1": 1, "n2": 5, "n3": 7}
    for text in ("n1", ":3", "n1:free", "n1:0", "n1:1e99999999", "n9:1", "pool=b:1"):
        with pytest.raises(InputError):
            prices_of(nodes, [text])

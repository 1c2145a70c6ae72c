"""Nodes from templates, and their heartbeats."""

import json
from typing import Any

import pytest
from support.simulated.controller_objects import (
    build,
    condition,
    creations,
    moment,
    node,
    shown,
    written_status,
)

from podium.golang.errors import InputError
from podium.kubernetes.controllers.controller import Plan
from podium.kubernetes.controllers.objects import Lease, Node, NodeStatus
from podium.simulated.informers import Informers
from podium.simulated.nodes.heartbeats import (
    AllocatableFollower,
    Heartbeats,
    allocatable_after,
    decide,
)
from podium.simulated.nodes.templates import (
    NodeTemplate,
    default_template,
    nodes_from,
    read_templates,
)

GPU = b"""
apiVersion: v1
kind: Node
metadata:
  name: gpu-{index}
  uid: left-out
  labels: {pool: gpu, rack: "r{index}"}
spec:
  taints:
  - {key: gpu, effect: NoSchedule}
  - {key: node.kubernetes.io/not-ready, effect: NoSchedule}
status:
  capacity: {cpu: "64", memory: 512Gi, pods: "250", example.com/gpu: "8"}
  conditions: [{type: Ready, status: "False"}]
"""


def test_nodes_are_numbered_and_have_what_every_node_has() -> None:
    made = nodes_from([default_template()], 3, ["a", "b"])
    assert [each["metadata"]["name"] for each in made] == ["node-0", "node-1", "node-2"]
    labels = [each["metadata"]["labels"] for each in made]
    assert [each["topology.kubernetes.io/zone"] for each in labels] == ["a", "b", "a"]
    assert labels[1]["kubernetes.io/hostname"] == "node-1"
    assert labels[1]["podium.dev/simulated"] == "true"
    assert labels[1]["failure-domain.beta.kubernetes.io/zone"] == "b"
    assert labels[1]["beta.kubernetes.io/os"] == labels[1]["kubernetes.io/os"] == "linux"
    addresses = [each["status"]["addresses"][0]["address"] for each in made]
    assert addresses == ["10.128.0.1", "10.128.0.2", "10.128.0.3"]
    assert made[0]["status"]["allocatable"]["cpu"] == "8"
    assert nodes_from([default_template()], 3, ["a", "b"]) == made


def test_a_manifest_is_a_template_without_what_is_one_nodes_own() -> None:
    templates = read_templates(GPU, "gpu.yaml")
    small = default_template(cpu="2", memory="4Gi", pods=10)
    made = nodes_from([*templates, small], 3)
    assert [each["metadata"]["name"] for each in made] == ["gpu-0", "node-0", "gpu-1"]
    gpu = made[2]
    assert gpu["metadata"]["labels"]["rack"] == "r1"
    assert "uid" not in gpu["metadata"]
    assert gpu["spec"]["taints"] == [{"key": "gpu", "effect": "NoSchedule"}]
    assert gpu["status"]["allocatable"] == gpu["status"]["capacity"]
    assert "conditions" not in gpu["status"]
    assert made[1]["status"]["capacity"] | {"ephemeral-storage": "x"} == {
        "cpu": "2",
        "memory": "4Gi",
        "pods": "10",
        "ephemeral-storage": "x",
    }


def named(*names: str) -> list[NodeTemplate]:
    status = {"capacity": {"cpu": "1"}}
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}
        for name in names
    ]
    written = json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes})
    return read_templates(written.encode(), "nodes.json")


def test_a_template_of_one_node_gives_its_very_name() -> None:
    def names(count: int, *templates: str) -> list[str]:
        return [each["metadata"]["name"] for each in nodes_from(named(*templates), count)]

    assert names(1, "node-01") == ["node-01"]
    assert names(2, "node-01") == ["node-01-0", "node-01-1"]
    assert names(2, "node-01", "node-02") == ["node-01", "node-02"]
    assert names(3, "node-01", "node-02") == ["node-01-0", "node-02", "node-01-1"]
    assert names(2, "same", "same") == ["same-0", "same-1"]


def test_labels_of_a_template_have_their_old_and_their_new_name() -> None:
    (template,) = named("a")
    template.manifest["metadata"]["labels"] = {"failure-domain.beta.kubernetes.io/zone": "z"}
    (made,) = nodes_from([template], 1)
    assert made["metadata"]["labels"]["topology.kubernetes.io/zone"] == "z"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"kind: Pod", "nodes.yaml: kind: is no Node"),
        (b"", "nodes.yaml: holds no node"),
        (b"apiVersion: v1\nkind: Node\nmetadata: {}", "metadata.name: is missing"),
        (b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}", "status.capacity: is missing"),
        (
            b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {tainst: []}",
            "spec.tainst: unknown field; did you mean taints?",
        ),
        (
            b"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {cpu: x}}",
            "status.capacity",
        ),
    ],
)
def test_templates_that_are_wrong_are_refused_with_their_place(text: bytes, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_templates(text, "nodes.yaml")
    assert problem in str(caught.value)


def test_amounts_and_counts_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match='"lots" is no amount of cpu'):
        default_template(cpu="lots")
    with pytest.raises(InputError, match='"-1" is no amount of memory'):
        default_template(memory="-1")
    with pytest.raises(InputError, match="there cannot be -1 nodes"):
        nodes_from([default_template()], -1)


# --- heartbeats -------------------------------------------------------------------------------


def beat(of: Node, lease: Lease | None, renewed_at_s: float | None, now_s: float) -> Plan:
    return decide(of, lease, renewed_at_s, 10, moment(now_s))


LEASE = build(Lease, "n1", "kube-node-lease")
NAMES = ("MemoryPressure", "DiskPressure", "PIDPressure")


def healthy(**fields: Any) -> Node:
    conditions = [condition("Ready"), *(condition(name, "False") for name in NAMES)]
    return build(Node, "n1", "", status={"conditions": conditions}, **fields)


def test_a_new_node_makes_its_lease_and_says_that_it_is_ready() -> None:
    made = beat(node(ready=None), None, None, 0)
    assert shown(made) == ["~nodes/status n1", "+leases n1"]
    conditions = written_status(made, "nodes")["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {
        "Ready": "True",
        **dict.fromkeys(NAMES, "False"),
    }
    (lease,) = creations(made)
    assert lease["metadata"]["ownerReferences"][0]["uid"] == "uid-n1"
    assert lease["spec"]["renewTime"] == "2027-01-15T08:00:00.000000Z"


def test_the_lease_is_renewed_when_it_is_time() -> None:
    assert shown(beat(healthy(), LEASE, 0, 4)) == []
    assert beat(healthy(), LEASE, 0, 4).again_after_s == 6
    assert shown(beat(healthy(), LEASE, 0, 10)) == ["~leases n1"]


def test_a_node_that_failed_falls_silent_or_says_so() -> None:
    silent = healthy(metadata={"annotations": {"podium.dev/failure": "unreachable"}})
    assert beat(silent, LEASE, 0, 100) == Plan([], None)
    broken = healthy(metadata={"annotations": {"podium.dev/failure": "not-ready"}})
    made = beat(broken, LEASE, 0, 10)
    assert shown(made) == ["~nodes/status n1", "~leases n1"]
    (ready,) = written_status(made, "nodes")["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "False")


def test_a_node_says_what_it_was_told_to_run_short_of_and_recovers() -> None:
    pressed = healthy(metadata={"annotations": {"podium.dev/pressure": "memory,pid"}})
    written = written_status(beat(pressed, LEASE, 0, 1), "nodes")["conditions"]
    assert {each["type"]: each["reason"] for each in written} == {
        "MemoryPressure": "KubeletHasInsufficientMemory",
        "PIDPressure": "KubeletHasInsufficientPID",
    }
    told = {**condition("MemoryPressure", "True"), "reason": "KubeletHasInsufficientMemory"}
    others = [condition("Ready"), condition("DiskPressure", "False"), condition("PIDPressure")]
    over = build(Node, "n1", "", status={"conditions": [told, *others]})
    (written,) = written_status(beat(over, LEASE, 0, 1), "nodes")["conditions"]
    assert (written["type"], written["status"]) == ("MemoryPressure", "False")


def test_conditions_that_somebody_has_set_stay_and_unknown_ones_do_not() -> None:
    conditions = [
        condition("Ready", "Unknown"),
        condition("MemoryPressure", "True"),
        condition("DiskPressure", "Unknown"),
        condition("PIDPressure", "False"),
    ]
    back = build(Node, "n1", "", status={"conditions": conditions})
    written = written_status(beat(back, LEASE, None, 0), "nodes")["conditions"]
    assert {each["type"]: each["status"] for each in written} == {
        "Ready": "True",
        "DiskPressure": "False",
    }


def test_nodes_that_start_together_do_not_stay_in_step() -> None:
    informers = Informers()
    heartbeats = Heartbeats(informers, 10)
    waits = set()
    for i in range(20):
        informers.nodes.put(node(f"n{i}"))
        first = heartbeats.plan(f"n{i}", moment(0))
        assert "+leases" in str(shown(first))
        assert first.again_after_s is not None
        assert 0 < first.again_after_s <= 10
        waits.add(round(first.again_after_s, 3))
    assert len(waits) > 15


# --- allocatable ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        ({"cpu": "16", "memory": "32Gi"}, {"cpu": "15500m", "memory": "30Gi"}),
        ({"cpu": "8", "memory": "64Gi"}, {"cpu": "7500m", "memory": "62Gi"}),
        ({"cpu": "250m", "memory": "32Gi"}, {"cpu": "0", "memory": "30Gi"}),
        ({"cpu": "8"}, {"cpu": "7500m"}),
        (
            {"cpu": "8", "memory": "32Gi", "example.com/gpu": "4"},
            {"cpu": "7500m", "memory": "30Gi", "example.com/gpu": "4"},
        ),
    ],
)
def test_what_a_node_offers_follows_what_it_has(
    capacity: dict[str, str], expected: dict[str, str]
) -> None:
    old = NodeStatus(
        capacity={"cpu": "8", "memory": "32Gi"}, allocatable={"cpu": "7500m", "memory": "30Gi"}
    )
    new = NodeStatus(capacity=capacity, allocatable=old.allocatable)
    assert allocatable_after(old, new) == expected
    assert allocatable_after(old, old) is None
    by_hand = NodeStatus(capacity=capacity, allocatable={"cpu": "1"})
    assert allocatable_after(old, by_hand) is None


def test_a_change_of_capacity_is_carried_out_once() -> None:
    informers = Informers()
    follower = AllocatableFollower(informers)
    woken: list[str] = []
    follower.watch(woken.append)
    labels = {"labels": {"podium.dev/simulated": "true"}}
    cpus = {"cpu": "8"}
    for version, capacity, allocatable in (("1", cpus, cpus), ("2", {"cpu": "4"}, cpus)):
        metadata = {**labels, "resourceVersion": version}
        status = {"capacity": capacity, "allocatable": allocatable}
        informers.nodes.put(build(Node, "n1", "", metadata=metadata, status=status))
    assert woken == ["n1"]
    made = follower.plan("n1", moment())
    assert written_status(made, "nodes") == {"allocatable": {"cpu": "4"}}
    done = {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}}
    metadata = {**labels, "resourceVersion": "3"}
    informers.nodes.put(build(Node, "n1", "", metadata=metadata, status=done))
    assert shown(follower.plan("n1", moment())) == []

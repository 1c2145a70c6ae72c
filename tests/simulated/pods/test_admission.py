"""What a kubelet refuses, in its words."""

from typing import Any

import pytest
from support.simulated.controller_objects import build, pod, timestamp

from podium.kubernetes.controllers.objects import Node
from podium.kubernetes.controllers.pods import Pod
from podium.simulated.pods.admission import Rejection, admit

LABELS = {"podium.dev/simulated": "true", "disk": "ssd"}


def node(taints: Any = None, **allocatable: str) -> Node:
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "3", **allocatable}
    return build(
        Node,
        "n1",
        "",
        metadata={"labels": LABELS},
        spec={"taints": taints},
        status={"allocatable": amounts, "capacity": amounts},
    )


def bound(name: str, *, cpu: str = "", port: int = 0, started: bool = False, **spec: Any) -> Pod:
    container: dict[str, Any] = {"name": "c"}
    if cpu:
        container["resources"] = {"requests": {"cpu": cpu}}
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port, "protocol": "TCP"}]
    status = {"startTime": timestamp()} if started else {}
    phase = "Running" if started else "Pending"
    return pod(name, phase, spec={"containers": [container], **spec}, status=status)


def test_what_fits_is_taken() -> None:
    assert admit(bound("a", cpu="2"), node(), []) is None
    assert admit(bound("a", cpu="1"), node(), [bound("b", cpu="1", started=True)]) is None


def test_a_node_runs_out_of_resources_and_of_places() -> None:
    assert admit(bound("a", cpu="1500m"), node(), [bound("b", cpu="1", started=True)]) == Rejection(
        "OutOfcpu",
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, "
        "used: 1000, capacity: 2000",
    )
    crowd = [bound(name, started=True) for name in "bcd"]
    assert admit(bound("a"), node(), crowd) == Rejection(
        "OutOfpods",
        "Pod was rejected: Node didn't have enough resource: pods, requested: 1, "
        "used: 3, capacity: 3",
    )


def pressed(*conditions: str) -> Node:
    told = [{"type": name, "status": "True"} for name in conditions]
    return build(Node, "n1", "", status={"conditions": told})


def of_class(name: str, **spec: Any) -> Pod:
    return pod("a", "Pending", spec=spec, status={"qosClass": name})


MEMORY_TAINT = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists"}


def test_a_node_short_of_memory_takes_no_more_pods_that_ask_for_nothing() -> None:
    node = pressed("MemoryPressure")
    assert admit(of_class("BestEffort"), node, []) == Rejection(
        "Evicted", "Pod was rejected: The node had condition: [MemoryPressure]. "
    )
    assert admit(of_class("Burstable"), node, []) is None
    assert admit(of_class("BestEffort", tolerations=[MEMORY_TAINT]), node, []) is None
    assert admit(of_class("BestEffort", priority=2_000_000_000), node, []) is None


def test_a_node_short_of_anything_else_takes_critical_pods_only() -> None:
    node = pressed("Ready", "DiskPressure", "MemoryPressure")
    rejection = admit(of_class("Guaranteed", tolerations=[MEMORY_TAINT]), node, [])
    assert rejection is not None
    assert "[MemoryPressure DiskPressure]" in rejection.message
    assert admit(of_class("Guaranteed", priority=2_000_001_000), node, []) is None


def test_what_claims_take_of_the_node_counts_too() -> None:
    claimed = {"resourceClaimName": "x", "containers": ["c"], "resources": {"cpu": "1500m"}}
    status = {"startTime": timestamp(), "nodeAllocatableResourceClaimStatuses": [claimed]}
    containers = [{"name": "c", "resources": {"requests": {"cpu": "250m"}}}]
    other = pod("b", "Running", spec={"containers": containers}, status=status)
    assert admit(bound("a", cpu="250m"), node(), [other]) is None
    refused = admit(bound("a", cpu="500m"), node(), [other])
    assert refused is not None
    assert refused.message.endswith("requested: 500, used: 1750, capacity: 2000")


def test_resources_that_a_node_does_not_know_are_not_its_business() -> None:
    container = {"name": "c", "resources": {"requests": {"example.com/gpu": "2"}}}
    wanting = pod("a", "Pending", spec={"containers": [container]})
    assert admit(wanting, node(), []) is None
    short = admit(wanting, node(**{"example.com/gpu": "1"}), [])
    assert short is not None
    assert short.reason == "OutOfexample.com/gpu"


@pytest.mark.parametrize(
    ("spec", "reason", "why"),
    [
        (
            {"nodeSelector": {"disk": "hdd"}},
            "NodeAffinity",
            "node(s) didn't match Pod's node affinity/selector",
        ),
        ({"port": 80}, "NodePorts", "node(s) didn't have free ports for the requested pod ports"),
    ],
)
def test_a_pod_in_the_wrong_place_is_refused(spec: Any, reason: str, why: str) -> None:
    message = f"Pod was rejected: Predicate {reason} failed: {why}"
    there = [bound("b", port=80, started=True)]
    assert admit(bound("a", **spec), node(), there) == Rejection(reason, message)


def test_only_taints_that_expel_keep_a_pod_away() -> None:
    harmless = [{"key": "k", "effect": "NoSchedule"}]
    assert admit(bound("a"), node(harmless), []) is None
    expelling = [{"key": "k", "effect": "NoExecute"}]
    refused = admit(bound("a"), node(expelling), [])
    assert refused is not None
    assert refused.reason == "TaintToleration"
    tolerant = bound("a", tolerations=[{"key": "k", "operator": "Exists"}])
    assert admit(tolerant, node(expelling), []) is None


def test_of_two_that_are_too_much_the_first_is_taken() -> None:
    first, second = bound("a", cpu="2"), bound("b", cpu="2")
    assert admit(first, node(), [first, second]) is None
    assert admit(second, node(), [first, second]) is not None
    hopeless = bound("0", cpu="9")
    assert admit(first, node(), [hopeless, first]) is None, "what is refused takes nothing"

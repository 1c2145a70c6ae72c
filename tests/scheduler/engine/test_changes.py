"""Which events an update amounts to."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.engine.intake import node_changes, pod_changes
from podium.testing import make_node, make_pod

GATE = [{"name": "g"}]
TOLERATION = {"key": "k", "operator": "Exists"}


def pod_events(old: Pod, new: Pod) -> list[str]:
    return [str(event) for event in pod_changes(old, new, ALL_REQUESTS)]


def cpu(amount: Any, **fields: Any) -> Pod:
    return make_pod("p", requests={"cpu": amount}, **fields)


def level(amount: str) -> Pod:
    """A pod with requests of its own beside those of its containers."""
    return cpu("1m", resources={"requests": {"cpu": amount}})


@pytest.mark.parametrize(
    ("old", "new", "events"),
    [
        (make_pod("p"), make_pod("p"), ["Update"]),
        (make_pod("p"), make_pod("p", labels={"a": "b"}), ["UpdatePodLabel"]),
        (cpu("2"), cpu("1"), ["UpdatePodScaleDown"]),
        (cpu("1"), cpu("2"), ["Update"]),
        (cpu("1"), cpu("1000m"), ["Update"]),
        (cpu("1500u"), cpu("1400u"), ["Update"]),
        (cpu("1"), make_pod("p"), ["UpdatePodScaleDown"]),
        (level("2"), level("1"), ["UpdatePodScaleDown"]),
        (
            make_pod("p", schedulingGates=GATE),
            make_pod("p"),
            ["UpdatePodSchedulingGatesEliminated"],
        ),
        (
            make_pod("p", schedulingGates=[*GATE, {"name": "h"}]),
            make_pod("p", schedulingGates=GATE),
            ["Update"],
        ),
        (make_pod("p"), make_pod("p", schedulingGates=GATE), ["Update"]),
        (make_pod("p"), make_pod("p", tolerations=[TOLERATION]), ["UpdatePodToleration"]),
        (
            make_pod("p", tolerations=[TOLERATION]),
            make_pod("p", tolerations=[{**TOLERATION, "key": "other"}]),
            ["Update"],
        ),
        (
            make_pod("p"),
            make_pod("p", status={"resourceClaimStatuses": [{"name": "c"}]}),
            ["UpdatePodGeneratedResourceClaim"],
        ),
        (
            make_pod("p", schedulingGates=GATE, requests={"cpu": "2"}),
            make_pod("p", labels={"a": "b"}, tolerations=[TOLERATION], requests={"cpu": "1"}),
            [
                "UpdatePodLabel",
                "UpdatePodScaleDown",
                "UpdatePodSchedulingGatesEliminated",
                "UpdatePodToleration",
            ],
        ),
    ],
)
def test_what_changed_in_a_pod(old: Pod, new: Pod, events: list[str]) -> None:
    assert pod_events(old, new) == [f"UnschedulablePod{event}" for event in events]
    on_node = [replace(pod, spec=replace(pod.spec, node_name="n")) for pod in (old, new)]
    assert pod_events(*on_node) == [f"AssignedPod{event}" for event in events]


def test_a_pod_that_was_just_bound_counts_as_assigned() -> None:
    assert pod_events(make_pod("p"), make_pod("p", node="n")) == ["AssignedPodUpdate"]


def test_a_resize_in_progress_counts_with_what_the_node_still_gives() -> None:
    given = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
    assert pod_events(cpu("2", status=given), cpu("1", status=given)) == ["UnschedulablePodUpdate"]
    done = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    assert pod_events(cpu("1", status=given), cpu("1", status=done)) == [
        "UnschedulablePodUpdatePodScaleDown"
    ]


TAINT = ("k", "v", "NoSchedule")


def conditions(beat: str, **statuses: str) -> Node:
    listed = [
        {"type": kind, "status": status, "lastHeartbeatTime": f"2026-01-01T00:00:{beat}Z"}
        for kind, status in statuses.items()
    ]
    return msgspec.convert({"metadata": {"name": "n"}, "status": {"conditions": listed}}, Node)


@pytest.mark.parametrize(
    ("old", "new", "events"),
    [
        (make_node("n"), make_node("n"), []),
        (make_node("n", unschedulable=True), make_node("n"), ["UpdateNodeTaint"]),
        (make_node("n"), make_node("n", unschedulable=True), []),
        (
            make_node("n", allocatable={"cpu": "1"}),
            make_node("n", allocatable={"cpu": "2"}),
            ["UpdateNodeAllocatable"],
        ),
        (
            make_node("n", allocatable={"cpu": "1"}),
            make_node("n", allocatable={"cpu": "1000m"}),
            [],
        ),
        (make_node("n"), make_node("n", labels={"a": "b"}), ["UpdateNodeLabel"]),
        (make_node("n"), make_node("n", taints=[TAINT]), ["UpdateNodeTaint"]),
        (make_node("n"), make_node("n", features=["f"]), ["UpdateNodeDeclaredFeature"]),
        (conditions("00", Ready="True"), conditions("10", Ready="True"), []),
        (conditions("00", Ready="True"), conditions("00", Ready="False"), ["UpdateNodeCondition"]),
        (make_node("n"), make_node("n", images={"app:v1": 1}), []),
        (
            make_node("n", unschedulable=True, taints=[TAINT]),
            make_node("n", labels={"a": "b"}, allocatable={"cpu": "9"}, features=["f"]),
            [
                "UpdateNodeTaint",
                "UpdateNodeAllocatable",
                "UpdateNodeLabel",
                "UpdateNodeTaint",
                "UpdateNodeDeclaredFeature",
            ],
        ),
    ],
)
def test_what_changed_in_a_node(old: Node, new: Node, events: list[str]) -> None:
    assert [str(event) for event in node_changes(old, new)] == [f"Node{e}" for e in events]


def test_annotations_of_a_node_are_a_change_of_their_own() -> None:
    old = make_node("n")
    new = replace(old, metadata=replace(old.metadata, annotations={"a": "b"}))
    assert [str(event) for event in node_changes(old, new)] == ["NodeUpdateNodeAnnotation"]

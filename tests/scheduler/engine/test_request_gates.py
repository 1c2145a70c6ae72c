"""What pods count for while PodLevelResources or resizing in place is off."""

from typing import Any

import pytest
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.releases.release import Version
from podium.testing import FakeCluster, make_handle, make_node, make_pod

NODE = {"cpu": "4", "memory": "8Gi", "pods": 10}
NO_RESIZES = FeatureGates({"InPlacePodVerticalScaling": False}, emulated=Version(1, 34))
NO_POD_LEVEL = FeatureGates(
    {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}
)
NO_POD_LEVEL_RESIZES = FeatureGates({"InPlacePodLevelResourcesVerticalScaling": False})


def requested_cpu(driver: FakeCluster, node: str = "n") -> int:
    cluster = driver.engine.cluster
    cpu = cluster.nodes.resource_id("cpu")
    return int(cluster.usage.requested_of(cpu)[cluster.nodes.row(node)])


def resized(name: str, spec: str, given: str, **fields: Any) -> Pod:
    """A pod on the node whose container asks for `spec` and was given `given`."""
    resources = {"requests": {"cpu": given}}
    statuses = [{"name": "main", "resources": resources, "allocatedResources": {"cpu": given}}]
    return make_pod(
        name, node="n", requests={"cpu": spec}, status={"containerStatuses": statuses}, **fields
    )


@pytest.mark.parametrize(("gates", "cpu"), [({}, 3000), (NO_POD_LEVEL, 500)], ids=["on", "off"])
def test_pod_level_requests_count_with_their_gate(gates: Any, cpu: int) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), gates=gates)
    driver.put(
        make_pod("p", node="n", requests={"cpu": "500m"}, resources={"requests": {"cpu": "3"}})
    )
    assert requested_cpu(driver) == cpu


@pytest.mark.parametrize(
    ("gates", "where"), [({}, "unschedulable"), (NO_POD_LEVEL, "binding")], ids=["on", "off"]
)
def test_a_pending_pod_needs_its_pod_level_requests_with_their_gate(gates: Any, where: str) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), gates=gates)
    driver.put(make_pod("p", requests={"cpu": "1"}, resources={"requests": {"cpu": "5"}}))
    driver.run()
    assert driver.where() == {"p": where}


@pytest.mark.parametrize(("gates", "cpu"), [({}, 3000), (NO_RESIZES, 1000)], ids=["on", "off"])
def test_what_a_container_was_given_counts_with_the_gate_of_resizes(gates: Any, cpu: int) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), resized("p", "1", "3"), gates=gates)
    assert requested_cpu(driver) == cpu


@pytest.mark.parametrize(
    ("gates", "cpu"), [({}, 3000), (NO_POD_LEVEL_RESIZES, 2000)], ids=["on", "off"]
)
def test_what_a_whole_pod_was_given_counts_with_a_gate_of_its_own(gates: Any, cpu: int) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), gates=gates)
    status = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}
    driver.put(make_pod("p", node="n", resources={"requests": {"cpu": "2"}}, status=status))
    assert requested_cpu(driver) == cpu


@pytest.mark.parametrize(
    ("gates", "where"), [({}, "backoff"), (NO_RESIZES, "unschedulable")], ids=["on", "off"]
)
def test_a_pod_that_shrinks_wakes_others_with_the_gate_of_resizes(gates: Any, where: str) -> None:
    driver = FakeCluster(make_node("n", allocatable=NODE), resized("big", "3", "3"), gates=gates)
    driver.put(make_pod("waits", requests={"cpu": "2"}))
    driver.run()
    assert driver.where()["waits"] == "unschedulable"
    small = resized("big", "1", "1")
    driver.put(replace(small, metadata=replace(small.metadata, resource_version="2")))
    assert driver.where()["waits"] == where


def test_the_kit_for_plugin_tests_counts_as_its_gates_say() -> None:
    handle = make_handle(PodLevelResources=False, InPlacePodLevelResourcesVerticalScaling=False)
    infos = handle.cluster.infos
    pod = make_pod("p", requests={"cpu": "1"}, resources={"requests": {"cpu": "5"}})
    assert infos.of(pod).shape.requests == {"cpu": 1000}

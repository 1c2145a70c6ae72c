"""Claims that take of their node's own resources, from the queue to the report."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import PodOutcome, Simulation, load_scenario
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry

Raw = dict[str, Any]
Run = Callable[..., Simulation]

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {"allocatable": {"cpu": "32", "memory": "64Gi", "pods": 110}},
}
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "cpus"},
    "spec": {},
}
TEMPLATE: Raw = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "numa"},
    "spec": {
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "cpus"}}]}}
    },
}


def slice_of(cpu: str) -> Raw:
    mappings = {"cpu": {"allocationMultiplier": cpu}}
    devices = [{"name": f"numa-{n}", "nodeAllocatableResourceMappings": mappings} for n in range(2)]
    spec = {"driver": "cpu.example.com", "nodeName": "n1", "devices": devices}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "n1"},
        "spec": {**spec, "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}},
    }


def pod(name: str, cpu: str = "0", *, numa: bool = False, **spec: Any) -> Raw:
    resources: Raw = {"requests": {"cpu": cpu}}
    if numa:
        resources["claims"] = [{"name": "cpus"}]
        spec["resourceClaims"] = [{"name": "cpus", "resourceClaimTemplateName": "numa"}]
    containers = [{"name": "main", "image": "app", "resources": resources}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers, **spec},
    }


@pytest.fixture
def simulate(tmp_path: Path) -> Run:
    def run(*objects: Raw, gate: bool = True) -> Simulation:
        path = tmp_path / "input.yaml"
        path.write_text(yaml.safe_dump_all([NODE, CLASS, TEMPLATE, slice_of("16"), *objects]))
        gates = FeatureGates({"DRANodeAllocatableResources": gate})
        configuration = load_configuration(None, gates=gates)
        return Simulation(
            load_scenario([str(path)], gates=gates),
            configuration,
            in_tree_registry(),
            gates=gates,
            validate=True,
        )

    return run


def outcomes(simulation: Simulation) -> dict[str, PodOutcome]:
    return {result.pod.metadata.name: result.outcome for result in simulation.run().pods}


def requested_cpu(simulation: Simulation) -> int:
    cluster = simulation.engine.cluster
    return int(cluster.usage.requested_of(cluster.nodes.resource_id("cpu"))[0])


def test_a_placed_pod_takes_what_its_devices_stand_for(simulate: Run) -> None:
    simulation = simulate(pod("pinned", "1", numa=True), pod("plain", "16"))
    assert outcomes(simulation) == {
        "pinned": PodOutcome.PLACED,
        "plain": PodOutcome.UNSCHEDULABLE,
    }
    assert requested_cpu(simulation) == 17_000
    held = simulation.engine.state.pods["default/pinned"].status
    (status,) = held.node_allocatable_resource_claim_statuses or ()
    assert status.resource_claim_name.startswith("pinned-cpus")
    assert (status.containers, status.resources) == (("main",), {"cpu": "16"})


def test_without_the_gate_both_fit(simulate: Run) -> None:
    simulation = simulate(pod("pinned", "1", numa=True), pod("plain", "16"), gate=False)
    assert set(outcomes(simulation).values()) == {PodOutcome.PLACED}
    assert requested_cpu(simulation) == 17_000


def test_a_stronger_pod_evicts_weaker_ones_for_the_room_of_its_devices(simulate: Run) -> None:
    simulation = simulate(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "high"},
            "value": 100,
        },
        pod("weak", "20", nodeName="n1"),
        pod("strong", numa=True, priorityClassName="high"),
    )
    (strong,) = (result for result in simulation.run().pods if result.key == "default/strong")
    assert strong.victims == ("default/weak",)
    assert "default/weak" not in simulation.engine.state.pods


def test_the_cause_names_what_pod_and_claims_need_together(simulate: Run) -> None:
    simulation = simulate(pod("weak", "20", nodeName="n1"), pod("second", numa=True))
    (waits,) = (result for result in simulation.run().pods if result.key == "default/second")
    cause = waits.causes[0]
    assert cause.code == "insufficient-resource-for-claims"
    assert cause.sentence == (
        "With what its ResourceClaims take of the node, the pod needs 16 cpu; the best candidate"
        " (n1) has 12 of 32 cpu free."
    )


def test_a_claim_that_no_container_refers_to_is_named(simulate: Run) -> None:
    wants = pod("careless", numa=True)
    del wants["spec"]["containers"][0]["resources"]["claims"]
    (waits,) = simulate(wants).run().pods
    assert waits.causes[0].code == "resource-claim-unreferenced"
    assert "a container of the pod has to refer to it" in waits.causes[0].sentence


def test_pod_level_requests_that_are_too_small_are_named(simulate: Run) -> None:
    wants = pod("tight", "1", numa=True, resources={"requests": {"cpu": "2"}})
    (waits,) = simulate(wants).run().pods
    cause = waits.causes[0]
    assert (cause.code, cause.subject) == ("pod-level-request-too-small", "cpu")


def test_a_claim_that_another_pod_has_is_named(simulate: Run) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "mine"},
        "spec": TEMPLATE["spec"]["spec"],
    }
    pods = [pod(name, numa=True) for name in ("first", "second")]
    for each in pods:
        each["spec"]["resourceClaims"] = [{"name": "cpus", "resourceClaimName": "mine"}]
    results = {result.key: result for result in simulate(claim, *pods).run().pods}
    assert results["default/first"].placed
    cause = results["default/second"].causes[0]
    assert (cause.code, cause.subject) == ("resource-claim-in-use", "mine")

"""Fields of devices and of the pods that use them, which only servers with open gates keep."""

from typing import Any

import pytest
from support.apiserver.api_calls import Api

from podium.kubernetes.releases.feature_gates import FeatureGates

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
PODS = "/api/v1/namespaces/default/pods"


def slice_of(**device: Any) -> dict[str, Any]:
    spec = {
        "driver": "cpu.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "a", **device}],
    }
    return {"metadata": {"name": "s"}, "spec": spec}


def devices_api(*gates: str) -> Api:
    return Api(gates=FeatureGates(dict.fromkeys(gates, True)))


def test_what_devices_stand_for_is_kept_with_its_gate_only() -> None:
    written = slice_of(
        capacity={"cores": {"value": "8"}},
        nodeAllocatableResourceMappings={
            "cpu": {"capacityKey": "cores"},
            "memory": {"allocationMultiplier": "1024Mi"},
        },
    )
    opened = devices_api("DRANodeAllocatableResources")
    made = opened.ask("POST", SLICES, written)
    assert made.status == 201, made.text
    mappings = {
        "cpu": {"capacityKey": "cores", "allocationMultiplier": "1"},
        "memory": {"allocationMultiplier": "1Gi"},
    }
    assert made.body["spec"]["devices"][0]["nodeAllocatableResourceMappings"] == mappings
    closed = devices_api().ask("POST", SLICES, written)
    assert closed.status == 201, closed.text
    assert "nodeAllocatableResourceMappings" not in closed.body["spec"]["devices"][0]


def test_a_slice_with_such_a_device_may_get_more_of_them_while_the_gate_is_closed() -> None:
    mappings = {"cpu": {"allocationMultiplier": "2"}}
    opened = devices_api("DRANodeAllocatableResources")
    opened.ask("POST", SLICES, slice_of(nodeAllocatableResourceMappings=mappings))
    closed = Api(opened.store)
    found = closed.ask("GET", f"{SLICES}/s").body
    found["spec"]["devices"].append({"name": "b", "nodeAllocatableResourceMappings": mappings})
    changed = closed.ask("PUT", f"{SLICES}/s", found)
    assert changed.status == 200, changed.text
    kept = [each["nodeAllocatableResourceMappings"] for each in changed.body["spec"]["devices"]]
    assert kept == [mappings, mappings]


@pytest.mark.parametrize(
    ("mappings", "told"),
    [
        (
            {"example.com/gpu": {"allocationMultiplier": "1"}},
            "nodeAllocatableResourceMappings[example.com/gpu]: Invalid value: "
            '"example.com/gpu": must be a node allocatable resource name',
        ),
        (
            {"cpu": {"allocationMultiplier": "0"}},
            'nodeAllocatableResourceMappings[cpu].allocationMultiplier: Invalid value: "0": '
            "must be positive",
        ),
        (
            {"cpu": {"capacityKey": ""}},
            'nodeAllocatableResourceMappings[cpu].capacityKey: Invalid value: "": '
            "capacityKey must not be an empty string",
        ),
        (
            {"cpu": {"capacityKey": "missing"}},
            'nodeAllocatableResourceMappings[cpu].capacityKey: Not found: "missing"',
        ),
    ],
)
def test_what_a_device_cannot_stand_for_is_refused(mappings: Any, told: str) -> None:
    api = devices_api("DRANodeAllocatableResources")
    refused = api.ask("POST", SLICES, slice_of(nodeAllocatableResourceMappings=mappings))
    assert refused.status == 422
    assert f"spec.devices[0].{told}" in refused.message


def test_attributes_that_are_lists_are_kept_with_their_gate_only() -> None:
    written = slice_of(attributes={"sizes": {"ints": [1, 2]}})
    assert devices_api("DRAListTypeAttributes").ask("POST", SLICES, written).status == 201
    refused = devices_api().ask("POST", SLICES, written)
    assert refused.status == 422
    assert "spec.devices[0].attributes[sizes]" in refused.message


def with_pod(api: Api) -> Api:
    spec = {
        "containers": [{"name": "main", "image": "app"}],
        "resourceClaims": [{"name": "cpus", "resourceClaimName": "c"}],
    }
    made = api.ask("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made.status == 201, made.text
    return api


def patched(api: Api, *statuses: dict[str, Any]) -> Any:
    body = {"status": {"nodeAllocatableResourceClaimStatuses": list(statuses)}}
    kind = "application/strategic-merge-patch+json"
    return api.ask("PATCH", f"{PODS}/p/status", body, content_type=kind)


CLAIMED = {"resourceClaimName": "c", "containers": ["main"], "resources": {"cpu": "2"}}


def test_what_claims_take_is_kept_in_a_pod_with_its_gate_only() -> None:
    opened = with_pod(devices_api("DRANodeAllocatableResources"))
    kept = patched(opened, CLAIMED)
    assert kept.status == 200, kept.text
    assert kept.body["status"]["nodeAllocatableResourceClaimStatuses"] == [CLAIMED]
    dropped = patched(with_pod(devices_api()), CLAIMED)
    assert dropped.status == 200, dropped.text
    assert "nodeAllocatableResourceClaimStatuses" not in dropped.body["status"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"resourceClaimName": "other"},
            'resourceClaimName: Invalid value: "other": no mapping found in pod reference',
        ),
        ({"containers": []}, "containers: Required value: must not be empty"),
        ({"resources": {}}, "resources: Required value: must not be empty"),
        (
            {"resources": {"example.com/gpu": "1"}},
            'resources[example.com/gpu]: Invalid value: "example.com/gpu": must be a node '
            "allocatable resource name",
        ),
        ({"resources": {"cpu": "-1"}}, 'resources[cpu]: Invalid value: "-1": must be non-negative'),
    ],
)
def test_what_claims_cannot_take_is_refused(change: Any, told: str) -> None:
    api = with_pod(devices_api("DRANodeAllocatableResources"))
    refused = patched(api, {**CLAIMED, **change})
    assert refused.status == 422
    assert f"status.nodeAllocatableResourceClaimStatuses[0].{told}" in refused.message


def test_a_pod_whose_claims_take_of_its_node_cannot_be_resized() -> None:
    api = with_pod(devices_api("DRANodeAllocatableResources"))
    patched(api, CLAIMED)
    body = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}}
    kind = "application/strategic-merge-patch+json"
    refused = api.ask("PATCH", f"{PODS}/p/resize", body, content_type=kind)
    assert refused.status == 422
    assert "pods with node allocatable resource claims cannot be resized" in refused.message


def test_a_pod_whose_containers_have_claims_cannot_be_resized_either() -> None:
    api = devices_api()
    resources = {"requests": {"cpu": "1"}, "claims": [{"name": "cpus"}]}
    spec = {
        "containers": [{"name": "main", "image": "app", "resources": resources}],
        "resourceClaims": [{"name": "cpus", "resourceClaimName": "c"}],
    }
    made = api.ask("POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    assert made.status == 201, made.text
    body = {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}
    kind = "application/strategic-merge-patch+json"
    refused = api.ask("PATCH", f"{PODS}/p/resize", body, content_type=kind)
    assert refused.message.endswith("spec: Forbidden: only cpu and memory resources are mutable")

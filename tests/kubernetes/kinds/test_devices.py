"""Device objects keep every field, because the scheduler writes some of them back."""

from typing import Any

import msgspec
import pytest

from podium.kubernetes.kinds.devices import DeviceClass, ResourceClaim, ResourceSlice
from podium.kubernetes.kinds.typed_objects import decode_object

SELECTOR = {
    "nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    ]
}
TOLERATION = {
    "key": "k",
    "operator": "Equal",
    "value": "v",
    "effect": "NoSchedule",
    "tolerationSeconds": 5,
}
REQUEST = {
    "deviceClassName": "gpu",
    "selectors": [{"cel": {"expression": "true"}}],
    "allocationMode": "ExactCount",
    "count": 2,
    "tolerations": [TOLERATION],
    "capacity": {"requests": {"memory": "1Gi"}},
}
OPAQUE = {"opaque": {"driver": "d", "parameters": {"apiVersion": "d/v1", "deep": [None, 1]}}}


def resource(kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "x"}, **parts}


CLAIM_SPEC = {
    "devices": {
        "requests": [
            {"name": "a", "exactly": {**REQUEST, "adminAccess": False}},
            {"name": "b", "firstAvailable": [{"name": "b1", **REQUEST}]},
        ],
        "constraints": [
            {"requests": ["a"], "matchAttribute": "d/x"},
            {"distinctAttribute": "d/y"},
        ],
        "config": [{"requests": ["a"], **OPAQUE}],
    }
}

CLAIM = resource(
    "ResourceClaim",
    spec=CLAIM_SPEC,
    status={
        "allocation": {
            "devices": {
                "results": [
                    {
                        "request": "a",
                        "driver": "d",
                        "pool": "p",
                        "device": "gpu-0",
                        "adminAccess": True,
                        "tolerations": [TOLERATION],
                        "bindingConditions": ["c"],
                        "bindingFailureConditions": ["f"],
                        "shareID": "uuid",
                        "consumedCapacity": {"memory": "1Gi"},
                    }
                ],
                "config": [{"source": "FromClass", "requests": ["a"], **OPAQUE}],
            },
            "nodeSelector": SELECTOR,
            "allocationTimestamp": "2026-01-01T00:00:00Z",
        },
        "reservedFor": [{"resource": "pods", "name": "web", "uid": "u", "apiGroup": "g"}],
        "devices": [
            {
                "driver": "d",
                "pool": "p",
                "device": "gpu-0",
                "shareID": "uuid",
                "conditions": [
                    {
                        "type": "c",
                        "status": "True",
                        "reason": "R",
                        "message": "m",
                        "observedGeneration": 1,
                        "lastTransitionTime": "2026-01-01T00:00:00Z",
                    }
                ],
                "data": {"any": None},
                "networkData": {"ips": ["10.0.0.1"]},
            }
        ],
    },
)

TEMPLATE = resource(
    "ResourceClaimTemplate", spec={"metadata": {"labels": {"a": "b"}}, "spec": CLAIM_SPEC}
)

CLASS = resource(
    "DeviceClass",
    spec={
        "selectors": [{"cel": {"expression": "true"}}],
        "config": [OPAQUE],
        "extendedResourceName": "example.com/gpu",
    },
)

DEVICE = {
    "name": "gpu-0",
    "attributes": {
        "int": {"int": 3},
        "bool": {"bool": False},
        "string": {"string": ""},
        "version": {"version": "1.0.0"},
        "lists": {"ints": [1], "bools": [True], "strings": ["a"], "versions": ["1.0.0"]},
    },
    "capacity": {
        "memory": {
            "value": "16Gi",
            "requestPolicy": {
                "default": "1Gi",
                "validValues": ["1Gi", "2Gi"],
                "validRange": {"min": "1Gi", "max": "8Gi", "step": "1Gi"},
            },
        }
    },
    "consumesCounters": [{"counterSet": "card", "counters": {"slots": {"value": "1"}}}],
    "nodeName": "n",
    "nodeSelector": SELECTOR,
    "allNodes": False,
    "taints": [
        {"key": "k", "value": "v", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
    ],
    "bindsToNode": True,
    "bindingConditions": ["c"],
    "bindingFailureConditions": ["f"],
    "allowMultipleAllocations": True,
    "nodeAllocatableResourceMappings": {
        "cpu": {"capacityKey": "cores", "allocationMultiplier": "1"}
    },
}

SLICE = resource(
    "ResourceSlice",
    spec={
        "driver": "d",
        "pool": {"name": "p", "generation": 2, "resourceSliceCount": 1},
        "nodeName": "n",
        "nodeSelector": SELECTOR,
        "allNodes": True,
        "perDeviceNodeSelection": True,
        "devices": [DEVICE],
        "sharedCounters": [{"name": "card", "counters": {"slots": {"value": "4"}}}],
    },
)


@pytest.mark.parametrize("raw", [CLAIM, TEMPLATE, CLASS, SLICE], ids=lambda raw: raw["kind"])
def test_decoding_and_encoding_loses_nothing(raw: dict[str, Any]) -> None:
    encoded = msgspec.to_builtins(decode_object(raw, strict=True))
    head = {"apiVersion": raw["apiVersion"], "kind": raw["kind"]}
    assert msgspec.json.decode(msgspec.json.encode({**encoded, **head})) == raw


def test_attributes_tell_their_types_apart() -> None:
    decoded = decode_object(SLICE, strict=True)
    assert isinstance(decoded, ResourceSlice)
    assert decoded.spec.devices is not None
    attributes = decoded.spec.devices[0].attributes
    assert attributes is not None
    assert attributes["int"].int_ == 3
    assert attributes["bool"].bool_ is False
    assert attributes["string"].string == ""
    assert attributes["string"].version is None


def test_admin_access_false_is_not_the_same_as_left_out() -> None:
    decoded = decode_object(CLAIM, strict=True)
    assert isinstance(decoded, ResourceClaim)
    assert decoded.spec.devices.requests is not None
    exactly, alternatives = decoded.spec.devices.requests
    assert exactly.exactly is not None
    assert exactly.exactly.admin_access is False
    assert alternatives.exactly is None


def test_a_claim_without_status_is_not_allocated() -> None:
    decoded = decode_object(resource("ResourceClaim", spec=CLAIM_SPEC), strict=True)
    assert isinstance(decoded, ResourceClaim)
    assert decoded.status.allocation is None
    assert decoded.status.reserved_for is None


def test_a_class_without_extended_resource_serves_none() -> None:
    decoded = decode_object(resource("DeviceClass", spec={}), strict=True)
    assert isinstance(decoded, DeviceClass)
    assert decoded.spec.extended_resource_name is None

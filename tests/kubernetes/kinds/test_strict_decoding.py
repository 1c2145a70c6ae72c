"""The quick way into typed objects: the same objects as the careful one, or none."""

import json
from typing import Any

import pytest

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.strict_decoding import decode_strictly
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.kinds.workloads import PodDisruptionBudget

SOUND: JsonObject = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "a",
        "labels": {"app": "web"},
        "generateName": "a-",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": None,
    },
    "spec": {
        "nodeSelector": {"pool": "gpu"},
        "containers": [
            {
                "name": "main",
                "image": "app",
                "livenessProbe": {"httpGet": {"port": 80}},
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "resources": {"requests": {"cpu": "500m", "memory": "1.5Gi", "a.b/c": 3}},
            }
        ],
        "tolerations": [{"operator": "Exists", "tolerationSeconds": 300}],
    },
    "status": {"phase": "Running", "of a later release": {"x": [1, 2]}},
}


def changed(path: str, value: Any) -> bytes:
    body = json.loads(json.dumps(SOUND))
    *steps, last = path.split(".")
    inner = body
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    inner[last] = value
    return json.dumps(body).encode()


def test_a_sound_object_is_the_one_that_the_careful_way_gives() -> None:
    decoded = decode_strictly(json.dumps(SOUND).encode(), Pod)
    assert decoded == convert_object(SOUND, Pod, strict=True)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.nodeSelecter", {"pool": "gpu"}),
        ("spec.containers.0.resources.limit", {}),
        ("spec.containers.0.ports", [{"hostport": 80}]),
        ("spec.containers.0.image", None),
        ("spec.containers.0.image", 5),
        ("spec.containers.0.resources.requests.cpu", "much"),
        ("spec.containers.0.resources.requests.cpu", "1\n"),
        ("spec.containers.0.resources.requests.cpu", "1e3"),
        ("spec.containers.0.resources.requests.cpu", 0.5),
        ("spec.containers.0.resources.requests.cpu", None),
        ("spec.priority", 2**63),
        ("spec.containers.0.resources.requests.cpu", 2**63),
        ("metadata.name", ""),
        ("metadata.labels.app", None),
        ("spec", "none"),
        ("kind", "Node"),
        ("status.conditions", [{"type": 5}]),
    ],
)
def test_whatever_may_be_wrong_is_left_to_the_careful_way(path: str, value: Any) -> None:
    assert decode_strictly(changed(path, value), Pod) is None


@pytest.mark.parametrize("quantity", ["0", "15", "100m", "1.5Gi", "3k", "999999999999999Ti", 7, 0])
def test_plain_quantities_are_taken_as_they_are(quantity: str | int) -> None:
    data = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": quantity}}}
    decoded = decode_strictly(json.dumps(data).encode(), Node)
    assert decoded == convert_object(data, Node, strict=True)


def test_an_integer_or_a_percentage_is_either() -> None:
    for written in (1, "50%"):
        data = {"metadata": {"name": "b"}, "spec": {"minAvailable": written}}
        decoded = decode_strictly(json.dumps(data).encode(), PodDisruptionBudget)
        assert decoded == convert_object(data, PodDisruptionBudget, strict=True)


def test_what_is_no_json_is_no_object() -> None:
    assert decode_strictly(b'{"metadata": {"name": "a"', Pod) is None
    assert decode_strictly(b"[" * 100_000, Pod) is None

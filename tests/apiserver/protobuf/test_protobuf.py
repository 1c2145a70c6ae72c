"""Objects survive the way through protobuf."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.apiserver.api_calls import Json

from podium.apiserver import protobuf
from podium.apiserver.protobuf.wire import (
    MAX_FIELDS,
    FieldReader,
    bytes_field,
    fields_of_message,
    to_signed,
    varint,
)
from podium.kubernetes.resources.table import builtin_resources
from podium.kubernetes.schema import decode, schema_of

POD: Json = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "p",
        "labels": {"a": "b"},
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
        ],
        "managedFields": [{"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": {"f:x": {}}}],
    },
    "spec": {
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": {"disk": "ssd"},
        "containers": [
            {
                "name": "c",
                "image": "i",
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "500m"}},
                "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5},
                "readinessProbe": {"tcpSocket": {"port": 80}},
                "env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
            }
        ],
        "volumes": [
            {"name": "v", "configMap": {"name": "cm", "items": [{"key": "k", "path": "p"}]}},
            {"name": "w", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
        "tolerations": [{"key": "t", "tolerationSeconds": -5}],
        "priority": -1,
    },
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}
OTHERS: list[Json] = [
    {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}, "data": {"k": "AAEC"}},
    {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {"name": "l"},
        "spec": {"renewTime": "2026-01-01T00:00:01.500000Z", "leaseTransitions": 3},
    },
    {
        "kind": "PodDisruptionBudget",
        "apiVersion": "policy/v1",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": "25%", "selector": {"matchLabels": {"a": "b"}}},
    },
    {
        "kind": "SubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {"user": "u", "extra": {"scopes": ["a", "b"]}},
    },
    {
        "kind": "DeviceClass",
        "apiVersion": "resource.k8s.io/v1",
        "metadata": {"name": "d"},
        "spec": {"config": [{"opaque": {"driver": "x", "parameters": {"a": [1]}}}]},
    },
]


@pytest.mark.parametrize("obj", [POD, *OTHERS], ids=lambda obj: str(obj["kind"]))
def test_an_object_reads_back_as_it_was(obj: Json) -> None:
    group, _, version = obj["apiVersion"].rpartition("/")
    schema = schema_of(group, version, obj["kind"])

    read = protobuf.decode(protobuf.encode(schema, obj))

    assert (read.kind, read.api_version) == (obj["kind"], obj["apiVersion"])
    again = decode({**read.value, "kind": read.kind, "apiVersion": read.api_version}, schema)
    assert again.value == decode(obj, schema).value
    assert again.problems == []


@pytest.mark.parametrize(
    "resource",
    [each for each in builtin_resources() if each.group != "apiextensions.k8s.io"],
    ids=lambda each: each.group_resource,
)
def test_every_kind_has_numbers_for_its_fields(resource: object) -> None:
    schema = schema_of(resource.group, "v1", resource.kind)  # type: ignore[attr-defined]
    known = {field.name for field in fields_of_message(schema.root.group, schema.kind)}

    assert set(schema.root.fields) - {"kind", "apiVersion"} <= known


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_survive(number: int) -> None:
    (found,) = FieldReader().fields_of(memoryview(b"\x08" + varint(number)))

    assert isinstance(found[1], int)
    assert to_signed(found[1]) == number


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    envelope = b"k8s\x00" + b"\x0a\x09\x0a\x02v1\x12\x03Pod"
    for body in (data, envelope + b"\x12" + varint(len(data)) + data):
        try:
            protobuf.decode(body)
        except (protobuf.WireError, protobuf.UnknownMessageKind) as problem:
            told = str(problem)
        else:
            told = "fine"
        assert told


def test_a_body_of_too_many_fields_is_refused() -> None:
    data = bytes_field(2, b"") * (MAX_FIELDS + 1)

    with pytest.raises(protobuf.WireError, match=r"exceeded max number of fields \(200000\)"):
        protobuf.decode(b"k8s\x00" + data)

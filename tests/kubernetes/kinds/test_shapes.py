"""Raw objects are checked field by field, and errors name the field."""

from typing import Any

import msgspec
import pytest

from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import decode_json, decode_object


def pod(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, **parts}


def container(**fields: Any) -> dict[str, Any]:
    return pod(spec={"containers": [{"name": "main"}, {"name": "side", **fields}]})


def refusal(raw: Any, *, strict: bool = True) -> ObjectError:
    with pytest.raises(ObjectError) as caught:
        decode_object(raw, strict=strict)
    return caught.value


# --- nulls ------------------------------------------------------------------------------------


def test_null_fields_count_as_left_out() -> None:
    raw = pod(
        metadata={"name": "web", "namespace": None, "labels": None, "creationTimestamp": None},
        spec={
            "nodeName": None,
            "schedulerName": None,
            "hostNetwork": None,
            "tolerations": None,
            "affinity": {"nodeAffinity": None},
            "containers": [{"name": "main", "image": None, "ports": None, "resources": None}],
        },
        status=None,
    )
    bare = pod(spec={"affinity": {}, "containers": [{"name": "main"}]})
    assert decode_object(raw, strict=True) == decode_object(bare, strict=True)
    assert decode_json(msgspec.json.encode(raw)) == decode_object(bare, strict=True)


def test_a_null_in_a_map_or_list_is_the_zero_value_of_its_type() -> None:
    decoded = decode_object(
        pod(
            metadata={"name": "web", "labels": {"app": None}},
            spec={
                "nodeSelector": {"disk": None},
                "overhead": {"cpu": None},
                "tolerations": [None, {"operator": "Exists"}],
            },
        ),
        strict=True,
    )
    assert isinstance(decoded, Pod)
    assert decoded.metadata.labels == {"app": ""}
    assert decoded.spec.node_selector == {"disk": ""}
    assert decoded.spec.overhead == {"cpu": 0}
    assert decoded.spec.tolerations is not None
    assert [toleration.operator for toleration in decoded.spec.tolerations] == ["", "Exists"]


def test_nulls_inside_opaque_parameters_are_kept() -> None:
    parameters = {"a": None, "b": [None]}
    decoded = decode_object(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu", "namespace": None},
            "spec": {"config": [{"opaque": {"driver": "d", "parameters": parameters}}]},
        },
        strict=True,
    )
    assert msgspec.to_builtins(decoded)["spec"]["config"][0]["opaque"]["parameters"] == parameters


# --- wrong types ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (
            container(image=5),
            "spec.containers[1].image: expected a string, got the number 5; "
            "put the value in quotes",
        ),
        (
            pod(metadata={"name": "web", "labels": {"example.com/on": True}}),
            'metadata.labels["example.com/on"]: expected a string, got true; '
            "put the value in quotes",
        ),
        (
            pod(spec={"priority": "10"}),
            'spec.priority: expected an integer, got the string "10"; write 10 without quotes',
        ),
        (pod(spec={"priority": 1.5}), "spec.priority: expected an integer, got the number 1.5"),
        (pod(spec={"priority": True}), "spec.priority: expected an integer, got true"),
        (
            pod(spec={"hostNetwork": "true"}),
            'spec.hostNetwork: expected true or false, got the string "true"; '
            "write true or false without quotes",
        ),
        (
            pod(spec={"containers": {"name": "main"}}),
            'spec.containers: expected a list, got an object; start each entry with "- "',
        ),
        (pod(spec=["x"]), "spec: expected an object, got a list"),
        (
            pod(spec={"nodeSelector": "x"}),
            'spec.nodeSelector: expected an object, got the string "x"',
        ),
        (
            container(resources={"requests": {"cpu": [1]}}),
            "spec.containers[1].resources.requests.cpu: expected a quantity, got a list",
        ),
        (pod(spec={"nodeName": {}}), "spec.nodeName: expected a string, got an object"),
        (pod(spec={"tolerations": [[]]}), "spec.tolerations[0]: expected an object, got a list"),
        (
            pod(spec={"hostNetwork": "x" * 50}),
            'spec.hostNetwork: expected true or false, got the string "' + "x" * 37 + '..."; '
            "write true or false without quotes",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_its_path(raw: dict[str, Any], told: str) -> None:
    assert str(refusal(raw)) == told
    assert str(refusal(raw, strict=False)) == told


@pytest.mark.parametrize("raw", [None, [], "Pod", 3])
def test_what_is_no_object_is_refused(raw: Any) -> None:
    assert "expected a Kubernetes object, got" in str(refusal(raw))


def test_an_integer_beyond_64_bits_is_refused() -> None:
    assert str(refusal(pod(spec={"priority": 2**63}))) == (
        "spec.priority: the number does not fit 64 bits"
    )


# --- unknown fields ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (pod(spce={}), "spce: unknown field; did you mean spec?"),
        (
            pod(spec={"nodeselector": {}}),
            "spec.nodeselector: unknown field; did you mean nodeSelector?",
        ),
        (
            container(resources={"request": {}}),
            "spec.containers[1].resources.request: unknown field; did you mean requests?",
        ),
        (
            container(volumeMount=[]),
            "spec.containers[1].volumeMount: unknown field; did you mean volumeMounts?",
        ),
        (
            pod(spec={"zzz": 1}),
            "spec.zzz: unknown field; remove it, or check its indentation",
        ),
    ],
)
def test_strict_decoding_refuses_unknown_fields(raw: dict[str, Any], told: str) -> None:
    assert str(refusal(raw)) == told
    decode_object(raw, strict=False)


def test_strict_decoding_looks_into_maps_of_structs() -> None:
    device = {"name": "gpu-0", "capacity": {"memory": {"valeu": "1Gi"}}}
    raw = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"devices": [device]},
    }
    assert refusal(raw).path == "spec.devices[0].capacity.memory.valeu"


def test_fields_that_scheduling_does_not_read_are_known_all_the_same() -> None:
    decode_object(
        container(command=["x"], env=[{"name": "A"}], livenessProbe={"x": 1}), strict=True
    )


def test_the_status_may_hold_unknown_fields() -> None:
    decode_object(
        pod(status={"novelty": 1, "conditions": [{"type": "X", "novelty": 1}]}), strict=True
    )


def test_a_field_named_status_elsewhere_gets_no_such_grace() -> None:
    assert refusal(pod(spec={"status": {}})).path == "spec.status"


# --- quantities and names ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (
            container(resources={"limits": {"example.com/gpu": "1x"}}),
            'spec.containers[1].resources.limits["example.com/gpu"]',
        ),
        (pod(spec={"overhead": {"cpu": ""}}), "spec.overhead.cpu"),
        (
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n"},
                "status": {"allocatable": {"memory": "4 Gi"}},
            },
            "status.allocatable.memory",
        ),
        (
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "CSIStorageCapacity",
                "metadata": {"name": "c"},
                "capacity": "much",
            },
            "capacity",
        ),
        (
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": "s"},
                "spec": {
                    "devices": [{"capacity": {"m": {"requestPolicy": {"validValues": [1, "x"]}}}}]
                },
            },
            "spec.devices[0].capacity.m.requestPolicy.validValues[1]",
        ),
    ],
)
def test_a_quantity_that_does_not_parse_is_named(raw: dict[str, Any], path: str) -> None:
    error = refusal(raw, strict=False)
    assert error.path == path
    assert "quantity" in error.problem
    with pytest.raises(ObjectError, match="quantity"):
        decode_json(msgspec.json.encode(raw))


@pytest.mark.parametrize("metadata", [{}, None, {"name": ""}, {"name": None}])
def test_an_object_needs_a_name(metadata: object) -> None:
    assert str(refusal(pod(metadata=metadata))) == "metadata.name: is missing"


def test_a_name_to_be_generated_is_not_a_name() -> None:
    assert str(refusal(pod(metadata={"generateName": "web-"}))) == (
        "metadata.name: is missing; only an API server makes one from generateName"
    )

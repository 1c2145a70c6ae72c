"""Raw objects become typed ones, or errors that name the field."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.api.documents import Document
from podium.api.errors import InputError
from podium.api.kinds import (
    CLUSTER_SCOPED,
    KINDS,
    ObjectError,
    UnknownKind,
    decode_as,
    decode_document,
    decode_json,
    decode_object,
)
from podium.api.node import Node
from podium.api.pod import Pod
from podium.api.storage import PersistentVolumeClaim


def pod(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, **parts}


def container(**fields: Any) -> dict[str, Any]:
    return pod(spec={"containers": [{"name": "main"}, {"name": "side", **fields}]})


def refusal(raw: Any, *, strict: bool = True) -> ObjectError:
    with pytest.raises(ObjectError) as caught:
        decode_object(raw, strict=strict)
    return caught.value


def test_every_kind_is_registered_under_what_its_struct_says() -> None:
    assert len(KINDS) == 20
    for (api_version, kind), struct in KINDS.items():
        decoded = decode_object(
            {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}, strict=True
        )
        assert type(decoded) is struct
        assert (decoded.api_version, decoded.kind) == (api_version, kind)


def test_kinds_know_whether_they_live_in_a_namespace() -> None:
    assert Node in CLUSTER_SCOPED
    assert Pod not in CLUSTER_SCOPED
    assert set(KINDS.values()) > CLUSTER_SCOPED


def test_a_pod_is_decoded_with_its_fields() -> None:
    decoded = decode_object(
        container(resources={"requests": {"cpu": "500m", "memory": 1024}}), strict=True
    )
    assert isinstance(decoded, Pod)
    assert decoded.spec.containers is not None
    resources = decoded.spec.containers[1].resources
    assert resources is not None
    assert resources.requests == {"cpu": "500m", "memory": 1024}


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
            "spec.containers[1].image: expected a string, got the number 5; put the value in quotes",
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


# --- kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "path"),
    [({}, "kind"), ({"kind": "Pod"}, "apiVersion"), ({"apiVersion": "v1", "kind": None}, "kind")],
)
def test_kind_and_api_version_must_be_there(raw: dict[str, Any], path: str) -> None:
    error = refusal(raw)
    assert not isinstance(error, UnknownKind)
    assert (error.path, error.problem) == (path, "is missing")


def test_kind_must_be_a_string() -> None:
    assert (
        str(refusal({"apiVersion": "v1", "kind": 5})) == "kind: expected a string, got the number 5"
    )


@pytest.mark.parametrize(
    ("api_version", "kind", "suggestion"),
    [
        ("v1", "ConfigMap", ""),
        ("v1", "PodTemplate", ""),
        ("apps/v1", "Deployment", ""),
        ("apps/v1", "DaemonSet", ""),
        ("serving.knative.dev/v1", "Service", ""),
        ("v1", "pod", "Pod"),
        ("v1", "Nodes", "Node"),
        ("apps/v1", "Replicaset", "ReplicaSet"),
    ],
)
def test_a_foreign_kind_is_told_apart_from_a_slip(
    api_version: str, kind: str, suggestion: str
) -> None:
    error = refusal({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}})
    assert isinstance(error, UnknownKind)
    assert (error.api_version, error.kind, error.suggestion) == (api_version, kind, suggestion)


def test_another_version_of_a_known_kind_is_an_error_of_its_own() -> None:
    error = refusal({"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget"})
    assert not isinstance(error, UnknownKind)
    assert str(error) == (
        "apiVersion: PodDisruptionBudget is not read in version policy/v1beta1; "
        "write it as policy/v1"
    )


# --- documents and JSON -----------------------------------------------------------------------


def test_errors_in_a_document_name_the_file_and_the_item() -> None:
    document = Document("dump.json", 1, 1, container(image=5), item="items[3]")
    with pytest.raises(InputError) as caught:
        decode_document(document, strict=False)
    assert str(caught.value).startswith("dump.json: items[3].spec.containers[1].image: expected")


def test_a_good_document_is_decoded_and_a_foreign_one_is_told_apart() -> None:
    assert isinstance(decode_document(Document("x", 1, 1, pod()), strict=True), Pod)
    with pytest.raises(UnknownKind):
        decode_document(Document("x", 1, 1, {"apiVersion": "v1", "kind": "Secret"}), strict=True)


def test_json_is_decoded_by_its_own_kind_or_by_the_kind_asked_for() -> None:
    data = msgspec.json.encode(pod(spec={"nodeName": "n1"}))
    decoded = decode_json(data)
    assert decoded == decode_object(pod(spec={"nodeName": "n1"}), strict=True)
    item = decode_as(
        b'{"metadata": {"name": "data"}, "spec": {"volumeName": "pv"}}', PersistentVolumeClaim
    )
    assert item.spec.volume_name == "pv"
    assert decode_as(msgspec.Raw(data), Pod) == decoded


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{", "is not JSON"),
        (b"[]", "expected a Kubernetes object, got a list"),
        (b'{"kind": "\xff"}', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"kind": null}', "kind: is missing"),
        (b'{"apiVersion": "v1", "kind": "Pod", "spec": 1}', "spec: expected an object, got the"),
        (b'{"apiVersion": "v1", "kind": "Pod", "metadata": {}}', "metadata.name: is missing"),
        (b'{"apiVersion": "v1", "kind": "Secret"}', "kind: Secret (v1) is not a kind"),
    ],
)
def test_json_that_is_no_object_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(ObjectError) as caught:
        decode_json(data)
    assert told in str(caught.value)


def test_json_of_another_kind_than_asked_for_is_refused() -> None:
    with pytest.raises(ObjectError) as caught:
        decode_as(msgspec.json.encode(pod()), Node)
    assert caught.value.path == "kind"


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["name", "containers", "resources", "requests", "cpu", "affinity"]),
            inner,
        )
    ),
)


@given(st.sampled_from(sorted(KINDS)), anything, anything, st.booleans())
def test_any_data_is_either_decoded_or_refused(
    kind: tuple[str, str], metadata: Any, spec: Any, strict: bool
) -> None:
    raw = {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}
    try:
        decode_object(raw, strict=strict)
    except ObjectError as error:
        assert not isinstance(error, UnknownKind)

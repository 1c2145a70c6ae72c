"""Raw objects become typed ones, or errors that name the field."""

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError
from podium.kubernetes.kinds.catalogue import find_kind
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.kinds.typed_objects import (
    KINDS,
    ObjectError,
    UnknownKind,
    decode_as,
    decode_document,
    decode_json,
    decode_object,
)


def pod(**parts: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, **parts}


def container(**fields: Any) -> dict[str, Any]:
    return pod(spec={"containers": [{"name": "main"}, {"name": "side", **fields}]})


def refusal(raw: Any, *, strict: bool = True) -> ObjectError:
    with pytest.raises(ObjectError) as caught:
        decode_object(raw, strict=strict)
    return caught.value


def test_every_kind_is_registered_under_what_its_struct_says() -> None:
    assert len(KINDS) == 23
    for (api_version, kind), struct in KINDS.items():
        decoded = decode_object(
            {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}, strict=True
        )
        assert type(decoded) is struct
        assert (decoded.api_version, decoded.kind) == (api_version, kind)


@pytest.mark.parametrize("key", KINDS, ids=" ".join)
def test_a_struct_has_the_version_and_scope_of_the_kinds_record(key: tuple[str, str]) -> None:
    api_version, kind = key
    group, _, version = api_version.rpartition("/")
    record = find_kind(group, kind)
    assert record.version == version
    assert record.namespaced is not KINDS[key].cluster_scoped


def test_a_pod_is_decoded_with_its_fields() -> None:
    decoded = decode_object(
        container(resources={"requests": {"cpu": "500m", "memory": 1024}}), strict=True
    )
    assert isinstance(decoded, Pod)
    assert decoded.spec.containers is not None
    resources = decoded.spec.containers[1].resources
    assert resources is not None
    assert resources.requests == {"cpu": "500m", "memory": 1024}


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
    document = SourceDocument("dump.json", 1, 1, container(image=5), item="items[3]")
    with pytest.raises(InputError) as caught:
        decode_document(document, strict=False)
    assert str(caught.value).startswith("dump.json: items[3].spec.containers[1].image: expected")


def test_a_good_document_is_decoded_and_a_foreign_one_is_told_apart() -> None:
    assert isinstance(decode_document(SourceDocument("x", 1, 1, pod()), strict=True), Pod)
    with pytest.raises(UnknownKind):
        decode_document(
            SourceDocument("x", 1, 1, {"apiVersion": "v1", "kind": "Secret"}), strict=True
        )


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
    with contextlib.suppress(ObjectError):
        decode_object(raw, strict=strict)

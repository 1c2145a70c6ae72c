"""Bodies in protobuf take effect as in JSON, or are refused; none passes for an empty object."""

from typing import Any

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, PODS, Answer, Api, config_map

from podium.apiserver import protobuf
from podium.apiserver.protobuf.envelope import wrap_message
from podium.apiserver.protobuf.wire import bytes_field, number_field
from podium.apiserver.protobuf.writing import write_message
from podium.kubernetes.schema import schema_of

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gizmos.x.dev"},
    "spec": {
        "group": "x.dev",
        "scope": "Namespaced",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def options(api_version: str, **fields: Any) -> bytes:
    """DeleteOptions as Go's typed clients send them: under the version of the resource."""
    schema = schema_of("meta.k8s.io", "v1", "DeleteOptions")
    return wrap_message(api_version, "DeleteOptions", write_message(schema.root, fields))


def send(api: Api, method: str, path: str, body: bytes) -> Answer:
    return api.ask(method, path, body, content_type=protobuf.MEDIA_TYPE)


def deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }


def test_a_grace_period_in_protobuf_takes_effect() -> None:
    api = Api()
    api.create_pod("a", nodeName="n")

    answer = send(api, "DELETE", f"{PODS}/a", options("v1", gracePeriodSeconds=7))

    assert answer.status == 200
    assert api.get(f"{PODS}/a")["metadata"]["deletionGracePeriodSeconds"] == 7


def test_a_precondition_in_protobuf_that_does_not_hold_refuses_the_deletion() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("a"))

    answer = send(api, "DELETE", f"{CONFIG_MAPS}/a", options("v1", preconditions={"uid": "other"}))

    assert answer.status == 409
    assert api.ask("GET", f"{CONFIG_MAPS}/a").status == 200


def test_a_propagation_policy_in_protobuf_of_another_group_takes_effect() -> None:
    api = Api()
    api.create(DEPLOYMENTS, deployment("a"))

    answer = send(
        api, "DELETE", f"{DEPLOYMENTS}/a", options("apps/v1", propagationPolicy="Foreground")
    )

    assert answer.status == 200
    assert api.get(f"{DEPLOYMENTS}/a")["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_a_dry_run_in_protobuf_deletes_nothing() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("a"))

    assert send(api, "DELETE", f"{CONFIG_MAPS}/a", options("v1", dryRun=["All"])).status == 200
    assert api.ask("GET", f"{CONFIG_MAPS}/a").status == 200


@pytest.mark.parametrize(
    "message",
    [
        b"\xff",
        bytes_field(1, b"7"),  # the grace period is a number
        number_field(2, 7),  # preconditions are a message
        b"\x12\x7f",  # longer than the body
        bytes_field(4, b"\xff\xfe"),
    ],
)
def test_delete_options_that_cannot_be_read_are_refused(message: bytes) -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("a"))

    answer = send(api, "DELETE", f"{CONFIG_MAPS}/a", wrap_message("v1", "DeleteOptions", message))

    assert answer.status == 400
    assert api.ask("GET", f"{CONFIG_MAPS}/a").status == 200


def test_options_of_an_unknown_kind_are_refused() -> None:
    api = Api()
    api.create(CONFIG_MAPS, config_map("a"))

    answer = send(api, "DELETE", f"{CONFIG_MAPS}/a", wrap_message("x.dev/v1", "Nope", b""))

    assert answer.status == 400
    assert answer.message.startswith('no kind "Nope" is registered for version "x.dev/v1"')


def test_custom_objects_have_no_messages() -> None:
    api = Api()
    api.create(DEFINITIONS, DEFINITION)
    path = "/apis/x.dev/v1/namespaces/default/gizmos"

    answer = send(api, "POST", path, wrap_message("x.dev/v1", "Gizmo", b""))

    assert answer.status == 400
    assert "does not implement the protobuf marshalling interface" in answer.message
    assert api.get(path)["items"] == []


def test_an_envelope_without_a_kind_holds_what_the_path_says() -> None:
    api = Api()
    schema = schema_of("", "v1", "ConfigMap")
    message = write_message(schema.root, config_map("a", key="value"))

    assert send(api, "POST", CONFIG_MAPS, wrap_message("", "", message)).status == 201
    assert api.get(f"{CONFIG_MAPS}/a")["data"] == {"key": "value"}


@pytest.mark.parametrize(
    "message",
    [
        bytes_field(1, bytes_field(14, b"") * 400_000),  # finalizers
        bytes_field(2, b"") * 400_000,  # entries of data
        number_field(15, 1) * 400_000,  # fields that nobody knows
    ],
)
def test_messages_of_too_many_fields_are_refused(message: bytes) -> None:
    answer = send(Api(), "POST", CONFIG_MAPS, wrap_message("v1", "ConfigMap", message))

    assert answer.status == 400
    assert "exceeded max number of fields (200000)" in answer.message


def test_definitions_in_protobuf_are_those_that_json_makes() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["n"],
                "properties": {
                    "n": {"type": "integer", "default": 3, "minimum": 1.5},
                    "names": {"type": "array", "items": {"type": "string", "maxLength": 5}},
                    "free": {
                        "type": "object",
                        "additionalProperties": {"x-kubernetes-preserve-unknown-fields": True},
                    },
                    "kind": {"type": "string", "enum": ["a", "b"]},
                },
                "x-kubernetes-validations": [{"rule": "self.n > 0", "message": "no"}],
            }
        },
    }
    version = {**DEFINITION["spec"]["versions"][0], "schema": {"openAPIV3Schema": schema}}
    definition = {**DEFINITION, "spec": {**DEFINITION["spec"], "versions": [version]}}
    packed = schema_of("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    by_protobuf, by_json = Api(), Api()

    assert send(by_protobuf, "POST", DEFINITIONS, protobuf.encode(packed, definition)).status == 201
    by_json.create(DEFINITIONS, definition)

    path = f"{DEFINITIONS}/gizmos.x.dev"
    assert by_protobuf.get(path)["spec"] == by_json.get(path)["spec"]


def packed_definition(root: bytes) -> bytes:
    """A definition whose schema is the given message."""
    version = (
        bytes_field(1, b"v1")
        + number_field(2, 1)
        + number_field(3, 1)
        + bytes_field(4, bytes_field(1, root))
    )
    spec = (
        bytes_field(1, b"x.dev")
        + bytes_field(3, bytes_field(1, b"gizmos") + bytes_field(4, b"Gizmo"))
        + bytes_field(4, b"Namespaced")
        + bytes_field(7, version)
    )
    return wrap_message(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        bytes_field(1, bytes_field(1, b"gizmos.x.dev")) + bytes_field(2, spec),
    )


@pytest.mark.parametrize("levels", [96, 98, 150, 200, 5_000])
@pytest.mark.parametrize(("number", "place"), [(24, 1), (30, 2)], ids=["items", "additional"])
def test_schemas_that_are_nested_too_deeply_are_refused(
    levels: int, number: int, place: int
) -> None:
    root = bytes_field(5, b"object")
    for _ in range(levels):
        root = bytes_field(5, b"object") + bytes_field(number, bytes_field(place, root))

    answer = send(Api(), "POST", DEFINITIONS, packed_definition(root))

    assert answer.status < 500
    assert (b"exceeded max depth" in answer.text) == (levels > 97)


def test_zero_values_that_go_writes_into_schemas_are_none() -> None:
    """Go writes `id: ""`, `uniqueItems: false` and their like for every schema."""
    zeros = b"".join(bytes_field(number, b"") for number in (1, 2, 4, 6, 7, 15))
    zeros += b"".join(number_field(number, 0) for number in (10, 12, 18, 37, 39, 40))
    items = bytes_field(1, zeros + bytes_field(5, b"string"))
    names = bytes_field(5, b"array") + zeros + bytes_field(24, items)
    entry = bytes_field(1, b"names") + bytes_field(2, names)
    root = bytes_field(5, b"object") + zeros + bytes_field(29, entry)
    api = Api()

    assert send(api, "POST", DEFINITIONS, packed_definition(root)).status == 201

    [stored] = api.get(f"{DEFINITIONS}/gizmos.x.dev")["spec"]["versions"]
    assert stored["schema"]["openAPIV3Schema"] == {
        "type": "object",
        "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    }


def test_the_deepest_schema_that_json_brings_is_written_as_protobuf() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(185):
        schema = {"type": "array", "items": schema}
    root = {"type": "object", "properties": {"a": schema}}
    version = {**DEFINITION["spec"]["versions"][0], "schema": {"openAPIV3Schema": root}}
    api = Api()
    api.create(DEFINITIONS, {**DEFINITION, "spec": {**DEFINITION["spec"], "versions": [version]}})

    answer = api.ask("GET", f"{DEFINITIONS}/gizmos.x.dev", accept=protobuf.MEDIA_TYPE)

    assert answer.status == 200
    assert answer.text.count(b"array") == 185

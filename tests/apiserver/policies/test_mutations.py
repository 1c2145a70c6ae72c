"""What mutations of admission policies make of objects: configurations and JSON patches."""

import pytest
from support.apiserver.api_calls import CONFIG_MAPS, MERGE, PODS, Api, pod
from support.apiserver.mutating_policies import LABELLED, bound, refused, write

# --- configurations -------------------------------------------------------------------------------


def test_a_configuration_is_merged_into_a_new_object() -> None:
    api = Api()
    bound(api, LABELLED)

    created = write(api).body

    assert created["metadata"]["labels"] == {"set": "yes"}
    assert created["data"] == {"k": "v"}


def test_items_of_keyed_lists_are_merged_and_defaulted() -> None:
    api = Api()
    side = 'Object.spec.containers{name: "side", image: "s:latest"}'
    changed = 'Object.spec.containers{name: "c", image: "r.io/" + object.spec.containers[0].image}'
    bound(api, f"Object{{spec: Object.spec{{containers: [{side}, {changed}]}}}}", resource="pods")

    made = pod("x")
    made["spec"]["containers"] = [{"name": "c", "image": "i:1"}]
    containers = api.ask("POST", PODS, made).body["spec"]["containers"]

    assert {each["name"]: each["image"] for each in containers} == {
        "c": "r.io/i:1",
        "side": "s:latest",
    }
    assert {each["imagePullPolicy"] for each in containers} == {"IfNotPresent", "Always"}


def test_updates_and_patches_are_changed_too() -> None:
    api = Api()
    write(api)
    bound(api, 'Object{metadata: Object.metadata{labels: {"op": request.operation}}}')

    patched = api.ask("PATCH", f"{CONFIG_MAPS}/x", {"data": {"a": "1"}}, content_type=MERGE)

    assert patched.body["metadata"]["labels"] == {"op": "UPDATE"}


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (
            "Object{nope: 1}",
            "error applying patch: failed to convert patch object to typed object: .nope: field"
            " not declared in schema",
        ),
        (
            'Object{metadata: Object.meta{name: "x"}}',
            'type mismatch: unexpected type name "Object.meta", expected "Object.metadata", which'
            " matches field name path from root Object type",
        ),
        (
            'Object{metadata: Object.metadata{labels: {"a": object.nope}}}',
            "expression 'Object{metadata: Object.metadata{labels: {\"a\": object.nope}}}' resulted"
            " in error: no such key: nope",
        ),
        (
            "Object{data: null}",
            "error applying patch: failed to convert patch object to typed object: .data: expected"
            " map, got &{NULL_VALUE}",
        ),
        ('Object{data: {1: "a"}}', "invalid return type: *dynamic.ObjectVal"),
        (
            'Object{binaryData: {"a": "!!"}}',
            "unable to convert unstructured object to /v1, Kind=ConfigMap: error decoding from"
            " json: illegal base64 data at input byte 0",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_refuses_the_write(expression: str, why: str) -> None:
    api = Api()
    bound(api, expression)

    assert refused(write(api)) == why
    assert api.ask("GET", f"{CONFIG_MAPS}/x").status == 404


def test_what_is_replaced_as_a_whole_cannot_be_part_of_a_configuration() -> None:
    api = Api()
    container = 'Object.spec.containers{name: "c", args: ["a"]}'
    bound(api, f"Object{{spec: Object.spec{{containers: [{container}]}}}}", resource="pods")

    assert refused(api.ask("POST", PODS, pod("x"))) == (
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or"
        " structs: .spec.containers[0].args"
    )


# --- JSON patches ---------------------------------------------------------------------------------


def test_a_patch_is_a_list_of_operations() -> None:
    api = Api()
    key = 'jsonpatch.escapeKey("example.com/a")'
    bound(
        api,
        '[JSONPatch{op: "test", path: "/data/k", value: "v"},'
        ' JSONPatch{op: "add", path: "/metadata/annotations", value: {}},'
        f' JSONPatch{{op: "add", path: "/metadata/annotations/" + {key}, value: "b"}},'
        ' JSONPatch{op: "move", from: "/data/k", path: "/data/l"}]',
    )

    created = write(api).body

    assert created["metadata"]["annotations"] == {"example.com/a": "b"}
    assert created["data"] == {"l": "v"}


def test_a_patch_whose_test_fails_changes_nothing() -> None:
    api = Api()
    tested = 'JSONPatch{op: "test", path: "/data/k", value: "other"}'
    bound(api, f'[{tested}, JSONPatch{{op: "remove", path: "/data/k"}}]')

    assert write(api).body["data"] == {"k": "v"}


def test_objects_can_be_values_of_a_patch() -> None:
    api = Api()
    added = 'Object.spec.containers{name: "d", image: "e:1"}'
    bound(
        api,
        f'[JSONPatch{{op: "add", path: "/spec/containers/-", value: {added}}}]',
        resource="pods",
    )

    containers = api.ask("POST", PODS, pod("x")).body["spec"]["containers"]

    assert [each["image"] for each in containers][-1] == "e:1"


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ('b"abc"', "YWJj"),
        ('duration("90s")', "90s"),
        ('timestamp("2020-01-01T00:00:00Z")', "2020-01-01T00:00:00Z"),
        ('optional.of("a")', "a"),
        ("9223372036854775807", "9223372036854775807"),
    ],
)
def test_values_of_a_patch_are_written_as_json(value: str, stored: str) -> None:
    api = Api()
    bound(api, f'[JSONPatch{{op: "add", path: "/data/n", value: {value}}}]')

    assert write(api).body["data"]["n"] == stored


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (
            'op: "remove", path: "/data/zz"',
            "JSON Patch: error in remove for path: '/data/zz': Unable to remove nonexistent key:"
            " zz: missing value",
        ),
        ('op: "frob", path: "/data/k"', "JSON Patch: Unexpected kind: frob"),
        (
            'op: "add", path: "/data/n", value: quantity("1")',
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: type"
            " conversion error from 'Quantity' to '*structpb.Value'",
        ),
    ],
)
def test_a_patch_that_does_not_apply_refuses_the_write(operation: str, why: str) -> None:
    api = Api()
    bound(api, f"[JSONPatch{{{operation}}}]")

    assert refused(write(api)) == why


def test_a_patch_that_leaves_an_unknown_field_is_an_internal_error() -> None:
    api = Api()
    bound(api, '[JSONPatch{op: "add", path: "/foo", value: "a"}]')

    answer = write(api)

    assert answer.status == 500
    assert answer.message == 'Internal error occurred: strict decoding error: unknown field "foo"'

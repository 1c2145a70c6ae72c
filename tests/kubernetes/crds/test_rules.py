"""Objects of custom resources: pruned, defaulted, prepared and judged as recorded."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.apiserver_cases import recorded_steps
from support.apiserver.schema_values import json_values

from podium.apiserver.managed_fields import Writer, apply, track_create
from podium.kubernetes import status_errors
from podium.kubernetes.crds import CustomRules, default_definition, resources_of_definition
from podium.kubernetes.schema import DecodeError

NOW = "2026-01-01T00:00:00Z"
SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "minimum": 1},
        "mode": {"type": "string", "default": "Fast"},
        "opt": {"type": "string", "nullable": True},
        "free": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"known": {"type": "object", "properties": {}}},
        },
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string"},
                    "n": {"type": "integer", "default": 7},
                },
            },
        },
        "tags": {
            "type": "array",
            "x-kubernetes-list-type": "set",
            "items": {"type": "string"},
        },
    },
}


def definition(*, status: bool = True, **version: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": SPEC, "status": {"type": "object"}}}
    crd = {
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
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}} if status else {},
                    **version,
                }
            ],
        },
    }
    default_definition(crd)
    return crd


def rules_of(crd: dict[str, Any]) -> CustomRules:
    (resource,) = resources_of_definition(crd)
    return CustomRules(crd, resource)


def gizmo(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "x.dev/v1",
        "kind": "Gizmo",
        "metadata": {"name": "g", "namespace": "d"},
        "spec": spec,
    }


RULES = rules_of(definition())


def test_unknown_fields_are_pruned_and_told_sorted() -> None:
    obj = {**gizmo(size=1, z=1, a={"b": 1}), "other": 1}
    obj["metadata"] = {"name": "g", "odd": 1}
    before = copy.deepcopy(obj)
    decoded = RULES.decode(obj)
    assert decoded.problems == [
        'unknown field "metadata.odd"',
        'unknown field "other"',
        'unknown field "spec.a"',
        'unknown field "spec.z"',
    ]
    assert decoded.value == {**gizmo(size=1), "metadata": {"name": "g"}}
    assert obj == before


def test_fields_stay_where_unknown_fields_are_preserved() -> None:
    free = {"x": {"y": 1}, "known": {"z": 1}}
    decoded = RULES.decode(gizmo(size=1, free=free))
    assert decoded.value["spec"]["free"] == {"x": {"y": 1}, "known": {}}
    assert decoded.problems == ['unknown field "spec.free.known.z"']


def test_nulls_go_where_null_is_not_allowed_and_defaults_come() -> None:
    decoded = RULES.decode(gizmo(size=None, opt=None, mode=None, parts=[{"name": "a"}]))
    RULES.set_defaults(decoded.value)
    assert decoded.value["spec"] == {
        "opt": None,
        "mode": "Fast",
        "parts": [{"name": "a", "n": 7}],
    }


def test_metadata_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(DecodeError, match="cannot unmarshal number"):
        RULES.decode({"metadata": {"labels": {"a": 1}}})


def test_lists_that_are_sets_or_maps_have_every_item_once() -> None:
    obj = gizmo(size=1, tags=["a", "b", "a", "a"], parts=[{"name": "x"}, {"name": "x"}])
    assert [str(error) for error in RULES.validate_create(obj)] == [
        'spec.tags[2]: Duplicate value: "a"',
        'spec.parts[1]: Duplicate value: {"name":"x"}',
    ]


def test_a_creation_has_no_status_and_starts_to_count() -> None:
    obj = {**gizmo(size=1), "status": {}}
    RULES.prepare_create(obj, NOW)
    assert "status" not in obj
    assert obj["metadata"]["generation"] == 1
    with_status = {**gizmo(size=1), "status": {"a": 1}}
    rules_of(definition(status=False)).prepare_create(with_status, NOW)
    assert with_status["status"] == {"a": 1}


def test_an_update_keeps_the_status_and_counts_changes() -> None:
    old = {**gizmo(size=1), "status": {"a": 1}}
    old["metadata"]["generation"] = 3
    new = {**gizmo(size=2), "status": {"a": 2}}
    RULES.prepare_update("", new, old, NOW)
    assert new["status"] == {"a": 1}
    assert new["metadata"]["generation"] == 4
    labelled = copy.deepcopy(old)
    labelled["metadata"]["labels"] = {"x": "y"}
    RULES.prepare_update("", labelled, old, NOW)
    assert labelled["metadata"]["generation"] == 3


def test_a_write_to_the_status_changes_nothing_else() -> None:
    old = {**gizmo(size=1), "status": {"a": 1}}
    new = {**gizmo(size=2), "status": {"a": 2}}
    new["metadata"] = {"name": "g", "labels": {"x": "y"}, "managedFields": [{"manager": "m"}]}
    RULES.prepare_update("status", new, old, NOW)
    assert new["spec"] == {"size": 1}
    assert new["status"] == {"a": 2}
    assert new["metadata"] == {**old["metadata"], "managedFields": [{"manager": "m"}]}


def test_replicas_of_the_scale_subresource_are_no_negative_numbers() -> None:
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
    rules = rules_of(definition(subresources={"scale": scale}))
    assert rules.scale == scale
    errors = [str(error) for error in rules.validate_create(gizmo(size=-1))]
    assert ".spec.size: Invalid value: -1: should be a non-negative integer" in errors


def test_owners_of_custom_objects_start_from_nothing() -> None:
    obj = gizmo(size=1, parts=[{"name": "a", "n": 1}])
    track_create(obj, RULES.schema, Writer("m", NOW))
    (entry,) = obj["metadata"]["managedFields"]
    assert entry["apiVersion"] == "x.dev/v1"
    assert entry["fieldsV1"] == {
        "f:spec": {
            ".": {},
            "f:size": {},
            "f:parts": {".": {}, 'k:{"name":"a"}': {".": {}, "f:name": {}, "f:n": {}}},
        }
    }


def test_applied_custom_objects_are_merged_by_their_list_types() -> None:
    first = gizmo(size=1, parts=[{"name": "a"}], tags=["x"], free={"k": {"l": 1}})
    live = apply(None, first, RULES.schema, Writer("one", NOW), False)
    second = gizmo(parts=[{"name": "b"}], tags=["y"], free={"k": {"m": 2}})
    both = apply(live, second, RULES.schema, Writer("two", NOW), False)
    assert both["spec"]["parts"] == [{"name": "a"}, {"name": "b"}]
    assert both["spec"]["tags"] == ["x", "y"]
    assert both["spec"]["free"] == {"k": {"l": 1, "m": 2}}


def test_recorded_custom_objects_are_written_as_recorded() -> None:
    steps = recorded_steps("crd-podgroup")
    crd = next(step for step in steps if step["id"] == "02")["body"]
    default_definition(crd)
    rules = rules_of(crd)
    compared = 0
    for step in steps:
        body = step.get("body")
        if step.get("method") != "POST" or not str(step["path"]).endswith("/podgroups"):
            continue
        assert isinstance(body, dict)
        wanted = step["expect"]["body"]
        if wanted.get("code") == 400:
            continue  # refused before its rules are asked
        taken = rules.decode(body)
        obj = taken.value
        rules.set_defaults(obj)
        obj["metadata"]["namespace"] = "crd-a"
        rules.prepare_create(obj, NOW)
        errors = rules.validate_create(obj)
        warnings = step["expect"]["headers"].get("Warning", [])
        assert len(taken.problems) == len(warnings)
        if errors:
            group = "scheduling.x-k8s.io"
            name = obj["metadata"]["name"]
            error = status_errors.invalid(group, obj["kind"], name, errors)
            assert error.as_object() == wanted
        else:
            assert obj["spec"] == wanted["spec"]
        compared += 1
    assert compared >= 9


def test_an_update_is_judged_by_what_it_changes() -> None:
    old = gizmo(size=1, tags=["a", "a"])
    old["metadata"].update(resourceVersion="1", uid="u")
    new = copy.deepcopy(old)
    new["spec"]["size"] = 0
    assert [str(error) for error in RULES.validate_update("", new, old)] == [
        "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"
    ]
    new["spec"] = {"size": 2, "tags": ["a", "a", "b", "b"]}
    assert RULES.validate_update("", new, old) == []  # it had repeated items before
    assert RULES.validate_update("status", {**new, "status": {"x": 1}}, old) == []
    other = {**new, "kind": "Other", "apiVersion": "x.dev/v9"}
    assert [str(error) for error in RULES.validate_update("", other, old)] == [
        'kind: Invalid value: "Other": must be Gizmo',
        'apiVersion: Invalid value: "x.dev/v9": must be x.dev/v1',
    ]


def test_status_of_the_wrong_type_is_told() -> None:
    old = gizmo(size=1)
    old["metadata"].update(resourceVersion="1", uid="u")
    errors = RULES.validate_update("status", {**copy.deepcopy(old), "status": 5}, old)
    assert [error.path for error in errors] == ["status"]


def test_a_definition_without_a_schema_keeps_everything() -> None:
    rules = rules_of(definition(schema=None))
    assert rules.decode({**gizmo(a=1), "b": [{}]}).problems == []


def test_replicas_may_not_be_too_many() -> None:
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}
    rules = rules_of(definition(subresources={"scale": scale}))
    errors = [str(error) for error in rules.validate_create(gizmo(size=2**31))]
    assert errors == [
        ".spec.size: Invalid value: 2147483648: should be less than or equal to 2147483647"
    ]


@settings(max_examples=60, deadline=None)
@given(spec=st.fixed_dictionaries({}, optional=dict.fromkeys(SPEC["properties"], json_values)))
def test_values_of_any_type_are_judged_and_nothing_breaks(spec: dict[str, Any]) -> None:
    obj = RULES.decode(gizmo(**spec)).value
    RULES.set_defaults(obj)
    track_create(obj, RULES.schema, Writer("m", NOW))
    errors = RULES.validate_create(obj)
    assert all(str(error) for error in errors)
    if not errors:
        assert RULES.decode(obj).problems == []

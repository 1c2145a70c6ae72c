"""Definitions of custom resources: what may be stored, and what follows from it."""

import copy
from typing import Any

import pytest
from support.apiserver.apiserver_cases import recorded_steps

from podium.kubernetes import status_errors
from podium.kubernetes.crds import (
    accept_names,
    default_definition,
    is_established,
    resources_of_definition,
    schema_of_version,
    validate_definition,
    validate_definition_update,
)

NOW = "2026-01-01T00:00:00Z"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"spec": {"type": "object"}}}


def definition(**changes: Any) -> dict[str, Any]:
    names = {"plural": "gizmos", "kind": "Gizmo", **changes.pop("names", {})}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": changes.pop("schema", SCHEMA)},
        **changes.pop("version", {}),
    }
    spec = {
        "group": "x.dev",
        "scope": "Namespaced",
        "names": names,
        "versions": [version],
        **changes,
    }
    crd = {"metadata": {"name": f"{names['plural']}.{spec['group']}"}, "spec": spec}
    default_definition(crd)
    return crd


def told(crd: dict[str, Any]) -> list[str]:
    return [str(error) for error in validate_definition(crd)]


def test_names_are_filled_in_from_the_kind() -> None:
    spec = definition()["spec"]
    assert spec["names"]["singular"] == "gizmo"
    assert spec["names"]["listKind"] == "GizmoList"
    assert spec["conversion"] == {"strategy": "None"}


def test_a_good_definition_has_no_errors() -> None:
    assert told(definition()) == []


def test_the_recorded_definition_with_a_wrong_name_is_refused_as_recorded() -> None:
    step = next(step for step in recorded_steps("crd-podgroup") if step["id"] == "02")
    crd = copy.deepcopy(step["body"])
    default_definition(crd)
    name = crd["metadata"]["name"]
    error = status_errors.invalid(
        "apiextensions.k8s.io", "CustomResourceDefinition", name, validate_definition(crd)
    )
    assert error.as_object() == step["expect"]["body"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"group": "x"},
            ('spec.group: Invalid value: "x": should be a domain with at least one dot'),
        ),
        (
            {"scope": "Galaxy"},
            ('spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'),
        ),
        ({"scope": ""}, "spec.scope: Required value"),
        (
            {"names": {"kind": "9"}},
            "may have mixed case, but should otherwise match: a DNS-1035 label",
        ),
        (
            {"names": {"shortNames": ["A"]}},
            'spec.names.shortNames[0]: Invalid value: "A": a DNS-1035 label',
        ),
        ({"names": {"listKind": "Gizmo"}}, "kind and listKind may not be the same"),
        (
            {"version": {"storage": False}},
            "must have exactly one version marked as storage version",
        ),
        ({"version": {"schema": None}}, "spec.versions[0].schema.openAPIV3Schema: Required value"),
        (
            {"version": {"name": "V1"}},
            'spec.versions[0].name: Invalid value: "V1": a DNS-1035 label',
        ),
        ({"version": {"deprecationWarning": "x"}}, "can only be set for deprecated versions"),
        (
            {"group": "x.k8s.io"},
            ("metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups"),
        ),
        (
            {"preserveUnknownFields": True},
            "spec.preserveUnknownFields: Invalid value: true: cannot set to true",
        ),
        (
            {
                "version": {
                    "additionalPrinterColumns": [{"name": "a", "type": "odd", "jsonPath": ".a"}]
                }
            },
            ('Invalid value: "odd": must be one of boolean,date,integer,number,string'),
        ),
        (
            {
                "version": {
                    "subresources": {
                        "scale": {"specReplicasPath": ".x", "statusReplicasPath": ".status.n"}
                    }
                }
            },
            'Invalid value: ".x": should be a json path under .spec',
        ),
    ],
)
def test_mistakes_of_a_definition_are_told(changes: dict[str, Any], message: str) -> None:
    assert any(message in error for error in told(definition(**changes)))


def test_names_and_scope_of_an_established_definition_are_fixed() -> None:
    old = definition()
    accept_names(old, [], NOW)
    old["metadata"].update(resourceVersion="1", uid="u")
    new = copy.deepcopy(old)
    new["spec"].update(scope="Cluster", group="y.dev")
    new["spec"]["names"]["kind"] = "Other"
    paths = {error.path for error in validate_definition_update(new, old)}
    assert {"spec.scope", "spec.group", "spec.names.kind"} <= paths


def test_accepted_names_establish_a_definition() -> None:
    crd = definition()
    accept_names(crd, [], NOW)
    assert is_established(crd)
    assert crd["status"]["acceptedNames"] == crd["spec"]["names"]
    assert crd["status"]["storedVersions"] == ["v1"]
    assert [
        (each["type"], each["status"], each["reason"]) for each in crd["status"]["conditions"]
    ] == [
        ("NamesAccepted", "True", "NoConflicts"),
        ("Established", "True", "InitialNamesAccepted"),
    ]
    again = copy.deepcopy(crd)
    accept_names(again, [crd], "2026-02-02T00:00:00Z")
    assert again == crd


def test_names_that_another_definition_has_are_not_accepted() -> None:
    first = definition()
    accept_names(first, [], NOW)
    second = definition(names={"plural": "widgets", "kind": "Gizmo"})
    accept_names(second, [first], NOW)
    assert not is_established(second)
    conditions = second["status"]["conditions"]
    assert conditions[0]["message"] == '"GizmoList" is already in use'
    assert (conditions[1]["status"], conditions[1]["reason"]) == ("False", "NotAccepted")


def test_every_served_version_is_a_resource() -> None:
    crd = definition(
        version={
            "subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
            },
            "selectableFields": [{"jsonPath": ".spec.colour"}],
        }
    )
    crd["spec"]["versions"].append({**crd["spec"]["versions"][0], "name": "v2", "served": False})
    (resource,) = resources_of_definition(crd)
    assert (resource.api_version, resource.list_kind) == ("x.dev/v1", "GizmoList")
    assert [each.name for each in resource.subresources] == ["status", "scale"]
    assert resource.selectable_fields == ("spec.colour",)
    assert resource.is_custom
    assert schema_of_version(crd, "v2") == SCHEMA


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"group": ""}, "spec.group: Required value"),
        ({"group": "X.dev"}, 'spec.group: Invalid value: "X.dev": a lowercase RFC 1123 subdomain'),
        ({"names": {"kind": ""}}, "spec.names.kind: Required value"),
        ({"version": {"subresources": {"scale": {}}}}, "scale.specReplicasPath: Required value"),
        (
            {"version": {"subresources": {"scale": {"specReplicasPath": "x"}}}},
            "must be a simple json path starting with .",
        ),
        (
            {"version": {"additionalPrinterColumns": [{}]}},
            "additionalPrinterColumns[0].JSONPath: Required value",
        ),
        (
            {"version": {"additionalPrinterColumns": [{"format": "x", "jsonPath": "a"}]}},
            "must be one of byte,date,",
        ),
    ],
)
def test_every_rule_of_definitions_has_its_words(changes: dict[str, Any], message: str) -> None:
    assert any(message in error for error in told(definition(**changes)))


def test_version_names_are_unique() -> None:
    crd = definition()
    crd["spec"]["versions"].append({**crd["spec"]["versions"][0], "storage": False})
    assert any("must contain unique version names" in error for error in told(crd))

"""Schemas in definitions: structural, and nothing in them that is not allowed."""

from typing import Any

import pytest

from podium.kubernetes.crds.definitions import default_definition, validate_definition

PREFIX = "spec.validation.openAPIV3Schema"


def told(schema: dict[str, Any]) -> list[str]:
    """What is wrong with a definition whose only version has this schema."""
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
                }
            ],
        },
    }
    default_definition(crd)
    return [str(error) for error in validate_definition(crd)]


def spec_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": schema}}


def map_list(*keys: str) -> dict[str, Any]:
    """A list that is a map by these keys; `a` is optional, `b` required, `o` an object."""
    properties = {"a": {"type": "string"}, "b": {"type": "string"}, "o": {"type": "object"}}
    items = {"type": "object", "required": ["b", "o"], "properties": properties}
    marks = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}
    return spec_of({"type": "array", "items": items, **marks})


@pytest.mark.parametrize(
    ("schema", "messages"),
    [
        (
            spec_of({}),
            [
                (
                    ".properties[spec].type: Required value: must not be empty for "
                    "specified object fields"
                )
            ],
        ),
        (
            spec_of({"type": "array"}),
            [".properties[spec].items: Required value: must be specified"],
        ),
        ({"properties": {}}, [".type: Required value: must not be empty at the root"]),
        ({"type": "string"}, ['.type: Invalid value: "string": must be object at the root']),
        (
            spec_of({"type": "array", "items": {}}),
            [
                (
                    ".properties[spec].items.type: Required value: must not be empty "
                    "for specified array items"
                )
            ],
        ),
        (
            spec_of({"type": "odd"}),
            [
                (
                    '.properties[spec].type: Unsupported value: "odd": supported '
                    'values: "array", "boolean", "integer", "number", "object", '
                    '"string"'
                )
            ],
        ),
        (
            spec_of({"type": "string", "anyOf": [{"type": "string"}]}),
            [(".properties[spec].anyOf[0].type: Forbidden: must be empty to be structural")],
        ),
        (
            spec_of(
                {
                    "x-kubernetes-int-or-string": True,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                }
            ),
            [],
        ),
        (
            {
                "type": "object",
                "properties": {
                    "metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}
                },
            },
            [
                (
                    ".properties[metadata]: Forbidden: must not specify anything other "
                    "than name and generateName, but metadata is implicitly specified"
                )
            ],
        ),
        (
            spec_of({"type": "object", "additionalProperties": False}),
            [
                (
                    ".properties[spec].additionalProperties: Forbidden: "
                    "additionalProperties cannot be set to false"
                )
            ],
        ),
        (
            spec_of({"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            [
                (
                    ".properties[spec].uniqueItems: Forbidden: uniqueItems cannot be "
                    "set to true since the runtime complexity becomes quadratic"
                )
            ],
        ),
        (
            spec_of(
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "map"}
            ),
            [
                (
                    ".properties[spec].x-kubernetes-list-map-keys: Required value: "
                    "must not be empty if x-kubernetes-list-type is map"
                ),
                (
                    '.properties[spec].items.type: Invalid value: "string": must be '
                    "object if parent array's x-kubernetes-list-type is map"
                ),
            ],
        ),
        (
            spec_of({"type": "string", "x-kubernetes-list-type": "set"}),
            [
                (
                    '.properties[spec].type: Invalid value: "string": must be array if '
                    "x-kubernetes-list-type is specified"
                )
            ],
        ),
        (
            spec_of({"type": "object", "properties": {"n": {"type": "integer", "default": "x"}}}),
            [
                (
                    '.properties[spec].properties[n].default: Invalid value: "string": '
                    ' in body must be of type integer: "string"'
                )
            ],
        ),
        (spec_of({"type": "string", "pattern": "("}), None),
        (
            {"type": "object", "nullable": True},
            [".nullable: Forbidden: nullable cannot be true at the root"],
        ),
    ],
)
def test_schemas_have_to_be_structural(schema: dict[str, Any], messages: list[str] | None) -> None:
    found = told(schema)
    if messages is None:
        assert "must be a valid regular expression, but isn't" in found[0]
    else:
        assert found == [PREFIX + message for message in messages]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            "must not be used at the root",
        ),
        (
            spec_of({"x-kubernetes-embedded-resource": True}),
            "must be object if x-kubernetes-embedded-resource is true",
        ),
        (
            spec_of(
                {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True}
            ),
            "must be false if",
        ),
        ({"type": "object", "properties": {"kind": {"type": "integer"}}}, "must be string"),
        ({"type": "object", "properties": {"metadata": {"type": "string"}}}, "must be object"),
        (
            spec_of({"type": "string", "not": {"type": "string"}}),
            "spec].not.type: Forbidden: must be empty",
        ),
        (
            spec_of(
                {
                    "type": "array",
                    "items": {"type": "string"},
                    "allOf": [{"items": {"nullable": True}}],
                }
            ),
            ("spec].allOf[0].items.nullable: Forbidden: must be false to be structural"),
        ),
        (
            spec_of({"type": "object", "oneOf": [{"properties": {"metadata": {}}}]}),
            "must not be specified in a nested context",
        ),
        (
            spec_of(
                {
                    "type": "object",
                    "properties": {"a": {"type": "string"}},
                    "additionalProperties": {"type": "string"},
                }
            ),
            "additionalProperties and properties are mutual exclusive",
        ),
        (
            spec_of({"type": "array", "items": [{"type": "string"}]}),
            "items must be a schema object and not an array",
        ),
        (spec_of({"type": "string", "id": "x"}), "spec].id: Forbidden: id is not supported"),
        (
            spec_of({"type": "object", "x-kubernetes-preserve-unknown-fields": False}),
            "must be true or undefined",
        ),
        (
            spec_of({"type": "object", "x-kubernetes-map-type": "odd"}),
            'supported values: "atomic", "granular"',
        ),
        (
            spec_of(
                {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]}
            ),
            "must be map if x-kubernetes-list-map-keys is non-empty",
        ),
        (
            spec_of(
                {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["a"],
                }
            ),
            "must have a schema",
        ),
        (map_list("z"), "entries must all be names of item properties"),
        (map_list("o"), "must be a scalar type if parent array's x-kubernetes-list-type is map"),
        (map_list("a"), "so it must have a default or be a required property"),
        (map_list("b", "b"), "must not contain duplicate entries"),
        (
            spec_of(
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"n": {"type": "string", "default": 5}},
                    },
                }
            ),
            "properties[n].default: Invalid value",
        ),
        (
            spec_of(
                {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"n": {"type": "string", "default": 5}},
                    },
                }
            ),
            "additionalProperties.properties[n].default: Invalid value",
        ),
    ],
)
def test_every_rule_of_schemas_has_its_words(schema: dict[str, Any], message: str) -> None:
    assert any(message in error for error in told(schema))

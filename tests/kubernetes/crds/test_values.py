"""Values against a structural schema: every condition, in upstream's words."""

from typing import Any

import pytest

from podium.kubernetes.crds.structural import read_schema
from podium.kubernetes.crds.values import problems


def told(schema: dict[str, Any], value: Any, *old: Any) -> list[str]:
    root = {"type": "object", "properties": {"f": schema}}
    before = ({"f": old[0]},) if old else ()
    return [str(error) for error in problems({"f": value}, read_schema(root), "", *before)]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        (
            {"type": "integer"},
            "x",
            'Invalid value: "string": f in body must be of type integer: "string"',
        ),
        (
            {"type": "integer"},
            1.5,
            'Invalid value: "number": f in body must be of type integer: "number"',
        ),
        (
            {"type": "integer"},
            True,
            'Invalid value: "boolean": f in body must be of type integer: "boolean"',
        ),
        (
            {"type": "string"},
            None,
            'Invalid value: "null": f in body must be of type string: "null"',
        ),
        (
            {"type": "array"},
            {},
            'Invalid value: "object": f in body must be of type array: "object"',
        ),
        (
            {"x-kubernetes-int-or-string": True},
            True,
            'Invalid value: "boolean": f in body must be of type integer,string: "boolean"',
        ),
        (
            {"type": "integer", "minimum": 1},
            0,
            "Invalid value: 0: f in body should be greater than or equal to 1",
        ),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            1,
            "Invalid value: 1: f in body should be greater than 1",
        ),
        (
            {"type": "number", "maximum": 1.5},
            2,
            "Invalid value: 2: f in body should be less than or equal to 1",
        ),
        (
            {"type": "number", "maximum": 1.5},
            2.5,
            "Invalid value: 2.5: f in body should be less than or equal to 1.5",
        ),
        (
            {"type": "integer", "multipleOf": 2},
            3,
            "Invalid value: 3: f in body should be a multiple of 2",
        ),
        ({"type": "string", "maxLength": 2}, "abc", "Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "minLength": 2},
            "a",
            'Invalid value: "a": f in body should be at least 2 chars long',
        ),
        (
            {"type": "string", "pattern": "^a+$"},
            "b",
            "Invalid value: \"b\": f in body should match '^a+$'",
        ),
        (
            {"type": "string", "pattern": "^a$"},
            "a\n",
            "Invalid value: \"a\\n\": f in body should match '^a$'",
        ),
        (
            {"type": "string", "enum": ["x", "y"]},
            "z",
            'Unsupported value: "z": supported values: "x", "y"',
        ),
        (
            {"type": "integer", "enum": [1, 2]},
            3,
            'Unsupported value: 3: supported values: "1", "2"',
        ),
        (
            {"type": "string", "format": "date-time"},
            "x",
            'Invalid value: "x": f in body must be of type date-time: "x"',
        ),
        (
            {"type": "string", "format": "date-time"},
            5,
            'Invalid value: "int64": f in body must be of type date-time: "int64"',
        ),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 1},
            [],
            "Invalid value: 0: f in body should have at least 1 items",
        ),
        ({"type": "array", "maxItems": 1}, [1, 2], "Too many: 2: must have at most 1 item"),
        (
            {"type": "object", "minProperties": 1},
            {},
            "Invalid value: 0: f in body should have at least 1 properties",
        ),
        (
            {"type": "object", "maxProperties": 0},
            {"a": 1},
            "Too many: 1: must have at most 0 items",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told(
    schema: dict[str, Any], value: Any, message: str
) -> None:
    assert told(schema, value) == [f"f: {message}"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 3.0),
        ({"type": "number"}, 3),
        ({"type": "string", "nullable": True}, None),
        ({"x-kubernetes-int-or-string": True}, "25%"),
        ({"type": "string", "format": "no-such-format"}, "x"),
        ({"type": "string", "pattern": r"^\d+$"}, "12"),
        ({"type": "array", "maxItems": 1}, [1]),
        ({}, {"anything": []}),
    ],
)
def test_a_value_that_fits_is_not(schema: dict[str, Any], value: Any) -> None:
    assert told(schema, value) == []


@pytest.mark.parametrize(
    ("format_name", "good", "bad"),
    [
        ("date", "2026-01-31", "2026-02-31"),
        ("duration", "1h30m", "soon"),
        ("ipv4", "192.0.2.1", "192.0.2.256"),
        ("ipv6", "::1", "192.0.2.1"),
        ("cidr", "192.0.2.0/24", "192.0.2.0"),
        ("uuid", "8d7f9a3e-0000-4000-8000-000000000000", "8d7f"),
        ("byte", "YQ==", "?"),
        ("hostname", "a.example", "-a"),
        ("email", "a@example.com", "a"),
        ("uri", "https://a.example/", "no uri"),
        ("mac", "00:00:5e:00:53:01", "00:00"),
        ("k8s-short-name", "a-b", "A"),
    ],
)
def test_formats_of_texts_are_checked(format_name: str, good: str, bad: str) -> None:
    schema = {"type": "string", "format": format_name}
    assert told(schema, good) == []
    assert told(schema, bad) == [
        f'f: Invalid value: "{bad}": f in body must be of type {format_name}: "{bad}"'
    ]


def test_required_fields_and_items_are_told_with_their_places() -> None:
    schema = {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["a"],
            "properties": {"b": {"type": "string"}},
        },
    }
    assert told(schema, [{"a": 1}, {"b": 2}]) == [
        'f[1].b: Invalid value: "integer": f[1].b in body must be of type string: "integer"',
        "f[1].a: Required value",
    ]


def test_values_of_maps_are_told_by_their_keys() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert told(schema, {"x": "y"}) == [
        ('f.x: Invalid value: "string": f.x in body must be of type integer: "string"')
    ]


@pytest.mark.parametrize(
    ("combination", "value", "messages"),
    [
        (
            {"oneOf": [{"minimum": 5}, {"minimum": 9}]},
            9,
            [
                (
                    '<nil>: Invalid value: "": "f" must validate one and only one '
                    "schema (oneOf). Found 2 valid alternatives"
                )
            ],
        ),
        (
            {"oneOf": [{"minimum": 5}]},
            1,
            [
                (
                    '<nil>: Invalid value: "": "f" must validate one and only one '
                    "schema (oneOf). Found none valid"
                ),
                "f: Invalid value: 1: f in body should be greater than or equal to 5",
            ],
        ),
        (
            {"anyOf": [{"minimum": 5}]},
            1,
            [
                '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
                "f: Invalid value: 1: f in body should be greater than or equal to 5",
            ],
        ),
        (
            {"allOf": [{"minimum": 5}, {"maximum": 9}]},
            1,
            [
                "f: Invalid value: 1: f in body should be greater than or equal to 5",
                '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
            ],
        ),
        (
            {"not": {"minimum": 5}},
            5,
            ['<nil>: Invalid value: "": "f" must not validate the schema (not)'],
        ),
        ({"anyOf": [{"minimum": 5}, {"maximum": 2}]}, 1, []),
        ({"not": {"minimum": 5}}, 1, []),
    ],
)
def test_combinations_of_schemas_are_judged(
    combination: dict[str, Any], value: Any, messages: list[str]
) -> None:
    assert told({"type": "integer", **combination}, value) == messages


def test_numbers_beyond_their_format_are_told_without_a_path() -> None:
    assert told({"type": "integer", "format": "int32"}, 2**31) == [
        ('<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f')
    ]


def test_what_an_update_leaves_as_it_was_is_not_checked_again() -> None:
    schema = {"type": "integer", "minimum": 5}
    assert told(schema, 1, 1) == []
    assert told(schema, 1, 2) != []
    items = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": schema}},
    }
    old = [{"k": "a", "v": 1}]
    assert told(items, [{"k": "b", "v": 9}, {"k": "a", "v": 1}], old) == []
    assert len(told(items, [{"k": "a", "v": 2}], old)) == 1

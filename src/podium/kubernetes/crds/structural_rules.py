"""Whether the schema in a definition is structural, and uses only what schemas may use.

A structural schema says for every field what type it has, outside of all combinations of schemas,
so that fields can be pruned and defaulted. Texts are upstream's.
"""

from collections.abc import Iterable
from typing import Final

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.kubernetes.crds.rule_costs import BadPattern, check_pattern, rule_form_errors
from podium.kubernetes.rules.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)

_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_NOT_SUPPORTED: Final = (
    "id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref",
)  # fmt: skip
_EMPTY_TYPES: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_FORBIDDEN_INSIDE: Final = (
    ("type", "must be empty to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_META: Final = ("apiVersion", "kind")


def structural_errors(schema: JsonObject, path: str) -> list[FieldError]:
    """Everything about a schema that keeps it from being structural, sorted by text."""
    return sorted(_invariants(schema, "root", path), key=str)


def _invariants(schema: JsonObject, level: str, path: str) -> Iterable[FieldError]:
    kind = schema.get("type") or ""
    items, additional = schema.get("items"), schema.get("additionalProperties")
    if kind == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, "item", f"{path}.items")
    for name, each in (schema.get("properties") or {}).items():
        yield from _invariants(each, "field", f"{path}.properties[{name}]")
    if additional is not None and level == "root":
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(additional, dict):
        yield from _invariants(additional, "field", f"{path}.additionalProperties")
    yield from _combinations(schema, path)
    yield from _own_type(schema, kind, level, path)
    if level == "root" or schema.get("x-kubernetes-embedded-resource"):
        yield from _object_fields(schema.get("properties") or {}, path, is_root=level == "root")


def _own_type(schema: JsonObject, kind: str, level: str, path: str) -> Iterable[FieldError]:
    is_int_or_string = schema.get("x-kubernetes-int-or-string")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields")
    if schema.get("x-kubernetes-embedded-resource") and kind != "object":
        told = "must be object if x-kubernetes-embedded-resource is true"
        place = f"{path}.type"
        yield invalid(place, kind, told) if kind else required(place, told)
    elif not kind and not is_int_or_string and not keeps:
        yield required(f"{path}.type", _EMPTY_TYPES[level])
    if is_int_or_string and keeps:
        told = "must be false if x-kubernetes-int-or-string is true"
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", keeps, told)
    if level == "root" and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")


def _object_fields(properties: JsonObject, path: str, *, is_root: bool) -> Iterable[FieldError]:
    for name in _META:
        kind = properties.get(name, {"type": "string"}).get("type") or ""
        if kind != "string":
            yield invalid(f"{path}.properties[{name}].type", kind, "must be string")
    metadata = properties.get("metadata")
    if metadata is None:
        return
    place = f"{path}.properties[metadata]"
    if metadata.get("type") != "object":
        yield invalid(f"{place}.type", metadata.get("type") or "", "must be object")
    others = set(metadata) - {"type", "properties", "default"}
    named = set(metadata.get("properties") or ()) - {"name", "generateName"}
    if is_root and (others or named):
        yield forbidden(
            place,
            "must not specify anything other than name and generateName, but metadata is"
            " implicitly specified",
        )


def _combinations(schema: JsonObject, path: str) -> Iterable[FieldError]:
    for name in ("anyOf", "allOf", "oneOf"):
        alternatives = schema.get(name) or ()
        if name == "anyOf" and alternatives == _INT_OR_STRING:
            continue
        for index, each in enumerate(alternatives):
            is_either = name == "allOf" and index == 0 and each.get("anyOf") == _INT_OR_STRING
            inner = {**each, "anyOf": []} if is_either else each
            yield from _check_nested(inner, f"{path}.{name}[{index}]")
    if isinstance(schema.get("not"), dict):
        yield from _check_nested(schema["not"], f"{path}.not")
    pattern = schema.get("pattern")
    if pattern:
        try:
            check_pattern(pattern)
        except BadPattern as error:
            told = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", pattern, told)


def _check_nested(schema: JsonObject, path: str) -> Iterable[FieldError]:
    """A schema inside a combination has conditions on values and nothing else."""
    yield from _combinations(schema, path)
    if isinstance(schema.get("items"), dict):
        yield from _check_nested(schema["items"], f"{path}.items")
    for name, each in (schema.get("properties") or {}).items():
        yield from _check_nested(each, f"{path}.properties[{name}]")
    for name, told in _FORBIDDEN_INSIDE:
        if schema.get(name):
            yield forbidden(f"{path}.{name}", told)
    if "metadata" in (schema.get("properties") or ()):
        place = f"{path}.properties[metadata]"
        yield forbidden(place, "must not be specified in a nested context")


def usage_errors(schema: DecodedValue, path: str) -> list[FieldError]:
    """Keywords that schemas of definitions may not use, or not so."""
    if not isinstance(schema, dict):
        return []
    errors: list[FieldError] = []
    if schema.get("uniqueItems"):
        told = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        errors.append(forbidden(f"{path}.uniqueItems", told))
    additional = schema.get("additionalProperties")
    if additional is False:
        told = "additionalProperties cannot be set to false"
        errors.append(forbidden(f"{path}.additionalProperties", told))
    if additional and schema.get("properties"):
        told = "additionalProperties and properties are mutual exclusive"
        errors.append(forbidden(f"{path}.additionalProperties", told))
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        errors.append(not_supported(f"{path}.type", kind, _TYPES))
    errors += [
        forbidden(f"{path}.{name}", f"{name} is not supported")
        for name in _NOT_SUPPORTED
        if schema.get(name)
    ]
    if isinstance(schema.get("items"), list):
        told = "items must be a schema object and not an array"
        errors.append(forbidden(f"{path}.items", told))
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        place = f"{path}.x-kubernetes-preserve-unknown-fields"
        errors.append(invalid(place, False, "must be true or undefined"))
    errors += _list_type_errors(schema, kind, path)
    errors += rule_form_errors(schema, path)
    for place, inner in _inner_schemas(schema, path):
        errors += usage_errors(inner, place)
    return errors


def _inner_schemas(schema: JsonObject, path: str) -> Iterable[tuple[str, JsonValue]]:
    for name, each in (schema.get("properties") or {}).items():
        yield f"{path}.properties[{name}]", each
    for name in ("items", "additionalProperties", "not"):
        yield f"{path}.{name}", schema.get(name)
    for name in ("allOf", "oneOf", "anyOf"):
        for index, each in enumerate(schema.get(name) or ()):
            yield f"{path}.{name}[{index}]", each


def _list_type_errors(schema: JsonObject, kind: str, path: str) -> Iterable[FieldError]:
    list_type, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys")
    map_type = schema.get("x-kubernetes-map-type")
    for name, value, wanted, allowed in (
        ("x-kubernetes-map-type", map_type, "object", ("atomic", "granular")),
        ("x-kubernetes-list-type", list_type, "array", ("atomic", "set", "map")),
    ):
        if value is not None and kind != wanted:
            told = f"must be {wanted} if {name} is specified"
            place = f"{path}.type"
            yield invalid(place, kind, told) if kind else required(place, told)
        if value is not None and value not in allowed:
            yield not_supported(f"{path}.{name}", value, allowed)
    if keys and list_type != "map":
        told = "must be map if x-kubernetes-list-map-keys is non-empty"
        place = f"{path}.x-kubernetes-list-type"
        yield invalid(place, list_type, told) if list_type else required(place, told)
    if list_type == "map":
        yield from _map_key_errors(schema, keys or [], path)


def _map_key_errors(schema: JsonObject, keys: list[str], path: str) -> Iterable[FieldError]:
    place = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield required(place, "must not be empty if x-kubernetes-list-type is map")
    items = schema.get("items")
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
        return
    if not isinstance(items, dict) or items.get("type") != "object":
        kind = items.get("type") or "" if isinstance(items, dict) else ""
        told = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", kind, told)
        return
    properties, needed = items.get("properties") or {}, items.get("required") or ()
    for key in keys:
        below = properties.get(key)
        if below is None:
            yield invalid(place, keys, "entries must all be names of item properties")
            continue
        inner = f"{path}.items.properties[{key}]"
        if below.get("type") in ("array", "object"):
            told = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{inner}.type", "object", told)
        if key not in needed and below.get("default") is None:
            told = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be"
                " a required property"
            )
            yield required(f"{inner}.default", told)
    if len(set(keys)) != len(keys):
        yield invalid(place, keys, "must not contain duplicate entries")

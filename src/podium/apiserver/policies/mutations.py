"""What one mutation makes of an object: a configuration is merged into it, or a patch applied.

A configuration is merged as server-side apply merges it, but nobody owns its fields afterwards.
What is replaced as a whole cannot be part of it: fields that it does not mention would be lost.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from podium.api.json_syntax import json_type
from podium.api.json_values import JsonObject, JsonValue
from podium.apiserver import status_errors
from podium.apiserver.managed_fields import configuration_problem, merge_configuration
from podium.apiserver.patching import FailedTestOperation, PatchError, json_patch
from podium.apiserver.policies.asking import Expression, Failed
from podium.apiserver.policies.made_values import (
    Unwritable,
    check_type_names,
    configuration_of,
    patch_value_of,
)
from podium.apiserver.schema import Schema
from podium.apiserver.schema.shapes import ListOf, MapOf, Shape, Struct
from podium.cel.structs import StructValue


class Mutation(NamedTuple):
    """One entry of a policy's `mutations`."""

    expression: Expression
    is_json_patch: bool

    def change(self, obj: JsonObject, made: Any, schema: Schema) -> JsonObject:
        """The object after what the expression has made; Failed if it does not fit, StatusError if
        nothing sensible is left."""
        if self.is_json_patch:
            return _patched(obj, made)
        return _merged(obj, made, schema)


def _merged(obj: JsonObject, made: StructValue, schema: Schema) -> JsonObject:
    _require_type_names(made)
    try:
        config = configuration_of(made)
    except Unwritable as unwritable:
        raise Failed(f"invalid return type: {unwritable}") from None
    config |= {"apiVersion": schema.api_version, "kind": schema.kind}
    problem = configuration_problem(config, schema)
    if problem:
        told = f"failed to convert patch object to typed object: {problem}"
        raise Failed(f"error applying patch: {told}")
    replaced = ", ".join(_atomic_parts(config, schema.root))
    if replaced:
        told = f"may not mutate atomic arrays, maps or structs: {replaced}"
        raise Failed(f"error applying patch: invalid ApplyConfiguration: {told}")
    return merge_configuration(obj, config, schema)


def _atomic_parts(value: JsonValue, shape: Shape, path: str = "") -> Iterator[str]:
    """Where a configuration has something that is replaced as a whole."""
    if isinstance(value, dict) and isinstance(shape, Struct | MapOf):
        if shape.is_atomic:
            yield path
        fields = shape.fields if isinstance(shape, Struct) else {}
        for name, held in value.items():
            if name in fields:
                yield from _atomic_parts(held, fields[name].shape, f"{path}.{name}")
    elif isinstance(value, list) and isinstance(shape, ListOf):
        if not shape.is_associative:
            yield path
        for index, item in enumerate(value):
            yield from _atomic_parts(item, shape.item, f"{path}[{index}]")


def _patched(obj: JsonObject, made: Sequence[StructValue]) -> JsonObject:
    patch: JsonValue = [_operation(each) for each in made]
    try:
        patched = json_patch.apply(obj, patch)
    except FailedTestOperation:
        return obj
    except PatchError as problem:
        raise Failed(f"JSON Patch: {problem.why or problem.message}") from None
    if not isinstance(patched, dict):
        raise status_errors.internal_error(f"unexpected {json_type(patched)}")
    return patched


def _operation(made: StructValue) -> JsonObject:
    fields = made.fields
    operation: JsonObject = {"op": fields.get("op", ""), "path": fields.get("path", "")}
    if fields.get("from"):
        operation["from"] = fields["from"]
    if "value" not in fields:
        return operation
    value = fields["value"]
    if isinstance(value, StructValue):
        _require_type_names(value, value.type.name)
    try:
        operation["value"] = patch_value_of(value)
    except Unwritable as problem:
        raise Failed(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON:"
            f" {problem}"
        ) from None
    return operation


def _require_type_names(made: StructValue, root: str = "Object") -> None:
    problems = list(check_type_names(made, root))
    if problems:
        raise Failed("type mismatch: " + "\n".join(problems))

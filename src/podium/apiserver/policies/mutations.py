"""What one mutation makes of an object: a configuration is merged into it, or a patch applied.

A configuration is merged as server-side apply merges it, but nobody owns its fields afterwards.
What is replaced as a whole cannot be part of it: fields that it does not mention would be lost.

Values that expressions have made, as JSON. What is merged into an object keeps the kinds of its
values; what a JSON patch carries is written as protobuf's JSON has it, where durations, moments
and bytes are texts.
"""

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from podium.apiserver.managed_fields import OtherValue, configuration_problem, merge_configuration
from podium.apiserver.policies.asking import Expression, Failed
from podium.golang.json_reader import json_type
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import quoted
from podium.golang.shapes import ListOf, MapOf, Shape, Struct
from podium.kubernetes import status_errors
from podium.kubernetes.cel.functions.conversions import text_of
from podium.kubernetes.cel.structs import StructValue
from podium.kubernetes.cel.values import (
    Duration,
    Opaque,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    from_key,
    type_name,
)
from podium.kubernetes.patching import FailedTestOperation, PatchError, json_patch
from podium.kubernetes.schema import Decoded, DecodeError, Schema

_MAX_EXACT: Final = 2**53 - 1


class Unwritable(Exception):
    """A value that JSON cannot have; the text is upstream's."""


def check_type_names(value: Any, path: str = "Object") -> Iterator[str]:
    """What is wrong with the types of objects: each is named after the fields that lead to it."""
    match value:
        case StructValue():
            if value.type.name != path:
                yield (
                    f"unexpected type name {quoted(value.type.name)}, expected {quoted(path)},"
                    " which matches field name path from root Object type"
                )
            for name, held in value.fields.items():
                yield from check_type_names(held, f"{path}.{name}")
        case list():
            for item in value:
                yield from check_type_names(item, path)
        case dict():
            for item in value.values():
                yield from check_type_names(item, path)


def configuration_of(value: StructValue) -> JsonObject:
    """An object as it is merged; raises Unwritable. Values that JSON does not have stay in it as
    `OtherValue`s, which have a place nowhere."""
    return {name: _mergeable(held) for name, held in value.fields.items()}


def _mergeable(value: Any) -> Any:
    match value:
        case StructValue():
            return configuration_of(value)
        case Optional():
            return _mergeable(value.value)
        case list():
            return [_mergeable(item) for item in value]
        case dict() if not all(isinstance(key, str) for key in value):
            raise Unwritable("*dynamic.ObjectVal")
        case dict():
            return {key: _mergeable(item) for key, item in value.items()}
        case float() if value.is_integer() and abs(value) <= _MAX_EXACT:
            return int(value)
        case None | Uint() | bytes() | Duration() | Timestamp() | TypeValue() | Opaque():
            return _other(value)
        case _:
            return value


def _other(value: Any) -> OtherValue:
    match value:
        case None:
            return OtherValue("structpb.NullValue", "0", "NULL_VALUE")
        case Uint():
            return OtherValue("uint64", f"{value:#x}", str(int(value)))
        case bytes():
            octets = ", ".join(f"{each:#x}" for each in value)
            return OtherValue("[]uint8", f"[]uint8{{{octets}}}", f"[{' '.join(map(str, value))}]")
        case Duration():
            return OtherValue("time.Duration", str(value.nanos), text_of(value))
        case _:
            named = f"({type_name(value)})"
            return OtherValue(type_name(value), named, named)


def patch_value_of(value: Any) -> JsonValue:
    """A value of a JSON patch; raises Unwritable."""
    match value:
        case StructValue():
            return {name: patch_value_of(held) for name, held in value.fields.items()}
        case Optional() if not value.present:
            raise Unwritable("optional.none() dereference")
        case Optional():
            return patch_value_of(value.value)
        case list():
            return [patch_value_of(item) for item in value]
        case dict():
            return {_key(key): patch_value_of(item) for key, item in value.items()}
        case float():
            return int(value) if value.is_integer() and abs(value) <= _MAX_EXACT else value
        case int() if not isinstance(value, bool):
            return int(value) if abs(value) <= _MAX_EXACT else str(int(value))
        case bytes():
            return base64.b64encode(value).decode()
        case Duration() | Timestamp():
            return text_of(value)
        case TypeValue():
            raise Unwritable("type conversion not supported for 'type'")
        case Opaque():
            found = type_name(value).rpartition(".")[2]
            raise Unwritable(f"type conversion error from '{found}' to '*structpb.Value'")
        case _:
            plain: JsonValue = value
            return plain


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Unwritable(f"unsupported type conversion from '{type_name(from_key(key))}' to string")
    return key


Read = Callable[[JsonObject], Decoded]
"""Reads a changed object; raises DecodeError."""
_FRACTION: Final = re.compile(r"json: cannot unmarshal number \S+ into .* of type (\S+)")


class Mutation(NamedTuple):
    """One entry of a policy's `mutations`."""

    expression: Expression
    is_json_patch: bool

    def change(self, obj: JsonObject, made: Any, schema: Schema, read: Read) -> JsonObject:
        """The object after what the expression has made, read like one that a client sends.

        Raises Failed if it does not fit, and StatusError where upstream does.
        """
        if not self.is_json_patch:
            try:
                return read(_merged(obj, made, schema)).value
            except DecodeError as problem:
                raise Failed(_unconverted(problem.message, schema)) from None
        patched = _patched(obj, made)
        try:
            taken = read({"apiVersion": schema.api_version, "kind": schema.kind, **patched})
        except DecodeError as problem:
            raise status_errors.internal_error(problem.message) from None
        if taken.problems and not schema.is_custom:
            told = f"strict decoding error: {', '.join(taken.problems)}"
            raise status_errors.internal_error(told)
        return taken.value


def _unconverted(why: str, schema: Schema) -> str:
    """Why a merged object is none of its kind."""
    fraction = _FRACTION.fullmatch(why)
    if fraction is not None:
        why = f"cannot convert float64 to {fraction[1]}"
    elif why.startswith("illegal base64"):
        why = f"error decoding from json: {why}"
    kind = f"{schema.group}/{schema.version}, Kind={schema.kind}"
    return f"unable to convert unstructured object to {kind}: {why}"


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
        patched = json_patch.apply(obj, patch, null_is_missing=False)
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

"""Values that expressions have made, as JSON.

What is merged into an object keeps the kinds of its values; what a JSON patch carries is written as
protobuf's JSON has it, where durations, moments and bytes are texts.
"""

import base64
from collections.abc import Iterator
from typing import Any, Final

from podium.apiserver.managed_fields import OtherValue
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import quoted
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

"""Values that expressions have made, as JSON.

What is merged into an object keeps the kinds of its values; what a JSON patch carries is written as
protobuf's JSON has it, where durations, moments and bytes are texts.
"""

import base64
from collections.abc import Iterator
from typing import Any, Final

from podium.api.go_quoting import quoted
from podium.api.json_values import JsonObject, JsonValue
from podium.cel import CelError
from podium.cel.functions.conversions import text_of
from podium.cel.structs import StructValue
from podium.cel.values import Duration, Opaque, Optional, Timestamp, TypeValue, type_name

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
    """An object as it is merged; raises Unwritable."""
    return {name: _plain(held) for name, held in value.fields.items()}


def _plain(value: Any) -> JsonValue:
    match value:
        case StructValue():
            return configuration_of(value)
        case Optional():
            return _plain(value.value)
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {_key(key): _plain(item) for key, item in value.items()}
        case None | bool() | float() | str():
            return value
        case int():
            return int(value)
        case _:
            raise Unwritable(f"unsupported value of type {type_name(value)}")


def patch_value_of(value: Any) -> JsonValue:
    """A value of a JSON patch; raises Unwritable."""
    match value:
        case StructValue():
            return {name: patch_value_of(held) for name, held in value.fields.items()}
        case Optional():
            return patch_value_of(value.value)
        case list():
            return [patch_value_of(item) for item in value]
        case dict():
            return {_key(key): patch_value_of(item) for key, item in value.items()}
        case None | bool() | str():
            return value
        case float():
            return int(value) if value.is_integer() and abs(value) <= _MAX_EXACT else value
        case int():
            return int(value) if abs(value) <= _MAX_EXACT else str(int(value))
        case bytes():
            return base64.b64encode(value).decode()
        case Duration() | Timestamp():
            return text_of(value)
        case TypeValue():
            return value.name
        case Opaque():
            raise Unwritable(f"type conversion error from '{type_name(value)}' to 'structpb.Value'")
        case _:
            raise CelError(f"unsupported value of type {type_name(value)}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Unwritable(f"map key {key} is of type {type_name(key)}, not string")
    return key

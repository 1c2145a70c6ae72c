"""JSON values written as protobuf messages, by the shapes of their kinds."""

import base64
import struct
from datetime import datetime
from functools import cache

import msgspec

from podium.api.json_values import DecodedValue, JsonObject
from podium.apiserver.protobuf.message_numbers import NumberedField, fields_of_message
from podium.apiserver.protobuf.wire import bytes_field, fixed64_field, number_field
from podium.apiserver.schema.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct


def write_message(struct_: Struct, value: JsonObject) -> bytes:
    return _write(struct_, struct_.name, value)


def _write(struct_: Struct, message: str, value: JsonObject) -> bytes:
    parts: list[bytes] = []
    for field in fields_of_message(struct_.group, message):
        if field.inline:
            if _inline_names(struct_, field.inline) & value.keys():
                parts.append(bytes_field(field.number, _write(struct_, field.inline, value)))
            continue
        found = value.get(field.name)
        known = struct_.fields.get(field.name)
        if found is not None and known is not None:
            parts.append(_field(field, known.shape, found))
    return b"".join(parts)


@cache
def _inline_names(struct_: Struct, message: str) -> frozenset[str]:
    return frozenset(field.name for field in fields_of_message(struct_.group, message))


def _field(field: NumberedField, shape: Shape, value: DecodedValue) -> bytes:
    number = field.number
    if isinstance(shape, ListOf):
        return b"".join(_one(number, shape.item, item) for item in value)
    if isinstance(shape, MapOf):
        return b"".join(
            bytes_field(number, bytes_field(1, key.encode()) + _one(2, shape.value, item))
            for key, item in sorted(value.items())
        )
    return _one(number, shape, value)


def _one(number: int, shape: Shape, value: DecodedValue) -> bytes:
    match shape:
        case Struct():
            return bytes_field(number, write_message(shape, value or {}))
        case AnyValue():
            return bytes_field(number, bytes_field(1, msgspec.json.encode(value)))
        case ListOf():  # a list inside a map is a message with items
            items = b"".join(_one(1, shape.item, item) for item in value or ())
            return bytes_field(number, items)
        case Scalar():
            return _scalar(number, shape.form, value)
    raise AssertionError("maps have no maps as values")


def _scalar(number: int, form: Form, value: DecodedValue) -> bytes:
    match form:
        case Form.STRING:
            return bytes_field(number, value.encode())
        case Form.BOOL | Form.INT32 | Form.INT64:
            return number_field(number, int(value))
        case Form.FLOAT:
            return fixed64_field(number, struct.pack("<d", value))
        case Form.BYTES:
            return bytes_field(number, base64.b64decode(value or ""))
        case Form.QUANTITY:
            return bytes_field(number, bytes_field(1, str(value).encode()))
        case Form.TIME | Form.MICRO_TIME:
            return bytes_field(number, _moment(value))
        case Form.INT_OR_STRING:
            return bytes_field(number, _int_or_string(value))


def _moment(value: str | None) -> bytes:
    if value is None:
        return b""
    moment = datetime.fromisoformat(value)
    nanos = moment.microsecond * 1000
    return number_field(1, int(moment.timestamp())) + number_field(2, nanos)


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return number_field(1, 1) + number_field(2, 0) + bytes_field(3, value.encode())
    return number_field(1, 0) + number_field(2, value) + bytes_field(3, b"")

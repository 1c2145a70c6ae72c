"""Protobuf messages read as JSON values, by the shapes of their kinds.

Zero values that Go always writes are read as they are: decoding the object by its schema drops
them afterwards, as it does with JSON. Fields that no schema knows are left out.
"""

import base64
import struct
from collections.abc import Callable
from functools import cache
from typing import Final

import msgspec

from podium.apiserver.protobuf.wire import (
    MAX_MESSAGE_DEPTH,
    FieldReader,
    Found,
    WireError,
    fields_of_message,
    to_signed,
)
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.rules.timestamps import time_text
from podium.kubernetes.schema import DecodeError
from podium.kubernetes.schema.catalogue import built_in_struct
from podium.kubernetes.schema.decoding import read_struct

ReadField = Callable[[Found, FieldReader], JsonValue]


def read_message(struct_: Struct, data: memoryview, reader: FieldReader) -> JsonObject:
    value: JsonObject = {}
    reader.depth += 1
    if reader.depth > MAX_MESSAGE_DEPTH:
        raise WireError("exceeded max depth")
    _read_into(value, struct_, struct_.name, data, reader)
    reader.depth -= 1
    return value


def _read_into(
    value: JsonObject, struct_: Struct, message: str, data: memoryview, reader: FieldReader
) -> None:
    plans = _plans(struct_, message)
    for number, found in reader.fields_of(data):
        plan = plans.get(number)
        if plan is None:
            continue
        name, shape, inline = plan
        if inline:
            _read_into(value, struct_, inline, _bytes(found), reader)
        elif isinstance(shape, ListOf):
            value.setdefault(name, []).append(_read(shape.item, found, reader))
        elif isinstance(shape, MapOf):
            key, item = _entry(shape, _bytes(found), reader)
            value.setdefault(name, {})[key] = item
        else:
            value[name] = _read(shape, found, reader)


@cache
def _plans(struct_: Struct, message: str) -> dict[int, tuple[str, Shape | None, str]]:
    plans: dict[int, tuple[str, Shape | None, str]] = {}
    for field in fields_of_message(struct_.group, message):
        if field.inline:
            plans[field.number] = (field.name, None, field.inline)
        elif field.name in struct_.fields:
            plans[field.number] = (field.name, struct_.fields[field.name].shape, "")
    return plans


def _read(shape: Shape | None, found: Found, reader: FieldReader) -> JsonValue:
    match shape:
        case Struct():
            return read_message(shape, _bytes(found), reader)
        case Scalar():
            return _SCALARS[shape.form](found, reader)
        case AnyValue():
            read = _ALTERNATIVES.get(shape.go_name, _any)
            return read(found, reader)
        case ListOf():  # a list inside a map is a message with items
            return [_read(shape.item, item, reader) for _, item in reader.fields_of(_bytes(found))]
        case _:
            raise WireError("unexpected shape")


def _entry(shape: MapOf, data: memoryview, reader: FieldReader) -> tuple[str, JsonValue]:
    key: str = ""
    item: Found | None = None
    for number, found in reader.fields_of(data):
        if number == 1:
            key = _text(found, reader)
        elif number == 2:
            item = found
    return key, _zero(shape.value) if item is None else _read(shape.value, item, reader)


def _zero(shape: Shape) -> JsonValue:
    if isinstance(shape, Scalar):
        return "0" if shape.form is Form.QUANTITY else ""
    return [] if isinstance(shape, ListOf) else {}


def _bytes(found: Found) -> memoryview:
    if isinstance(found, int):
        raise WireError("wrong wireType")
    return found


def _number(found: Found, _: FieldReader) -> int:
    if isinstance(found, memoryview):
        raise WireError("wrong wireType")
    return to_signed(found)


def _text(found: Found, _: FieldReader) -> str:
    try:
        return str(_bytes(found), "utf-8")
    except UnicodeDecodeError:
        raise WireError("string is not valid UTF-8") from None


def _float(found: Found, _: FieldReader) -> float:
    data = _bytes(found)
    if len(data) != 8:
        raise WireError("wrong wireType")
    value: float = struct.unpack("<d", data)[0]
    return value


def _base64(found: Found, _: FieldReader) -> str:
    return base64.b64encode(_bytes(found)).decode()


def _quantity(found: Found, reader: FieldReader) -> str:
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            return _text(value, reader) or "0"
    return "0"


def _moment(found: Found, reader: FieldReader) -> tuple[int, int] | None:
    seconds = nanos = None
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            seconds = _number(value, reader)
        elif number == 2:
            nanos = _number(value, reader)
    return None if seconds is None and nanos is None else (seconds or 0, nanos or 0)


def _time(found: Found, reader: FieldReader) -> str | None:
    moment = _moment(found, reader)
    return None if moment is None else _time_text(moment[0])


def _micro_time(found: Found, reader: FieldReader) -> str | None:
    moment = _moment(found, reader)
    if moment is None:
        return None
    return f"{_time_text(moment[0])[:-1]}.{moment[1] // 1000:06d}Z"


def _time_text(seconds: int) -> str:
    try:
        return time_text(seconds)
    except (OverflowError, ValueError, OSError):
        raise WireError("time out of range") from None


def _int_or_string(found: Found, reader: FieldReader) -> int | str:
    parts = dict(reader.fields_of(_bytes(found)))
    if parts.get(1, 0) == 1:
        return _text(parts.get(3, memoryview(b"")), reader)
    return _number(parts.get(2, 0), reader)


_decode_json: Final[Callable[[memoryview], JsonValue]] = msgspec.json.Decoder().decode


def _any(found: Found, reader: FieldReader) -> JsonValue:
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            try:
                return _decode_json(_bytes(value))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise WireError("raw value is no JSON") from None
    return None


def _schema(found: Found, reader: FieldReader) -> JsonValue:
    """A part of a definition's schema, without the zero values that Go always writes: what stands
    in one of the alternatives below is not decoded again."""
    struct_ = built_in_struct("apiextensions", "JSONSchemaProps")
    reader.depth += 1  # the alternative is a message, too
    try:
        value = read_struct(read_message(struct_, _bytes(found), reader), struct_).value
    except DecodeError as problem:
        raise WireError(problem.message) from None
    reader.depth -= 1
    return value


def _schema_or_list(found: Found, reader: FieldReader) -> JsonValue:
    one: JsonValue = None
    several: list[JsonValue] = []
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            one = _schema(value, reader)
        elif number == 2:
            several.append(_schema(value, reader))
    return several or one


def _schema_or_bool(found: Found, reader: FieldReader) -> JsonValue:
    allows, schema = False, None
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            allows = _number(value, reader) != 0
        elif number == 2:
            schema = _schema(value, reader)
    return allows if schema is None else schema


def _schema_or_names(found: Found, reader: FieldReader) -> JsonValue:
    one: JsonValue = None
    names: list[JsonValue] = []
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            one = _schema(value, reader)
        elif number == 2:
            names.append(_text(value, reader))
    return names or one


_ALTERNATIVES: Final[dict[str, ReadField]] = {
    "v1.JSONSchemaPropsOrArray": _schema_or_list,
    "v1.JSONSchemaPropsOrBool": _schema_or_bool,
    "v1.JSONSchemaPropsOrStringArray": _schema_or_names,
}
"""Values that JSON writes as one thing or another, and protobuf as a message with both."""

_SCALARS: Final[dict[Form, ReadField]] = {
    Form.STRING: _text,
    Form.BOOL: lambda found, reader: _number(found, reader) != 0,
    Form.INT32: _number,
    Form.INT64: _number,
    Form.FLOAT: _float,
    Form.BYTES: _base64,
    Form.QUANTITY: _quantity,
    Form.TIME: _time,
    Form.MICRO_TIME: _micro_time,
    Form.INT_OR_STRING: _int_or_string,
}

"""Protobuf messages read as JSON values, by the shapes of their kinds.

Zero values that Go always writes are read as they are: decoding the object by its schema drops
them afterwards, as it does with JSON. Fields that no schema knows are left out.
"""

import base64
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Final

import msgspec

from podium.apiserver.json_values import JsonObject, JsonValue
from podium.apiserver.protobuf.message_numbers import fields_of_message
from podium.apiserver.protobuf.wire import FieldReader, WireError, signed
from podium.apiserver.schema.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct

_Read = Callable[[int | bytes, FieldReader], JsonValue]


def read_message(struct_: Struct, data: bytes, reader: FieldReader) -> JsonObject:
    value: JsonObject = {}
    _read_into(value, struct_, struct_.name, data, reader)
    return value


def _read_into(
    value: JsonObject, struct_: Struct, message: str, data: bytes, reader: FieldReader
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


def _read(shape: Shape | None, found: int | bytes, reader: FieldReader) -> JsonValue:
    match shape:
        case Struct():
            return read_message(shape, _bytes(found), reader)
        case Scalar():
            return _SCALARS[shape.form](found, reader)
        case AnyValue():
            return _any(found, reader)
        case ListOf():  # a list inside a map is a message with items
            return [_read(shape.item, item, reader) for _, item in reader.fields_of(_bytes(found))]
        case _:
            raise WireError("unexpected shape")


def _entry(shape: MapOf, data: bytes, reader: FieldReader) -> tuple[str, JsonValue]:
    key: str = ""
    item: int | bytes | None = None
    for number, found in reader.fields_of(data):
        if number == 1:
            key = _text(found)
        elif number == 2:
            item = found
    return key, _zero(shape.value) if item is None else _read(shape.value, item, reader)


def _zero(shape: Shape) -> JsonValue:
    if isinstance(shape, Scalar):
        return "0" if shape.form is Form.QUANTITY else ""
    return [] if isinstance(shape, ListOf) else {}


def _bytes(found: int | bytes) -> bytes:
    if isinstance(found, int):
        raise WireError("wrong wireType")
    return found


def _number(found: int | bytes) -> int:
    if isinstance(found, bytes):
        raise WireError("wrong wireType")
    return signed(found)


def _text(found: int | bytes) -> str:
    try:
        return _bytes(found).decode()
    except UnicodeDecodeError:
        raise WireError("string is not valid UTF-8") from None


def _float(found: int | bytes) -> float:
    data = _bytes(found)
    if len(data) != 8:
        raise WireError("wrong wireType")
    value: float = struct.unpack("<d", data)[0]
    return value


def _base64(found: int | bytes) -> str:
    return base64.b64encode(_bytes(found)).decode()


def _quantity(found: int | bytes, reader: FieldReader) -> str:
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            return _text(value) or "0"
    return "0"


def _moment(found: int | bytes, reader: FieldReader) -> tuple[int, int] | None:
    seconds = nanos = None
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            seconds = _number(value)
        elif number == 2:
            nanos = _number(value)
    return None if seconds is None and nanos is None else (seconds or 0, nanos or 0)


def _time(found: int | bytes, reader: FieldReader) -> str | None:
    moment = _moment(found, reader)
    return None if moment is None else _datetime(moment[0]).strftime("%Y-%m-%dT%H:%M:%SZ")


def _micro_time(found: int | bytes, reader: FieldReader) -> str | None:
    moment = _moment(found, reader)
    if moment is None:
        return None
    return f"{_datetime(moment[0]):%Y-%m-%dT%H:%M:%S}.{moment[1] // 1000:06d}Z"


def _datetime(seconds: int) -> datetime:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise WireError("time out of range") from None


def _int_or_string(found: int | bytes, reader: FieldReader) -> int | str:
    parts = dict(reader.fields_of(_bytes(found)))
    return _text(parts.get(3, b"")) if parts.get(1, 0) == 1 else _number(parts.get(2, 0))


def _any(found: int | bytes, reader: FieldReader) -> JsonValue:
    for number, value in reader.fields_of(_bytes(found)):
        if number == 1:
            try:
                return msgspec.json.decode(_bytes(value))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise WireError("raw value is no JSON") from None
    return None


_SCALARS: Final[dict[Form, _Read]] = {
    Form.STRING: lambda found, _: _text(found),
    Form.BOOL: lambda found, _: _number(found) != 0,
    Form.INT32: lambda found, _: _number(found),
    Form.INT64: lambda found, _: _number(found),
    Form.FLOAT: lambda found, _: _float(found),
    Form.BYTES: lambda found, _: _base64(found),
    Form.QUANTITY: _quantity,
    Form.TIME: _time,
    Form.MICRO_TIME: _micro_time,
    Form.INT_OR_STRING: _int_or_string,
}

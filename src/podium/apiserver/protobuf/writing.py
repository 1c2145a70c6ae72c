"""JSON values written as protobuf messages, by the shapes of their kinds.

A field becomes a closure that has its tag as bytes and knows how its values are written, made when
the struct is first met: large objects are measured by what they take up in this form.
"""

import base64
import struct
from collections.abc import Callable, Set
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec

from podium.apiserver.protobuf.wire import (
    BYTES,
    FIXED64,
    VARINT,
    bytes_field,
    fields_of_message,
    number_field,
    tag,
    varint,
)
from podium.golang.json_values import DecodedValue, JsonObject
from podium.golang.shapes import AnyValue, Form, ListOf, MapOf, Scalar, Shape, Struct
from podium.kubernetes.schema.catalogue import built_in_struct

_Writer: TypeAlias = Callable[[Any], bytes]
"""Writes a value, or a field with its tag."""
_Plan: TypeAlias = tuple[str, Set[str], _Writer]


def write_message(struct_: Struct, value: JsonObject) -> bytes:
    return _message_writer(struct_, struct_.name)(value)


@cache
def _message_writer(struct_: Struct, message: str) -> _Writer:
    plans: list[_Plan] = []
    prepared = False

    def prepare() -> None:
        # Not before the first value: structs refer to each other in circles.
        nonlocal prepared
        prepared = True
        for field in fields_of_message(struct_.group, message):
            if field.inline:
                inner = _with_tag(field.number, _message_writer(struct_, field.inline))
                plans.append(("", _names_in(struct_, field.inline), inner))
            elif known := struct_.fields.get(field.name):
                plans.append((field.name, frozenset(), _field_writer(field.number, known.shape)))

    def write(value: JsonObject) -> bytes:
        if not prepared:
            prepare()
        parts = []
        for name, inlined, writer in plans:
            if inlined:
                if inlined & value.keys():
                    parts.append(writer(value))
            elif (found := value.get(name)) is not None:
                parts.append(writer(found))
        return b"".join(parts)

    return write


def _names_in(struct_: Struct, message: str) -> frozenset[str]:
    """The fields of a message, and those of messages inline in it."""
    names: set[str] = set()
    for field in fields_of_message(struct_.group, message):
        names |= _names_in(struct_, field.inline) if field.inline else {field.name}
    return frozenset(names)


def _field_writer(number: int, shape: Shape) -> _Writer:
    match shape:
        case ListOf():
            write_item = _item_writer(number, shape.item)
            return lambda items: b"".join(map(write_item, items))
        case MapOf():
            write_key, write_value = _text_writer(1), _item_writer(2, shape.value)
            write_entry = _with_tag(number, lambda each: write_key(each[0]) + write_value(each[1]))
            return lambda entries: b"".join(map(write_entry, sorted(entries.items())))
        case _:
            return _item_writer(number, shape)


def _item_writer(number: int, shape: Shape) -> _Writer:
    match shape:
        case Struct():
            write = _message_writer(shape, shape.name)
            return _with_tag(number, lambda value: write(value or {}))
        case AnyValue():
            return _with_tag(
                number, _ALTERNATIVES.get(shape.go_name) or _with_tag(1, msgspec.json.encode)
            )
        case ListOf():  # a list inside a map is a message with items
            write_item = _item_writer(1, shape.item)
            return _with_tag(number, lambda items: b"".join(map(write_item, items or ())))
        case Scalar():
            return _scalar_writer(number, shape.form)
    raise AssertionError("maps have no maps as values")


def _scalar_writer(number: int, form: Form) -> _Writer:
    match form:
        case Form.STRING:
            return _text_writer(number)
        case Form.BOOL | Form.INT32 | Form.INT64:
            head = tag(number, VARINT)
            return lambda value: head + varint(int(value))
        case Form.FLOAT:
            head = tag(number, FIXED64)
            return lambda value: head + struct.pack("<d", value)
        case Form.BYTES:
            return _with_tag(number, lambda value: base64.b64decode(value or ""))
        case Form.QUANTITY:
            write_text = _text_writer(1)
            return _with_tag(number, lambda value: write_text(str(value)))
        case Form.TIME | Form.MICRO_TIME:
            return _with_tag(number, _moment)
        case Form.INT_OR_STRING:
            return _with_tag(number, _int_or_string)
    raise AssertionError(f"objects of the API hold no {form.value}")


def _with_tag(number: int, write: _Writer) -> _Writer:
    """The field of a number whose value has a length."""
    head = tag(number, BYTES)

    def write_field(value: Any) -> bytes:
        content = write(value)
        return head + varint(len(content)) + content

    return write_field


def _text_writer(number: int) -> _Writer:
    return _with_tag(number, str.encode)


def _moment(value: str | None) -> bytes:
    if value is None:
        return b""
    moment = datetime.fromisoformat(value)
    nanos = moment.microsecond * 1000
    return number_field(1, int(moment.timestamp())) + number_field(2, nanos)


@cache
def _schema_writer() -> _Writer:
    struct_ = built_in_struct("apiextensions", "JSONSchemaProps")
    return _message_writer(struct_, struct_.name)


def _schema_or_list(value: DecodedValue) -> bytes:
    write = _schema_writer()  # called here and not further down: schemas are nested deeply
    if isinstance(value, list):
        return b"".join([bytes_field(2, write(each)) for each in value])
    return bytes_field(1, write(value))


def _schema_or_bool(value: DecodedValue) -> bytes:
    if isinstance(value, bool):
        return number_field(1, int(value))
    return number_field(1, 1) + bytes_field(2, _schema_writer()(value))


def _schema_or_names(value: DecodedValue) -> bytes:
    if isinstance(value, list):
        return b"".join([bytes_field(2, each.encode()) for each in value])
    return bytes_field(1, _schema_writer()(value))


_ALTERNATIVES: Final[dict[str, _Writer]] = {
    "v1.JSONSchemaPropsOrArray": _schema_or_list,
    "v1.JSONSchemaPropsOrBool": _schema_or_bool,
    "v1.JSONSchemaPropsOrStringArray": _schema_or_names,
}
"""Values that JSON writes as one thing or another, and protobuf as a message with both."""


_NO_TEXT: Final = bytes_field(3, b"")


def _int_or_string(value: DecodedValue) -> bytes:
    if isinstance(value, str):
        return number_field(1, 1) + number_field(2, 0) + bytes_field(3, value.encode())
    return number_field(1, 0) + number_field(2, value) + _NO_TEXT

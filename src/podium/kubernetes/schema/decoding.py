"""JSON read as Kubernetes' Go types read it, and written back as they write it.

Upstream decodes every object into a Go struct and encodes it again. What a client gets back thus
differs from what it sent: unknown fields are gone, empty fields too unless Go always writes them,
quantities and times have one spelling. `decode` does the same in one pass over plain values.

A struct becomes a closure over a table from field names to plans, made when the struct is first
met. A plan says which Python class is taken without a further look, whether an empty value stays,
and what reads all other values. The way to a field is passed on as linked pairs and spelt out only
when something is wrong with it.

`kinds/shapes.py` and its kin read into Structs of the few kinds that Podium itself understands.
Here plain values stay plain values, of every kind that is served and with every field of it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Omitted,
    Scalar,
    Shape,
    Struct,
)
from podium.kubernetes.schema.catalogue import Schema
from podium.kubernetes.schema.problems import Decoded, DecodeError, Way, mismatch, unknown_field
from podium.kubernetes.schema.scalars import (
    ScalarError,
    canonical_bytes,
    canonical_micro_time,
    canonical_quantity,
    canonical_time,
)

Reader: TypeAlias = Callable[[Any, Way, list[str]], Any]
"""Reads a value that is not null at the end of a way; adds the fields that nobody knows."""
_Plan: TypeAlias = tuple[type | None, bool, Reader]

_INT32: Final = range(-(2**31), 2**31)
_INT64: Final = range(-(2**63), 2**63)
_MAX_PROBLEMS: Final = 100


def decode(obj: JsonObject, schema: Schema) -> Decoded:
    """The object as Go would write it back; raises DecodeError."""
    problems: list[str] = []
    value = reader_of(schema.root)(obj, None, problems)
    return Decoded(value, list(dict.fromkeys(problems))[:_MAX_PROBLEMS])


def decode_patched(obj: JsonObject, schema: Schema) -> Decoded:
    """The same for the result of a strategic merge, which upstream reads without JSON."""
    try:
        decoded = decode(obj, schema)
    except DecodeError as error:
        raise DecodeError(error.converted, error.converted) from None
    return Decoded(decoded.value, sorted(decoded.problems))


@cache
def zero_struct(struct: Struct) -> JsonObject:
    """What Go writes for a struct that was never set. Not to be changed."""
    return {
        field.name: None if field.is_pointer else zero(field.shape)
        for field in struct.fields.values()
        if _is_always_written(field)
    }


def zero(shape: Shape) -> JsonValue:
    """What Go writes for a value that was never set. Not to be changed."""
    match shape:
        case Struct():
            return zero_struct(shape)
        case Scalar():
            return _ZEROS[shape.form]
        case _:
            return None


_ZEROS: Final[dict[Form, JsonValue]] = {
    Form.STRING: "",
    Form.BOOL: False,
    Form.INT32: 0,
    Form.INT64: 0,
    Form.FLOAT: 0,
    Form.BYTES: None,
    Form.QUANTITY: "0",
    Form.TIME: None,
    Form.MICRO_TIME: None,
    Form.INT_OR_STRING: 0,
}
_GO_STRUCTS: Final = frozenset({Form.QUANTITY, Form.TIME, Form.MICRO_TIME, Form.INT_OR_STRING})


def _is_go_struct(shape: Shape) -> bool:
    if isinstance(shape, Scalar):
        return shape.form in _GO_STRUCTS
    return isinstance(shape, Struct | AnyValue)


def _is_always_written(field: Field) -> bool:
    if field.omitted is Omitted.NEVER:
        return True
    # upstream: Go's omitempty knows no empty structs.
    return (
        field.omitted is Omitted.WHEN_EMPTY and not field.is_pointer and _is_go_struct(field.shape)
    )


@cache
def reader_of(shape: Shape) -> Reader:
    match shape:
        case Scalar():
            return _scalar_reader(shape)
        case AnyValue():
            return _as_it_is
        case ListOf():
            return _list_reader(shape)
        case MapOf():
            return _map_reader(shape)
        case Struct():
            return _struct_reader(shape)


def _as_it_is(value: JsonValue, _way: Way, _unknown: list[str]) -> JsonValue:
    return value


def _struct_reader(struct: Struct) -> Reader:
    plans: dict[str, _Plan] = {}
    always: list[tuple[str, DecodedValue, bool]] = []
    name = struct.name

    def prepare() -> None:
        # Not before the first value: structs refer to each other in circles.
        for field in struct.fields.values():
            plans[field.name] = _plan(field)
            if _is_always_written(field):
                empty = None if field.is_pointer else zero(field.shape)
                always.append((field.name, empty, isinstance(empty, dict)))

    def read(value: Any, way: Way, unknown: list[str]) -> Any:
        if value.__class__ is not dict:
            raise mismatch(value, struct, way)
        if not plans:
            prepare()
        out = {}
        for key, item in value.items():
            plan = plans.get(key)
            if plan is None:
                unknown.append(unknown_field(way, key))
                continue
            taken, keeps, reader = plan
            if item.__class__ is taken:
                if item or keeps:
                    out[key] = item
            elif item is not None:
                inner = reader(item, (way, key, name), unknown)
                if inner or keeps:
                    out[key] = inner
        for key, empty, is_object in always:
            if key not in out:
                out[key] = _fresh(empty) if is_object else empty
        return out

    return read


def _fresh(empty: JsonObject) -> JsonObject:
    return {key: _fresh(item) if item.__class__ is dict else item for key, item in empty.items()}


def _plan(field: Field) -> _Plan:
    keeps = field.is_pointer or field.omitted is Omitted.NEVER or _is_go_struct(field.shape)
    taken: type | None = None
    if isinstance(field.shape, Scalar):
        taken = {Form.STRING: str, Form.BOOL: bool}.get(field.shape.form)
    return taken, keeps, reader_of(field.shape)


def _list_reader(shape: ListOf) -> Reader:
    item_shape, read_item = shape.item, reader_of(shape.item)
    is_text = isinstance(item_shape, Scalar) and item_shape.form is Form.STRING

    def read(value: Any, way: Way, unknown: list[str]) -> Any:
        if value.__class__ is not list:
            raise mismatch(value, shape, way)
        out = []
        for index, item in enumerate(value):
            if item is None:
                out.append(_fresh_zero(item_shape))
            elif is_text and item.__class__ is str:
                out.append(item)
            else:
                out.append(read_item(item, (way, index, ""), unknown))
        return out

    return read


def _map_reader(shape: MapOf) -> Reader:
    value_shape, read_item = shape.value, reader_of(shape.value)
    is_text = isinstance(value_shape, Scalar) and value_shape.form is Form.STRING

    def read(value: Any, way: Way, unknown: list[str]) -> Any:
        if value.__class__ is not dict:
            raise mismatch(value, shape, way)
        out = {}
        for key, item in value.items():
            if item is None:
                out[key] = _fresh_zero(value_shape)
            elif is_text and item.__class__ is str:
                out[key] = item
            else:
                out[key] = read_item(item, (way, (key,), ""), unknown)
        return out

    return read


def _fresh_zero(shape: Shape) -> JsonValue:
    empty = zero(shape)
    return _fresh(empty) if empty.__class__ is dict else empty


def _scalar_reader(shape: Scalar) -> Reader:
    match shape.form:
        case Form.STRING:
            return _class_reader(shape, str)
        case Form.BOOL:
            return _class_reader(shape, bool)
        case Form.INT32:
            return _int_reader(shape, _INT32)
        case Form.INT64:
            return _int_reader(shape, _INT64)
        case Form.FLOAT:
            return _float_reader(shape)
        case Form.INT_OR_STRING:
            return _int_or_string_reader()
        case Form.QUANTITY:
            return _read_quantity
        case Form.BYTES:
            return _text_reader(shape, canonical_bytes)
        case Form.TIME:
            return _text_reader(_TEXT, canonical_time)
        case Form.MICRO_TIME:
            return _text_reader(_TEXT, canonical_micro_time)


_TEXT: Final = Scalar(Form.STRING, "string")
_NUMBER: Final = Scalar(Form.INT32, "int32")


def _class_reader(shape: Scalar, taken: type) -> Reader:
    def read(value: Any, way: Way, _unknown: list[str]) -> Any:
        if value.__class__ is not taken:
            raise mismatch(value, shape, way)
        return value

    return read


def _int_reader(shape: Scalar, allowed: range) -> Reader:
    lowest, highest = allowed[0], allowed[-1]

    def read(value: Any, way: Way, _unknown: list[str]) -> Any:
        if value.__class__ is not int or not lowest <= value <= highest:
            raise mismatch(value, shape, way)
        return value

    return read


def _float_reader(shape: Scalar) -> Reader:
    def read(value: Any, way: Way, _unknown: list[str]) -> Any:
        if value.__class__ is not int and value.__class__ is not float:
            raise mismatch(value, shape, way)
        return value

    return read


def _int_or_string_reader() -> Reader:
    read_number = _int_reader(_NUMBER, _INT32)

    def read(value: Any, way: Way, unknown: list[str]) -> Any:
        return value if value.__class__ is str else read_number(value, way, unknown)

    return read


def _read_quantity(value: Any, _way: Way, _unknown: list[str]) -> Any:
    try:
        return canonical_quantity(value if value.__class__ is str else _written(value))
    except ScalarError as error:
        raise DecodeError(str(error), str(error)) from None


def _written(value: JsonValue) -> str:
    return repr(value) if value.__class__ in (int, float) else "?"


def _text_reader(shape: Scalar, canonical: Callable[[str], str]) -> Reader:
    def read(value: Any, way: Way, _unknown: list[str]) -> Any:
        if value.__class__ is not str:
            raise mismatch(value, shape, way)
        try:
            return canonical(value)
        except ScalarError as error:
            raise DecodeError(str(error), str(error)) from None

    return read

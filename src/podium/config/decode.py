"""From the plain values of a YAML or JSON document to the typed Structs of this package.

msgspec could convert, but it stops at the first unknown field and words its refusals in its own
way. Users of kube-scheduler see every unknown field at once and a wrong type in Go's terms
(`cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type
int32`), so the Structs are walked here instead. A null is the same as an absent field, in a list
it is an empty entry, and field names are case-sensitive.

A Struct may say how Go names it: `GO_TYPE` (default `v1.<class name>`), and `GO_EMBEDDED` for the
fields that live in an embedded Go struct and carry its name in messages.
"""

import base64
import binascii
import math
import struct
import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from podium.api.errors import closest
from podium.config.duration import Duration, DurationError
from podium.config.json_text import RepeatedMembers, WrittenFloat

StructT = TypeVar("StructT", bound=msgspec.Struct)
ValueT = TypeVar("ValueT")


class GoNumber(NamedTuple):
    """The Go type of a number, which decides what fits and what messages call it."""

    name: str
    bits: int


Int32 = Annotated[int, GoNumber("int32", 32)]
Int64 = Annotated[int, GoNumber("int64", 64)]
Float32 = Annotated[float, GoNumber("float32", 32)]

_PLAIN_INT: Final = GoNumber("int32", 32)
_PLAIN_FLOAT: Final = GoNumber("float64", 64)


class DecodeError(ValueError):
    """A value of the wrong type or form. The text is upstream's; it ends the decoding."""


class UnknownField(NamedTuple):
    """A field that its Struct does not have, and the one that was probably meant (or "").

    A field of the Struct that is written a second time in JSON is reported in the same list.
    """

    path: str
    suggestion: str
    problem: str = "unknown field"

    @property
    def text(self) -> str:
        return f'{self.problem} "{self.path}"'


class Decoded(NamedTuple, Generic[ValueT]):
    """A decoded Struct and the fields of the document that had no place in it."""

    value: ValueT
    unknown_fields: tuple[UnknownField, ...]


class _Unknown(list[UnknownField]):
    """The unknown fields found so far, and the known ones that do not count."""

    def __init__(self, absent: frozenset[str]) -> None:
        super().__init__()
        self.absent = absent


class _Place(NamedTuple):
    """Where a value stands: its Go field for type errors, its path for unknown fields."""

    go_struct: str
    go_path: str
    path: str


def decode(
    raw: Mapping[str, Any], shape: type[StructT], absent: frozenset[str] = frozenset()
) -> Decoded[StructT]:
    """Read a mapping as `shape`. Unknown fields are listed, a wrong type raises DecodeError.

    `absent` names fields of the Struct that the document's version does not have, by their paths
    without indexes (`profiles.plugins.multiPoint`).
    """
    unknown = _Unknown(absent)
    value = _decode_struct(raw, shape, _Place(_go_name(shape), "", ""), unknown)
    return Decoded(value, tuple(unknown))


def json_kind(raw: object) -> str:
    """What JSON calls this kind of value."""
    match raw:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list() | tuple():
            return "array"
        case None:
            return "null"
        case _:
            return "object"


def _decode_struct(
    raw: Mapping[str, Any], shape: type[StructT], place: _Place, unknown: _Unknown
) -> StructT:
    known = {info.encode_name: info for info in fields(shape)}
    unread: frozenset[str] = getattr(shape, "UNREAD", frozenset())
    embedded: Mapping[str, str] = getattr(shape, "GO_EMBEDDED", {})
    values: dict[str, Any] = {}
    seen: set[str] = set()
    for name, value in raw.pairs if isinstance(raw, RepeatedMembers) else raw.items():
        path = f"{place.path}.{name}" if place.path else name
        go_name = f"{embedded[name]}.{name}" if name in embedded else name
        go_path = f"{place.go_path}.{go_name}" if place.go_path else go_name
        info: FieldInfo | None = None if go_path in unknown.absent else known.get(name)
        repeated = name in seen
        seen.add(name)
        if info is None:
            if name not in unread and not repeated:
                unknown.append(UnknownField(path, closest(str(name), list(known))))
            continue
        if repeated:
            unknown.append(UnknownField(path, "", "duplicate field"))
        if value is not None:
            inner = _Place(_go_name(shape), go_path, path)
            values[info.name] = _decode_value(value, info.type, inner, unknown)
    return shape(**values)


def _decode_value(raw: Any, shape: Any, place: _Place, unknown: _Unknown) -> Any:
    shape, number = _bare(shape)
    if raw is None:
        return _empty(shape)
    if shape is Any:
        return raw
    if get_origin(shape) is tuple:
        if not isinstance(raw, list | tuple):
            raise _wrong_type(raw, shape, place)
        return tuple(
            _decode_value(entry, get_args(shape)[0], _at_index(place, i), unknown)
            for i, entry in enumerate(raw)
        )
    if get_origin(shape) is dict:
        if not isinstance(raw, Mapping):
            raise _wrong_type(raw, shape, place)
        of_value = get_args(shape)[1]
        return {key: _decode_value(v, of_value, place, unknown) for key, v in raw.items()}
    if isinstance(shape, type) and issubclass(shape, Duration):
        return _decode_duration(raw, place)
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        if not isinstance(raw, Mapping):
            raise _wrong_type(raw, shape, place)
        return _decode_struct(raw, shape, place, unknown)
    if shape is int:
        return _decode_int(raw, number or _PLAIN_INT, place)
    if shape is float:
        return _decode_float(raw, number or _PLAIN_FLOAT, place)
    if shape is bytes:
        return _decode_bytes(raw, place)
    if not isinstance(raw, shape):
        raise _wrong_type(raw, shape, place)
    return raw


def _decode_int(raw: Any, number: GoNumber, place: _Place) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _wrong_type(raw, number.name, place)
    if isinstance(raw, WrittenFloat):
        raise _wrong_type(raw, number.name, place, value=raw.text)
    _refuse_non_finite(raw)
    limit = 1 << (number.bits - 1)
    if raw != int(raw) or not -limit <= raw < limit:
        raise _wrong_type(raw, number.name, place, value=repr(raw))
    return int(raw)


def _decode_float(raw: Any, number: GoNumber, place: _Place) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise _wrong_type(raw, number.name, place)
    written = raw.text if isinstance(raw, WrittenFloat) else repr(raw)
    if isinstance(raw, WrittenFloat) and math.isinf(raw):
        raise _wrong_type(raw, number.name, place, value=written)
    _refuse_non_finite(raw)
    if number.bits == 64:
        return float(raw)
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", raw))[0]
    except OverflowError:
        raise _wrong_type(raw, number.name, place, value=written) from None
    return rounded


def _refuse_non_finite(raw: float) -> None:
    if not math.isfinite(raw):
        shown = "NaN" if math.isnan(raw) else f"{raw:+}".replace("inf", "Inf")
        raise DecodeError(f"json: unsupported value: {shown}")


def _decode_duration(raw: Any, place: _Place) -> Duration:
    if not isinstance(raw, str):
        raise _wrong_type(raw, str, place)
    try:
        return Duration.parse(raw)
    except DurationError as error:
        raise DecodeError(str(error)) from None


def _decode_bytes(raw: Any, place: _Place) -> bytes:
    if not isinstance(raw, str):
        raise _wrong_type(raw, "[]uint8", place)
    try:
        return base64.b64decode(raw.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        at = next((i for i, letter in enumerate(raw) if letter not in alphabet), len(raw))
        raise DecodeError(f"illegal base64 data at input byte {at}") from None


def _bare(shape: Any) -> tuple[Any, GoNumber | None]:
    """The type inside `T | None` and `Annotated[T, ...]`, with the number's Go type if it has one.

    A choice between several real types (a quantity may be text or a number) is left to whoever
    reads the value.
    """
    number: GoNumber | None = None
    if get_origin(shape) is Annotated:
        shape, *notes = get_args(shape)
        number = next((note for note in notes if isinstance(note, GoNumber)), None)
    if get_origin(shape) in (Union, types.UnionType):
        choices = [choice for choice in get_args(shape) if choice is not type(None)]
        if len(choices) != 1:
            return Any, None
        inner, inner_number = _bare(choices[0])
        return inner, inner_number or number
    return shape, number


def _empty(shape: Any) -> Any:
    """What a null entry of a list stands for: Go's zero value."""
    if shape is Any:
        return None
    if get_origin(shape) is tuple:
        return ()
    if get_origin(shape) is dict:
        return {}
    return shape()


def _at_index(place: _Place, index: int) -> _Place:
    return place._replace(path=f"{place.path}[{index}]")


def _wrong_type(raw: Any, shape: Any, place: _Place, value: str = "") -> DecodeError:
    kind = f"{json_kind(raw)} {value}" if value else json_kind(raw)
    return DecodeError(
        f"json: cannot unmarshal {kind} into Go struct field "
        f"{place.go_struct}.{place.go_path} of type {_go_type(shape)}"
    )


def _go_name(shape: type[msgspec.Struct]) -> str:
    return _go_type(shape).rpartition(".")[2]


def _go_type(shape: Any) -> str:
    if isinstance(shape, str):
        return shape
    shape, number = _bare(shape)
    if number is not None:
        return number.name
    if get_origin(shape) is tuple:
        return f"[]{_go_type(get_args(shape)[0])}"
    if get_origin(shape) is dict:
        return f"map[string]{_go_type(get_args(shape)[1])}"
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        return str(getattr(shape, "GO_TYPE", f"v1.{shape.__name__}"))
    return {str: "string", bool: "bool", int: "int32", float: "float64"}.get(shape, "interface {}")

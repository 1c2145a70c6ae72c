"""Shapes of Go's types, for values that are not spelled exactly.

A shape is derived once from a Struct's annotations. It turns decoded JSON into the exact spelling
that msgspec takes: member names in any capitalisation, nulls for "not set", members nobody asked
for left out. A value of the wrong type is refused with the text of Go's encoding/json, which names
the innermost Struct and the way to the field from the outermost one.

Names in any capitalisation are what sets it apart from `config/decode.py` and `kinds/shapes.py`,
where they are mistakes: extenders are programs in all languages, read by encoding/json itself.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec import inspect

from podium.golang.errors import PodiumError
from podium.golang.json_reader import WrittenFloat, mended
from podium.kubernetes.rules.quantity import QuantityError, nano

_INT64_MIN: Final = -(2**63)
_INT64_MAX: Final = 2**63 - 1
_BAD_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


class DecodingProblem(PodiumError, ValueError):
    """Bytes that are not what they should be; the text is Go's."""


class Place(NamedTuple):
    """Where a value stands: the Struct it is a member of, and the way there from the outermost."""

    struct: str = ""
    path: tuple[str, ...] = ()


class Shape(Protocol):
    @property
    def go_type(self) -> str: ...

    def zero(self) -> Any:
        """What stands where null does."""

    def read(self, value: Any, place: Place) -> Any:
        """The value in exact spelling, for msgspec; None for null."""


class _Scalar(NamedTuple):
    go_type: str
    types: tuple[type, ...]
    empty: Any

    def zero(self) -> Any:
        return self.empty

    def read(self, value: Any, place: Place) -> Any:
        if value is None:
            return None
        if type(value) not in self.types or (type(value) is int and not _fits(value)):
            literal = self.types == (int,)
            raise _mismatch(value, self.go_type, place, literal=literal)
        return mended(value) if type(value) is str else value


class _Quantity(NamedTuple):
    go_type: str = "resource.Quantity"

    def zero(self) -> Any:
        return "0"

    def read(self, value: Any, place: Place) -> Any:
        del place  # upstream: the type decodes itself and does not know where it stands
        if value is None:
            return None
        written = value.text if isinstance(value, WrittenFloat) else value
        try:
            nano(written)
        except QuantityError:
            raise DecodingProblem(_BAD_QUANTITY) from None
        return written


class _Anything(NamedTuple):
    """Kept as JSON; whoever looks into it decodes it."""

    go_type: str

    def zero(self) -> Any:
        return msgspec.Raw(b"null")

    def read(self, value: Any, place: Place) -> Any:
        del place
        return msgspec.Raw(msgspec.json.encode(_plain(value)))


class _Ignored(NamedTuple):
    """The kind of an object whose kind is known: upstream takes any text."""

    go_type: str = "string"

    def zero(self) -> Any:
        return None

    def read(self, value: Any, place: Place) -> Any:
        if not isinstance(value, str | None):
            raise _mismatch(value, self.go_type, place)
        return None


class _Items(NamedTuple):
    go_type: str
    element: Shape

    def zero(self) -> Any:
        return []

    def read(self, value: Any, place: Place) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise _mismatch(value, self.go_type, place)
        return [read_or_zero(self.element, inner, place) for inner in value]


class _Entries(NamedTuple):
    go_type: str
    value: Shape

    def zero(self) -> Any:
        return {}

    def read(self, value: Any, place: Place) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _mismatch(value, self.go_type, place)
        return {mended(key): read_or_zero(self.value, inner, place) for key, inner in value.items()}


class _Members(NamedTuple):
    go_type: str
    name: str
    fields: Mapping[str, Shape]
    folded: Mapping[str, str]

    def zero(self) -> Any:
        return {}

    def read(self, value: Any, place: Place) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise _mismatch(value, self.go_type, place)
        members: dict[str, Any] = {}
        for written, inner in value.items():
            name = written if written in self.fields else self.folded.get(written.casefold())
            if name is None:
                continue
            read = self.fields[name].read(inner, Place(self.name, (*place.path, name)))
            if read is not None:
                members[name] = read
        return members


def names_within(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The names of all members of a Struct and of what is in it."""
    names: set[str] = set()
    unread: list[Shape] = [_members(kind)]
    while unread:
        shape = unread.pop()
        match shape:
            case _Members(fields=fields):
                names.update(fields)
                unread.extend(fields.values())
            case _Items(element=inner) | _Entries(value=inner):
                unread.append(inner)
    return frozenset(names)


def read_or_zero(shape: Shape, value: Any, place: Place) -> Any:
    """The value in exact spelling, with null as what it stands for."""
    read = shape.read(value, place)
    return shape.zero() if read is None else read


@lru_cache(maxsize=256)
def _members(struct: type[msgspec.Struct]) -> _Members:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    go_types: Mapping[str, str] = getattr(struct, "GO_TYPES", {})
    fields = {f.encode_name: shape_of(f.type, go_types.get(f.name, "")) for f in info.fields}
    folded = {name.casefold(): name for name in fields}
    return _Members(f"v1.{struct.__name__}", struct.__name__, fields, folded)


_SCALARS: Final[dict[type[inspect.Type], _Scalar]] = {
    inspect.StrType: _Scalar("string", (str,), ""),
    inspect.IntType: _Scalar("int64", (int,), 0),
    inspect.BoolType: _Scalar("bool", (bool,), False),
}


def shape_of(info: inspect.Type, go_type: str) -> Shape:
    match info:
        case inspect.UnionType():
            return _of_union(
                [t for t in info.types if not isinstance(t, inspect.NoneType)], go_type
            )
        case inspect.StructType(cls=struct):
            return _members(struct)
        case inspect.VarTupleType():
            element = shape_of(info.item_type, "")
            return _Items(go_type or f"[]{element.go_type}", element)
        case inspect.DictType():
            value = shape_of(info.value_type, "")
            return _Entries(go_type or f"map[string]{value.go_type}", value)
        case inspect.LiteralType():
            return _Ignored()
        case inspect.RawType() | inspect.AnyType():
            return _Anything(go_type)
    scalar = _SCALARS[type(info)]
    return scalar._replace(go_type=go_type) if go_type else scalar


def _of_union(kinds: list[inspect.Type], go_type: str) -> Shape:
    if len(kinds) == 1:
        return shape_of(kinds[0], go_type)
    found = {type(kind) for kind in kinds}
    if inspect.RawType in found:
        return _Anything(go_type)
    if inspect.FloatType in found:
        return _Quantity()
    return _Scalar("intstr.IntOrString", (str, int), 0)


# --- words ------------------------------------------------------------------------------------


def _mismatch(value: Any, go_type: str, place: Place, *, literal: bool = False) -> DecodingProblem:
    found = _described(value, literal=literal)
    where = f"struct field {place.struct}.{'.'.join(place.path)}" if place.struct else "value"
    return DecodingProblem(f"json: cannot unmarshal {found} into Go {where} of type {go_type}")


def _described(value: Any, *, literal: bool) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
    if not literal:
        return "number"
    return f"number {value.text if isinstance(value, WrittenFloat) else value}"


def _fits(number: int) -> bool:
    return _INT64_MIN <= number <= _INT64_MAX


def _plain(value: Any) -> Any:
    """JSON that msgspec can write: numbers as they were written, strings mended."""
    match value:
        case WrittenFloat():
            return msgspec.Raw(value.text.encode())
        case str():
            return mended(value)
        case dict():
            return {mended(key): _plain(inner) for key, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
    return value

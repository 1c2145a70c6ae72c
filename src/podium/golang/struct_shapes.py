"""Shapes of Go types, derived from the annotations of Structs.

A Struct says how its fields are called in JSON. What Python's types do not tell of Go's, a Struct
may say itself:

    GO_TYPE      the type's name, where it is not `v1.<class name>`
    GO_TYPES     the types of fields, by attribute, where they have names of their own
    GO_EMBEDDED  fields that belong to an embedded struct, with its name
    UNREAD       names of fields that exist and are not read
    OLD_NAMES    what fields were called in earlier times, with their names of today

Integers are as wide as their bounds say; without any they are of the width that the reader's types
mostly have.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import inspect

from podium.golang.durations import Duration
from podium.golang.json_values import DecodedValue
from podium.golang.shapes import (
    AnyValue,
    Field,
    Form,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    Struct,
)

FLOAT32: Final = "float32"
"""In `extra` of a number's annotation: it has 32 bits."""
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_ALL_PRESENT: Final[frozenset[str]] = frozenset()
_SCALARS: Final[Mapping[type[inspect.Type], Scalar]] = {
    inspect.StrType: Scalar(Form.STRING, "string"),
    inspect.LiteralType: Scalar(Form.STRING, "string"),
    inspect.BoolType: Scalar(Form.BOOL, "bool"),
    inspect.FloatType: Scalar(Form.FLOAT, "float64"),
    inspect.BytesType: Scalar(Form.BYTES, "[]uint8"),
}
_QUANTITY: Final = Scalar(Form.QUANTITY, "resource.Quantity")
_INT_OR_STRING: Final = Scalar(Form.INT_OR_STRING, "intstr.IntOrString")
_DURATION: Final = Scalar(Form.DURATION, "v1.Duration")
_FLOAT32: Final = Scalar(Form.FLOAT32, FLOAT32)
_ANYTHING: Final = AnyValue("interface {}")


class StructShapes:
    """Derives shapes, each once.

    `integer` is what an integer without bounds is, `named` has the Go types of texts that have one
    of their own, by Go's struct and field. Where a field is of one of several types it is a
    quantity or a number or text of the API, or, with `has_open_choices`, left to whoever reads it.
    """

    def __init__(
        self,
        *,
        integer: Form = Form.INT64,
        named: Mapping[tuple[str, str], str] = MappingProxyType({}),
        has_open_choices: bool = False,
    ) -> None:
        self._integer = integer
        self._named = named
        self._has_open_choices = has_open_choices
        self._structs: dict[tuple[type, frozenset[str]], Struct] = {}

    def struct(self, struct: type[msgspec.Struct], absent: frozenset[str] = _ALL_PRESENT) -> Struct:
        """`absent` are fields that a version of the type does not have, by their paths without
        indexes (`profiles.plugins.multiPoint`)."""
        found = self._structs.get((struct, absent))
        if found is None:
            found = self._structs[struct, absent] = self._derive(struct, absent)
        return found

    def shape(self, info: inspect.Type, go_type: str = "") -> Shape:
        """The shape of a type that may be no Struct."""
        return self._shape(info, go_type, _ALL_PRESENT)

    def _derive(self, struct: type[msgspec.Struct], absent: frozenset[str]) -> Struct:
        written = str(getattr(struct, "GO_TYPE", f"v1.{struct.__name__}"))
        version, _, name = written.rpartition(".")
        go_types = _table(struct, "GO_TYPES")
        derived = Struct(
            "" if version == "v1" else f"/{version}",
            name,
            embedded=_table(struct, "GO_EMBEDDED"),
            unread=getattr(struct, "UNREAD", frozenset()),
            old_names=_table(struct, "OLD_NAMES"),
        )
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        for field in info.fields:
            if field.encode_name in absent:
                continue
            beginning = f"{field.encode_name}."
            below = frozenset(
                path.removeprefix(beginning) for path in absent if path.startswith(beginning)
            )
            named = go_types.get(field.name) or self._named.get((name, field.encode_name), "")
            shape = self._shape(field.type, named, below)
            derived.fields[field.encode_name] = Field(field.encode_name, shape)
        return derived

    def _shape(self, info: inspect.Type, go_type: str, absent: frozenset[str]) -> Shape:
        match info:
            case inspect.Metadata():
                is_single = (info.extra or {}).get("go_type") == FLOAT32
                return _FLOAT32 if is_single else self._shape(info.type, go_type, absent)
            case inspect.UnionType():
                kinds = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
                if len(kinds) == 1:
                    return self._shape(kinds[0], go_type, absent)
                return self._choice({type(kind) for kind in kinds}, go_type)
            case inspect.StructType():
                return _DURATION if info.cls is Duration else self.struct(info.cls, absent)
            case inspect.VarTupleType() | inspect.ListType():
                return ListOf(self._shape(info.item_type, "", absent), go_alias=go_type)
            case inspect.DictType():
                return MapOf(self._shape(info.value_type, "", absent), go_alias=go_type)
            case inspect.IntType():
                form = self._integer if info.le is None else _WIDTHS[info.le]
                return Scalar(form, go_type or form.value)
            case inspect.RawType() | inspect.AnyType():
                return AnyValue(go_type or _ANYTHING.go_name)
        scalar = _SCALARS[type(info)]
        return Scalar(scalar.form, go_type) if go_type else scalar

    def _choice(self, kinds: set[type[inspect.Type]], go_type: str) -> Shape:
        if self._has_open_choices or inspect.RawType in kinds:
            return AnyValue(go_type or _ANYTHING.go_name)
        return _QUANTITY if inspect.FloatType in kinds else _INT_OR_STRING


_WIDTHS: Final[Mapping[float, Form]] = {2**31 - 1: Form.INT32, 2**63 - 1: Form.INT64}


def _table(struct: type[msgspec.Struct], name: str) -> Mapping[str, str]:
    found: DecodedValue = getattr(struct, name, _NOTHING)
    return dict(found)

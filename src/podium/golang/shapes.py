"""What Go types are made of: structs, lists, maps and scalars, of releases and of Structs.

One description serves all who read or write values of such types: decoding (which type is it, what
does Go omit), strategic merge (by which key), server-side apply (which lists are maps or sets),
OpenAPI, protobuf. A shape therefore says what a Go type, its tags and its markers say, and nothing
about how it is used. Shapes come from the data of a Kubernetes release, from definitions of custom
resources, and from Structs (`shapes.py`).

Contract: shapes are built once and never change afterwards; they may refer to each other in
circles, so structs and fields are compared by identity.

Shapes of Go types, derived from the annotations of Structs. A Struct says how its fields are called
in JSON. What Python's types do not tell of Go's, a Struct may say itself:

    GO_TYPE      the type's name, where it is not `v1.<class name>`
    GO_TYPES     the types of fields, by attribute, where they have names of their own
    GO_EMBEDDED  fields that belong to an embedded struct, with its name
    UNREAD       names of fields that exist and are not read
    OLD_NAMES    what fields were called in earlier times, with their names of today

Integers are as wide as their bounds say; without any they are of the width that the reader's types
mostly have.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec
from msgspec import inspect

from podium.golang.durations import Duration
from podium.golang.json_values import DecodedValue, JsonValue


class Form(Enum):
    """How a scalar looks in JSON and which texts or numbers it takes."""

    STRING = "string"
    BOOL = "bool"
    INT32 = "int32"
    INT64 = "int64"
    UINT8 = "uint8"
    FLOAT = "float64"
    FLOAT32 = "float32"
    BYTES = "[]uint8"
    DURATION = "v1.Duration"
    QUANTITY = "resource.Quantity"
    TIME = "v1.Time"
    MICRO_TIME = "v1.MicroTime"
    INT_OR_STRING = "intstr.IntOrString"


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    form: Form
    go_name: str
    """The type as Go's error messages name it: `int32`, `v1.RestartPolicy`."""
    values: tuple[str, ...] = ()
    """What OpenAPI lists as the possible values."""


@dataclass(frozen=True, slots=True, eq=False)
class AnyValue:
    """A value without a schema."""

    go_name: str
    granular: bool = False
    """Whether its objects are owned field by field; lists in it never are item by item."""


@dataclass(frozen=True, slots=True, eq=False)
class ListOf:
    item: "Shape"
    keys: tuple[str, ...] = ()
    """The fields that tell items apart: the list is a map for server-side apply."""
    is_set: bool = False
    go_alias: str = ""

    @property
    def is_associative(self) -> bool:
        """Whether items are owned one by one."""
        return self.is_set or bool(self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class MapOf:
    value: "Shape"
    go_key: str = "string"
    is_atomic: bool = False
    go_alias: str = ""


class Omitted(Enum):
    """When Go leaves a field out of JSON."""

    WHEN_EMPTY = "when empty"
    WHEN_ZERO = "when zero"
    NEVER = "never"


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    name: str
    shape: "Shape"
    is_pointer: bool = False
    omitted: Omitted = Omitted.WHEN_EMPTY
    is_required: bool = False
    default: JsonValue = None
    """A default that is part of the schema; associative lists use it for missing keys."""
    merge_key: str = ""
    merges: bool = False
    """Strategic merge patches merge this list instead of replacing it."""
    replaces: bool = False
    retains_keys: bool = False


@dataclass(slots=True, eq=False)
class Struct:
    group: str
    """The section of the data: `core`, `apps`, `autoscaling/v2`, ... or a definition's group."""
    name: str
    fields: dict[str, Field] = field(default_factory=dict)
    is_atomic: bool = False
    is_object: bool = False
    """Has `kind` and `apiVersion`."""
    rest: "Shape | None" = None
    """The shape of fields that are not listed; None: there are none."""
    embedded: Mapping[str, str] = field(default_factory=dict)
    """Fields that belong to a struct inside of this one, with its name, which Go tells as well."""
    unread: frozenset[str] = frozenset()
    """Names of fields that exist, and whose values do not matter to the reader."""
    old_names: Mapping[str, str] = field(default_factory=dict)
    """What fields were called in earlier times."""

    @property
    def go_name(self) -> str:
        return f"{version_of(self.group)}.{self.name}"

    def granular(self) -> "Struct":
        """The same struct, owned field by field."""
        return replace(self, is_atomic=False)


Shape: TypeAlias = Scalar | AnyValue | ListOf | MapOf | Struct


def version_of(section: str) -> str:
    """The version of the kinds in a section of the data."""
    return section.partition("/")[2] or "v1"


def go_name(shape: Shape) -> str:
    """The type as Go's error messages name it."""
    match shape:
        case ListOf():
            return shape.go_alias or f"[]{go_name(shape.item)}"
        case MapOf():
            return shape.go_alias or f"map[{shape.go_key}]{go_name(shape.value)}"
        case _:
            return shape.go_name


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
        for member in info.fields:
            if member.encode_name in absent:
                continue
            beginning = f"{member.encode_name}."
            below = frozenset(
                path.removeprefix(beginning) for path in absent if path.startswith(beginning)
            )
            named = go_types.get(member.name) or self._named.get((name, member.encode_name), "")
            shape = self._shape(member.type, named, below)
            derived.fields[member.encode_name] = Field(member.encode_name, shape)
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

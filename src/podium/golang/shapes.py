"""What Go types are made of: structs with fields, lists, maps, scalars.

One description serves all who read or write values of such types: decoding (which type is it, what
does Go omit), strategic merge (by which key), server-side apply (which lists are maps or sets),
OpenAPI, protobuf. A shape therefore says what a Go type, its tags and its markers say, and nothing
about how it is used. Shapes come from the data of a Kubernetes release, from definitions of custom
resources, and from Structs (`struct_shapes.py`).

Contract: shapes are built once and never change afterwards; they may refer to each other in
circles, so structs and fields are compared by identity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from podium.golang.json_values import JsonValue


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

"""Types whose values expressions make: `Name{field: value, ?other: optional}`.

An environment that has such types is given a `StructTypes`, which finds them by name; they may be
as many as there are names. The type says which fields there are, what they hold, and what becomes
of the values; a `StructValue` remembers both.

What the expressions of mutating policies make: objects, and operations of JSON patches. An object's
type is named after its place: `Object{spec: Object.spec{...}}`. Nothing is known of its fields;
whether they fit is seen when the object is merged.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Final

from podium.kubernetes.cel import types
from podium.kubernetes.cel.types import BOOL, DYN, INT, STRING, Type, object_type


@dataclass(frozen=True, slots=True)
class StructType:
    name: str
    fields: Mapping[str, Type] = dataclass_field(default_factory=dict)
    other_fields: Type | None = None
    """The type of all fields that are not named; None if there are no others."""

    @property
    def type(self) -> Type:
        return object_type(self.name)

    def field(self, name: str) -> Type | None:
        """The type of a field; None if there is none."""
        return self.fields.get(name, self.other_fields)


_EMPTY: Final[Mapping[Type, Any]] = {BOOL: False, INT: 0, STRING: "", DYN: None}

StructTypes = Callable[[str], StructType | None]
"""Finds a type by its name, dots included."""


def no_structs(_name: str) -> StructType | None:
    """Of environments in which nothing can be made."""
    return None


@dataclass(frozen=True, slots=True)
class StructValue:
    """What an expression made of a type, with the fields in their order."""

    type: StructType
    fields: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """A field as `value.name` reads it; one that is not set is empty, if it can be."""
        if name in self.fields:
            return self.fields[name]
        return _EMPTY[self.type.fields.get(name, DYN)]


_OBJECT: Final = "Object"
_NO_TYPE: Final = Type("")
"""upstream: a field that operations do not have is one whose type has no name."""
_JSON_PATCH: Final = StructType(
    "JSONPatch",
    {**dict.fromkeys(("op", "from", "path"), types.STRING), "value": types.DYN},
    _NO_TYPE,
)
OBJECT: Final = (types.object_type(_OBJECT),)
JSON_PATCHES: Final = (types.list_of(_JSON_PATCH.type),)


def find_patch_type(name: str) -> StructType | None:
    if name == _JSON_PATCH.name:
        return _JSON_PATCH
    if name == _OBJECT or name.startswith(f"{_OBJECT}."):
        return StructType(name, other_fields=types.DYN)
    return None

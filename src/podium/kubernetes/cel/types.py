"""The types an expression is checked with, and when one may stand for another.

The rules are CEL's: `dyn` goes with everything, type parameters are solved while arguments are
matched, and the more general of two fitting types wins. `any` is what a device attribute has: like
`dyn`, except that it is no range for a comprehension and may be the type of a selector's result.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    kind: str
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        shown = _SHOWN.get(self.kind, self.kind)
        if not self.params:
            return shown
        return f"{shown}({', '.join(map(str, self.params))})"


_SHOWN = {"optional": "optional_type", "null": "null"}

DYN = Type("dyn")
ANY = Type("any")
ERROR = Type("!error!")
BOOL = Type("bool")
INT = Type("int")
UINT = Type("uint")
DOUBLE = Type("double")
STRING = Type("string")
BYTES = Type("bytes")
NULL = Type("null")
TIMESTAMP = Type("timestamp")
DURATION = Type("duration")
QUANTITY = Type("kubernetes.Quantity")

_WILD = frozenset({"dyn", "any", "!error!"})
_NOT_NULLABLE = frozenset(
    {"bool", "int", "uint", "double", "string", "bytes", "list", "map", "type"}
)


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional", (value,))


def type_of(value: Type) -> Type:
    return Type("type", (value,))


def parameter(name: str) -> Type:
    return Type(f"<{name}>")


def is_parameter(found: Type) -> bool:
    return found.kind.startswith("<")


def parameters_of(*types: Type) -> set[Type]:
    """The parameters that types mention."""
    found: set[Type] = set()
    for each in types:
        found |= {each} if is_parameter(each) else parameters_of(*each.params)
    return found


def renamed_parameters(found: Type, names: Mapping[Type, Type]) -> Type:
    """A type with other names for its parameters."""
    if found in names:
        return names[found]
    if not found.params:
        return found
    return Type(found.kind, tuple(renamed_parameters(p, names) for p in found.params))


def is_wild(found: Type) -> bool:
    """Whether nothing is known about values of this type."""
    return found.kind in _WILD


def object_type(name: str) -> Type:
    """A type with fields; its `params` stay empty, the checker knows the fields."""
    return Type(name)


class TypeSubstitution:
    """What type parameters stand for. A trial works on a copy and is kept if it fits."""

    def __init__(self, bound: dict[Type, Type] | None = None) -> None:
        self.bound: dict[Type, Type] = {} if bound is None else bound

    def trial(self) -> "TypeSubstitution":
        return TypeSubstitution(dict(self.bound))

    def resolve(self, found: Type, *, final: bool = False) -> Type:
        """A type with its parameters filled in; unsolved ones become `dyn` when `final`."""
        if found in self.bound:
            return self.resolve(self.bound[found], final=final)
        if is_parameter(found):
            return DYN if final else found
        if not found.params:
            return found
        return Type(found.kind, tuple(self.resolve(p, final=final) for p in found.params))

    def accepts(self, wanted: Type, given: Type) -> bool:
        """Whether a value of type `given` may be where `wanted` is requested."""
        if is_parameter(wanted):
            return self._bind(wanted, given, flipped=False)
        if is_parameter(given):
            return self._bind(given, wanted, flipped=True)
        if is_wild(wanted) or is_wild(given):
            return True
        if given.kind == "null":
            return wanted.kind not in _NOT_NULLABLE
        if wanted.kind != given.kind:
            return False
        if wanted.kind == "type":
            return True
        return len(wanted.params) == len(given.params) and all(
            map(self.accepts, wanted.params, given.params)
        )

    def _bind(self, name: Type, other: Type, *, flipped: bool) -> bool:
        other = self.resolve(other)
        if other == name:
            return True
        held = self.bound.get(name)
        if held is None:
            if name in parameters_of(other):
                return False
            self.bound[name] = other
            return True
        fits = self.accepts(other, held) if flipped else self.accepts(held, other)
        general = fits and _at_least_as_general(other, self.resolve(held))
        if general and name not in parameters_of(other):
            self.bound[name] = other
        return fits

    def join_types(self, first: Type, second: Type) -> Type | None:
        """The more general of two types that fit each other, None if they do not."""
        trial = self.trial()
        if not trial.accepts(first, second):
            return None
        self.bound = trial.bound
        first, second = self.resolve(first), self.resolve(second)
        return second if _at_least_as_general(second, first) else first


def _at_least_as_general(first: Type, second: Type) -> bool:
    if is_wild(first) or is_parameter(first):
        return True
    if is_wild(second) or is_parameter(second):
        return False
    if first.kind != second.kind:
        return second.kind == "null"
    return len(first.params) == len(second.params) and all(
        map(_at_least_as_general, first.params, second.params)
    )

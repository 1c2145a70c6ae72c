"""What CEL values are in Python, and when two of them are equal.

bool, str, bytes, float, None, list and dict stand for themselves and int for CEL's int; the other
kinds have a class here. Kinds with functions of their own (quantities, versions, addresses) live
beside those functions and derive from `Opaque`.

Python thinks that True equals 1, CEL does not: `equal` keeps the kinds apart, and maps hold
booleans under stand-in keys.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.structs import StructValue

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
UINT64_MAX = 2**64 - 1

NANOS = 10**9


class Uint(int):
    """CEL's unsigned integer."""

    __slots__ = ()


class Opaque:
    """A value with a type of its own; equality with anything else is an error, not false."""

    __slots__ = ()
    TYPE_NAME: ClassVar[str]

    def same(self, other: Any) -> bool:
        """Whether another value of the same class is equal."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            raise no_such_overload()
        return self.same(other)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type used as a value: `type(1) == int`."""

    name: str


@dataclass(frozen=True, slots=True, order=True)
class CelDuration:
    nanos: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """Nanoseconds since 1970 in UTC."""

    nanos: int


class Optional:
    """A value that may be missing; NONE is the missing one."""

    __slots__ = ("_held",)

    def __init__(self, held: tuple[Any, ...]) -> None:
        self._held = held

    @property
    def present(self) -> bool:
        return bool(self._held)

    @property
    def value(self) -> Any:
        if not self._held:
            raise CelError("optional.none() dereference")
        return self._held[0]


NONE = Optional(())


def some(value: Any) -> Optional:
    return Optional((value,))


class BoolKey:
    """Stands for a boolean among the keys of a map."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


_TRUE_KEY = BoolKey(True)
_FALSE_KEY = BoolKey(False)


def to_key(value: Any) -> Any:
    """A value as a key of a Python dict."""
    if value is True:
        return _TRUE_KEY
    if value is False:
        return _FALSE_KEY
    if isinstance(value, int | str | float):
        return value
    raise CelError(f"unsupported key type: {type_name(value)}")


def from_key(key: Any) -> Any:
    return key.value if type(key) is BoolKey else key


_SCALARS = frozenset({str, int, bool, bytes, float, Uint, type(None)})
_NUMBERS = frozenset({int, float, Uint})


def equal(left: Any, right: Any) -> bool:
    """CEL's `==`: across kinds false, numbers by value, an opaque left operand insists on its
    own kind."""
    kind, other = type(left), type(right)
    if kind is other and kind in _SCALARS:
        return bool(left == right)
    if kind in _NUMBERS and other in _NUMBERS:
        if kind is float or other is float:
            return float(left) == float(right)
        return int(left) == int(right)
    if isinstance(left, Opaque):
        return bool(left == right)
    if kind is list and other is list:
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(
            key in right and equal(value, right[key]) for key, value in left.items()
        )
    if kind is Optional and other is Optional:
        if left.present and right.present:
            return equal(left.value, right.value)
        return bool(left.present == right.present)
    if kind is StructValue and other is StructValue:
        return bool(left.type == right.type) and equal(dict(left.fields), dict(right.fields))
    return kind is other and kind in (TypeValue, CelDuration, Timestamp) and bool(left == right)


def size_of(value: Any) -> int:
    """What `size()` says, and one for what has no size."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if type(value) is Optional and value.present:
        return size_of(value.value)
    return 1


def count_parts(value: Any) -> int:
    """How many lists, maps and things in them a comparison may have to look at."""
    if type(value) is list:
        return len(value) + sum(map(count_parts, value))
    if isinstance(value, dict):
        return len(value) + sum(map(count_parts, value.values()))
    return 0


def not_equal(left: Any, right: Any) -> bool:
    # upstream: `!=` is "not known to be equal", so an error of the comparison counts as different.
    try:
        return not equal(left, right)
    except CelError:
        return True


def contains(element: Any, elements: Any) -> bool:
    """`element in elements`; comparisons that fail count as different."""
    for candidate in elements:
        try:
            if equal(element, candidate):
                return True
        except CelError:
            continue
    return False


def type_name(value: Any) -> str:
    """The name of a value's type, as `type()` and error texts show it."""
    if isinstance(value, dict):
        return "map"
    if isinstance(value, Opaque):
        return value.TYPE_NAME
    if type(value) is StructValue:
        return value.type.name
    return _TYPE_NAMES.get(type(value), type(value).__name__)


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    CelDuration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Optional: "optional_type",
}

"""What is said when a call meets values that no overload of its function takes.

Attributes of devices have a type only at run time, so a selector that compiled can still ask a
number for its first letter. The texts are cel-go's: most functions name themselves and the types
they met; operators name themselves when the first value has no such operation at all.
"""

from collections.abc import Sequence
from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.values import Opaque, type_name

_ARITHMETIC = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_"})
_COMPARISONS = frozenset({"_<_", "_<=_", "_>_", "_>=_", "-_"})
_NAMELESS = frozenset(
    {"!_", "@in", "startsWith", "endsWith", "contains", "matches", "find", "findAll"}
)


def mismatch(function: str, values: Sequence[Any]) -> CelError:
    """The error of a call that no overload fits."""
    if function in _NAMELESS:
        return no_such_overload()
    if function in _ARITHMETIC or function in _COMPARISONS:
        first = values[0]
        lacking = isinstance(first, Opaque | dict) or (
            isinstance(first, bool) and function in _ARITHMETIC
        )
        return CelError(f"no such overload: {function}") if lacking else no_such_overload()
    if function == "size":
        return CelError("no such overload: size")
    met = ", ".join(map(type_name, values))
    return CelError(f"no such overload: {function}({met})")


def not_iterable(value: Any, *, in_pairs: bool) -> CelError:
    """The error of a loop over what is neither a list nor a map; the text shows Go's types."""
    name = type_name(value).rpartition(".")[2]
    package = "cel" if isinstance(value, Opaque) else "types"
    found = f"{package}.{name[:1].upper()}{name[1:]}"
    if in_pairs:
        return CelError(f"unsupported comprehension range type: {found}")
    return CelError(f"got '{found}', expected iterable type")

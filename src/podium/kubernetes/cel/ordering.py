"""Which of two values is smaller.

Numbers compare by value across their kinds, everything else only with its own kind.
"""

from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.values import Duration, Timestamp, Uint

_NUMBERS = frozenset({int, Uint, float})
_ORDERED = frozenset({str, bytes, bool, Duration, Timestamp})


def less(left: Any, right: Any) -> bool:
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        if kind is float or other is float:
            return float(left) < float(right)
        return int(left) < int(right)
    if kind is other and kind in _ORDERED:
        if kind is str:
            # upstream compares UTF-8 bytes, which is the order of code points
            return bool(left < right)
        return bool(left < right)
    raise no_such_overload()


def sorted_by_keys(keys: list[Any], values: list[Any]) -> list[Any]:
    """Values in the order of their keys, which must all be of one ordered kind."""
    kinds = {type(key) for key in keys}
    if len(kinds) > 1:
        raise CelError("list elements must have the same type")
    if kinds and not kinds & (_NUMBERS | _ORDERED):
        raise CelError("list elements must be comparable")
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [values[position] for position in order]

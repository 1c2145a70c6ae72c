"""Arithmetic, comparison and the types of the other operators.

Integers are 64 bits wide and overflow is an error. Operators that the compiler turns into closures
of their own (`==`, `in`, indexing, `?:`) are declared here for the checker.

Which of two values is smaller. Numbers compare by value across their kinds, everything else only
with its own kind.
"""

import math
from typing import Any

from podium.kubernetes.cel.errors import CelError, no_such_overload
from podium.kubernetes.cel.library import (
    Functions,
    addition_cost,
    comparison_cost,
    list_addition_cost,
)
from podium.kubernetes.cel.values import (
    INT64_MAX,
    INT64_MIN,
    UINT64_MAX,
    CelDuration,
    Timestamp,
    Uint,
)

OPERATORS = Functions()
_define = OPERATORS.define

MIN_TIMESTAMP_NANOS = -62_135_596_800 * 10**9
MAX_TIMESTAMP_NANOS = 253_402_300_799_999_999_999


def checked_int(number: int) -> int:
    if not INT64_MIN <= number <= INT64_MAX:
        raise CelError("integer overflow")
    return number


def checked_uint(number: int) -> Uint:
    if not 0 <= number <= UINT64_MAX:
        raise CelError("unsigned integer overflow")
    return Uint(number)


def checked_duration(nanos: int) -> CelDuration:
    if not INT64_MIN <= nanos <= INT64_MAX:
        raise CelError("integer overflow")
    return CelDuration(nanos)


def checked_timestamp(nanos: int) -> Timestamp:
    if not MIN_TIMESTAMP_NANOS <= nanos <= MAX_TIMESTAMP_NANOS:
        raise CelError("timestamp overflow")
    return Timestamp(nanos)


# The compiler handles these itself; the checker needs their types.
for _signature in (
    "_==_(T, T) -> bool",
    "_!=_(T, T) -> bool",
    "_?_:_(bool, T, T) -> T",
    "@in(T, list<T>) -> bool",
    "@in(K, map<K, V>) -> bool",
    "_[_](list<T>, int) -> T",
    "_[_](map<K, V>, K) -> V",
    "_[_](optional<list<T>>, int) -> optional<T>",
    "_[_](optional<map<K, V>>, K) -> optional<V>",
    "_[?_](list<T>, int) -> optional<T>",
    "_[?_](map<K, V>, K) -> optional<V>",
    "_[?_](optional<list<T>>, int) -> optional<T>",
    "_[?_](optional<map<K, V>>, K) -> optional<V>",
):
    _define(_signature)(lambda *_: None)


@_define("!_(bool) -> bool")
def _not(value: bool) -> bool:
    return not value


@_define("-_(int) -> int")
def _negate_int(number: int) -> int:
    return checked_int(-number)


@_define("-_(double) -> double")
def _negate_double(number: float) -> float:
    return -number


@_define("_+_(int, int) -> int")
def _add_int(left: int, right: int) -> int:
    total = left + right
    return total if INT64_MIN <= total <= INT64_MAX else checked_int(total)


@_define("_+_(uint, uint) -> uint")
def _add_uint(left: int, right: int) -> Uint:
    return checked_uint(int(left) + int(right))


@_define(
    "_+_(double, double) -> double",
    "_+_(string, string) -> string",
    "_+_(bytes, bytes) -> bytes",
    cost=addition_cost,
)
def _add(left: Any, right: Any) -> Any:
    return left + right


@_define("_+_(list<T>, list<T>) -> list<T>", cost=list_addition_cost)
def _add_lists(left: list[Any], right: list[Any]) -> list[Any]:
    return left + right


@_define("_+_(duration, duration) -> duration")
def _add_durations(left: CelDuration, right: CelDuration) -> CelDuration:
    return checked_duration(left.nanos + right.nanos)


@_define("_+_(timestamp, duration) -> timestamp")
def _later(moment: Timestamp, step: CelDuration) -> Timestamp:
    return checked_timestamp(moment.nanos + step.nanos)


@_define("_+_(duration, timestamp) -> timestamp")
def _later_flipped(step: CelDuration, moment: Timestamp) -> Timestamp:
    return checked_timestamp(moment.nanos + step.nanos)


@_define("_-_(int, int) -> int")
def _subtract_int(left: int, right: int) -> int:
    return checked_int(left - right)


@_define("_-_(uint, uint) -> uint")
def _subtract_uint(left: int, right: int) -> Uint:
    return checked_uint(int(left) - int(right))


@_define("_-_(double, double) -> double")
def _subtract(left: float, right: float) -> float:
    return left - right


@_define("_-_(duration, duration) -> duration")
def _subtract_durations(left: CelDuration, right: CelDuration) -> CelDuration:
    return checked_duration(left.nanos - right.nanos)


@_define("_-_(timestamp, duration) -> timestamp")
def _earlier(moment: Timestamp, step: CelDuration) -> Timestamp:
    return checked_timestamp(moment.nanos - step.nanos)


@_define("_-_(timestamp, timestamp) -> duration")
def _subtract_timestamps(left: Timestamp, right: Timestamp) -> CelDuration:
    return checked_duration(left.nanos - right.nanos)


@_define("_*_(int, int) -> int")
def _multiply_int(left: int, right: int) -> int:
    return checked_int(left * right)


@_define("_*_(uint, uint) -> uint")
def _multiply_uint(left: int, right: int) -> Uint:
    return checked_uint(int(left) * int(right))


@_define("_*_(double, double) -> double")
def _multiply(left: float, right: float) -> float:
    return left * right


@_define("_/_(int, int) -> int")
def _divide_int(left: int, right: int) -> int:
    if right == 0:
        raise CelError("division by zero")
    return checked_int(_quotient(left, right))


@_define("_/_(uint, uint) -> uint")
def _divide_uint(left: int, right: int) -> Uint:
    if right == 0:
        raise CelError("division by zero")
    return Uint(int(left) // int(right))


@_define("_/_(double, double) -> double")
def _divide(left: float, right: float) -> float:
    if right == 0.0:
        if left == 0.0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


@_define("_%_(int, int) -> int")
def _modulo_int(left: int, right: int) -> int:
    if right == 0:
        raise CelError("modulus by zero")
    if left == INT64_MIN and right == -1:
        raise CelError("integer overflow")
    return left - right * _quotient(left, right)


@_define("_%_(uint, uint) -> uint")
def _modulo_uint(left: int, right: int) -> Uint:
    if right == 0:
        raise CelError("modulus by zero")
    return Uint(int(left) % int(right))


def _quotient(left: int, right: int) -> int:
    """Division that truncates toward zero."""
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


_COMPARABLE = (
    "bool, bool",
    "int, int",
    "int, uint",
    "int, double",
    "uint, int",
    "uint, uint",
    "uint, double",
    "double, int",
    "double, uint",
    "double, double",
    "string, string",
    "bytes, bytes",
    "timestamp, timestamp",
    "duration, duration",
)


@_define(*(f"_<_({kinds}) -> bool" for kinds in _COMPARABLE), cost=comparison_cost)
def _less(left: Any, right: Any) -> bool:
    return less(left, right)


@_define(*(f"_>_({kinds}) -> bool" for kinds in _COMPARABLE), cost=comparison_cost)
def _greater(left: Any, right: Any) -> bool:
    return less(right, left)


@_define(*(f"_<=_({kinds}) -> bool" for kinds in _COMPARABLE), cost=comparison_cost)
def _at_most(left: Any, right: Any) -> bool:
    return less(left, right) or _same(left, right)


@_define(*(f"_>=_({kinds}) -> bool" for kinds in _COMPARABLE), cost=comparison_cost)
def _at_least(left: Any, right: Any) -> bool:
    return less(right, left) or _same(left, right)


def _same(left: Any, right: Any) -> bool:
    if type(left) is float or type(right) is float:
        return float(left) == float(right)
    return bool(left == right)


_NUMBERS = frozenset({int, Uint, float})
_ORDERED = frozenset({str, bytes, bool, CelDuration, Timestamp})


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

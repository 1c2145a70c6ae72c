"""Lists, sets and optional values (`optional.of(x)`, and what can be asked of it)."""

from itertools import pairwise
from typing import Any

from podium.kubernetes.cel.errors import CelError, cost_exceeded
from podium.kubernetes.cel.evaluation import COST_LIMIT
from podium.kubernetes.cel.functions.operators import (
    checked_duration,
    checked_int,
    checked_uint,
    less,
    sorted_by_keys,
)
from podium.kubernetes.cel.library import (
    Functions,
    double_pairing_cost,
    flattening_cost,
    list_comparison_cost,
    list_creation_cost,
    pairing_cost,
    size_cost,
    traversal_cost,
)
from podium.kubernetes.cel.values import (
    NONE,
    CelDuration,
    Optional,
    Timestamp,
    Uint,
    contains,
    equal,
    not_equal,
    some,
)

LISTS = Functions()
ATTRIBUTE_LISTS = Functions()
_define = LISTS.define

_MAX_ATTRIBUTE_VALUES = 48
_ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")


# Kubernetes' lists


@_define(*(f"(list<{kind}>).isSorted() -> bool" for kind in _ORDERED), cost=traversal_cost)
def _is_sorted(values: list[Any]) -> bool:
    return not any(less(b, a) for a, b in pairwise(values))


@_define("(list<int>).sum() -> int", cost=traversal_cost)
def _sum_int(values: list[int]) -> int:
    total = 0
    for value in values:
        total = checked_int(total + value)
    return total


@_define("(list<uint>).sum() -> uint", cost=traversal_cost)
def _sum_uint(values: list[Uint]) -> Uint:
    total = Uint(0)
    for value in values:
        total = checked_uint(int(total) + int(value))
    return total


@_define("(list<double>).sum() -> double", cost=traversal_cost)
def _sum_double(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@_define("(list<duration>).sum() -> duration", cost=traversal_cost)
def _sum_duration(values: list[CelDuration]) -> CelDuration:
    return checked_duration(sum(value.nanos for value in values))


@_define(*(f"(list<{kind}>).min() -> {kind}" for kind in _ORDERED), cost=traversal_cost)
def _min(values: list[Any]) -> Any:
    if not values:
        raise CelError("min called on empty list")
    smallest = values[0]
    for value in values[1:]:
        if less(value, smallest):
            smallest = value
    return smallest


@_define(*(f"(list<{kind}>).max() -> {kind}" for kind in _ORDERED), cost=traversal_cost)
def _max(values: list[Any]) -> Any:
    if not values:
        raise CelError("max called on empty list")
    largest = values[0]
    for value in values[1:]:
        if less(largest, value):
            largest = value
    return largest


@_define("(list<T>).indexOf(T) -> int", cost=traversal_cost)
def _index_of(values: list[Any], wanted: Any) -> int:
    return next((i for i, value in enumerate(values) if equal(value, wanted)), -1)


@_define("(list<T>).lastIndexOf(T) -> int", cost=traversal_cost)
def _last_index_of(values: list[Any], wanted: Any) -> int:
    last = (i for i in range(len(values) - 1, -1, -1) if equal(values[i], wanted))
    return next(last, -1)


# the lists extension


@_define("(list<T>).slice(int, int) -> list<T>", cost=list_creation_cost)
def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(
            f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        )
    if end > len(values):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


@_define(
    "(list<list<T>>).flatten() -> list<T>",
    "(list<dyn>).flatten() -> list<dyn>",
    cost=flattening_cost,
)
def _flatten(values: list[Any]) -> list[Any]:
    return _flatten_to(values, 1)


@_define("(list<dyn>).flatten(int) -> list<dyn>", cost=flattening_cost)
def _flatten_to(values: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: list[Any] = []
    for value in values:
        if isinstance(value, list) and depth > 0:
            flat.extend(_flatten_to(value, depth - 1))
        else:
            flat.append(value)
    return flat


@_define(
    *(f"(list<{kind}>).sort() -> list<{kind}>" for kind in _ORDERED), cost=list_comparison_cost
)
def _sort(values: list[Any]) -> list[Any]:
    return sorted_by_keys(values, values)


@_define("(list<T>).distinct() -> list<T>", cost=list_comparison_cost)
def _distinct(values: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for value in values:
        if not contains(value, kept):
            kept.append(value)
    return kept


@_define("(list<T>).reverse() -> list<T>", cost=list_creation_cost)
def _reverse(values: list[Any]) -> list[Any]:
    return values[::-1]


@_define("lists.range(int) -> list<int>", cost=list_creation_cost)
def _range(count: int) -> list[int]:
    if count > COST_LIMIT:
        raise cost_exceeded()
    return list(range(count))


# device attributes that are lists


@ATTRIBUTE_LISTS.define("(dyn).includes(dyn) -> bool", cost=size_cost)
def _includes(target: Any, wanted: Any) -> bool:
    values = target if isinstance(target, list) else [target]
    if any(not not_equal(value, wanted) for value in values[:_MAX_ATTRIBUTE_VALUES]):
        return True
    if len(values) > _MAX_ATTRIBUTE_VALUES:
        raise CelError(
            "'includes' function cannot be applied to lists longer than"
            f" {_MAX_ATTRIBUTE_VALUES} values"
        )
    return False


# sets


@_define("sets.contains(list<T>, list<T>) -> bool", cost=pairing_cost)
def _set_contains(outer: list[Any], inner: list[Any]) -> bool:
    return all(contains(value, outer) for value in inner)


@_define("sets.equivalent(list<T>, list<T>) -> bool", cost=double_pairing_cost)
def _set_equivalent(left: list[Any], right: list[Any]) -> bool:
    return _set_contains(left, right) and _set_contains(right, left)


@_define("sets.intersects(list<T>, list<T>) -> bool", cost=pairing_cost)
def _set_intersects(left: list[Any], right: list[Any]) -> bool:
    return any(contains(value, right) for value in left)


OPTIONALS = Functions()
_define_optional = OPTIONALS.define

# The compiler makes these two lazy; the checker needs their types.
_define_optional("(optional<T>).or(optional<T>) -> optional<T>")(lambda *_: None)
_define_optional("(optional<T>).orValue(T) -> T")(lambda *_: None)


@_define_optional("optional.none() -> optional<T>")
def _none() -> Optional:
    return NONE


@_define_optional("optional.of(T) -> optional<T>")
def _of(value: Any) -> Optional:
    return some(value)


@_define_optional("optional.ofNonZeroValue(T) -> optional<T>")
def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else some(value)


def _is_zero(value: Any) -> bool:
    match value:
        case CelDuration():
            return value.nanos == 0
        case Timestamp():
            # upstream: Go's zero time is the year 1
            return value.nanos == -62_135_596_800 * 10**9
        case None | bool() | int() | float() | str() | bytes() | list() | dict():
            return not value
        case _:
            return False


@_define_optional("(optional<T>).hasValue() -> bool")
def _has_value(optional: Optional) -> bool:
    return optional.present


@_define_optional("(optional<T>).value() -> T")
def _value(optional: Optional) -> Any:
    return optional.value


@_define_optional("optional.unwrap(list<optional<T>>) -> list<T>")
@_define_optional("(list<optional<T>>).unwrapOpt() -> list<T>")
def _unwrap(optionals: list[Optional]) -> list[Any]:
    return [optional.value for optional in optionals if optional.present]

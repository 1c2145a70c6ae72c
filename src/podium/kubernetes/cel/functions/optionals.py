"""`optional.of(x)` and what can be asked of the result."""

from typing import Any

from podium.kubernetes.cel.library import Functions
from podium.kubernetes.cel.values import (
    NONE,
    Duration,
    Optional,
    Timestamp,
    some,
)

OPTIONALS = Functions()
_define = OPTIONALS.define

# The compiler makes these two lazy; the checker needs their types.
_define("(optional<T>).or(optional<T>) -> optional<T>")(lambda *_: None)
_define("(optional<T>).orValue(T) -> T")(lambda *_: None)


@_define("optional.none() -> optional<T>")
def _none() -> Optional:
    return NONE


@_define("optional.of(T) -> optional<T>")
def _of(value: Any) -> Optional:
    return some(value)


@_define("optional.ofNonZeroValue(T) -> optional<T>")
def _of_non_zero(value: Any) -> Optional:
    return NONE if _is_zero(value) else some(value)


def _is_zero(value: Any) -> bool:
    match value:
        case Duration():
            return value.nanos == 0
        case Timestamp():
            # upstream: Go's zero time is the year 1
            return value.nanos == -62_135_596_800 * 10**9
        case None | bool() | int() | float() | str() | bytes() | list() | dict():
            return not value
        case _:
            return False


@_define("(optional<T>).hasValue() -> bool")
def _has_value(optional: Optional) -> bool:
    return optional.present


@_define("(optional<T>).value() -> T")
def _value(optional: Optional) -> Any:
    return optional.value


@_define("optional.unwrap(list<optional<T>>) -> list<T>")
@_define("(list<optional<T>>).unwrapOpt() -> list<T>")
def _unwrap(optionals: list[Optional]) -> list[Any]:
    return [optional.value for optional in optionals if optional.present]

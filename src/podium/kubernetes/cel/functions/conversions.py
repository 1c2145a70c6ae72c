"""`int("7")`, `string(1.5)`, `type(x)`: from one kind of value to another."""

import math
import re
from typing import Any

from podium.kubernetes.cel.errors import CelError, unreadable
from podium.kubernetes.cel.functions.moments import (
    duration_text,
    parse_duration,
    parse_timestamp,
    timestamp_of_seconds,
    timestamp_text,
)
from podium.kubernetes.cel.library import Functions, conversion_cost, parsing_cost, reading_cost
from podium.kubernetes.cel.values import (
    INT64_MAX,
    INT64_MIN,
    NANOS,
    UINT64_MAX,
    CelDuration,
    Timestamp,
    TypeValue,
    Uint,
    type_name,
)

CONVERSIONS = Functions()
_MAX_DIGITS = 20
_define = CONVERSIONS.define

_INT = re.compile(r"[+-]?[0-9]+")
_UINT = re.compile(r"[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


@_define("dyn(T) -> dyn")
def _dyn(value: Any) -> Any:
    return value


@_define("type(T) -> type<T>")
def _type(value: Any) -> TypeValue:
    return TypeValue(type_name(value))


@_define("bool(bool) -> bool", "bool(string) -> bool")
def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise unreadable("bool")


def bounded_int(digits: str) -> int | None:
    """The number that digits spell; None if it is far too large for 64 bits.

    Python takes quadratic time for long ones, and refuses the longest with an error of its own.
    """
    significant = digits.lstrip("+-").lstrip("0")
    return int(digits) if len(significant) <= _MAX_DIGITS and len(digits) <= 4_000 else None


@_define(
    "int(int) -> int",
    "int(uint) -> int",
    "int(double) -> int",
    "int(string) -> int",
    "int(timestamp) -> int",
    "int(duration) -> int",
    cost=conversion_cost,
)
def _int(value: Any) -> int:
    match value:
        case str():
            number = bounded_int(value) if _INT.fullmatch(value) else None
            if number is None or not INT64_MIN <= number <= INT64_MAX:
                raise unreadable("int")
        case Timestamp():
            return value.nanos // NANOS
        case CelDuration():
            return value.nanos
        case float():
            if math.isnan(value) or not -(2.0**63) < value < 2.0**63:
                raise CelError("integer overflow")
            return math.trunc(value)
        case _:
            number = int(value)
    if not INT64_MIN <= number <= INT64_MAX:
        raise CelError("integer overflow")
    return number


@_define(
    "uint(uint) -> uint",
    "uint(int) -> uint",
    "uint(double) -> uint",
    "uint(string) -> uint",
    cost=conversion_cost,
)
def _uint(value: Any) -> Uint:
    if isinstance(value, str):
        number = bounded_int(value) if _UINT.fullmatch(value) else None
        if number is None or number > UINT64_MAX:
            raise unreadable("uint")
        value = number
    elif isinstance(value, float):
        if math.isnan(value) or not 0.0 <= value < 2.0**64:
            raise CelError("unsigned integer overflow")
        value = math.trunc(value)
    if not 0 <= value <= UINT64_MAX:
        raise CelError("unsigned integer overflow")
    return Uint(value)


@_define(
    "double(double) -> double",
    "double(int) -> double",
    "double(uint) -> double",
    "double(string) -> double",
    cost=conversion_cost,
)
def _double(value: Any) -> float:
    if isinstance(value, str):
        lowered = value.lower().lstrip("+-")
        if lowered not in ("inf", "infinity", "nan") and (
            _DOUBLE.fullmatch(value) is None or math.isinf(float(value))
        ):
            raise unreadable("double")
    return float(value)


@_define(
    "string(string) -> string",
    "string(bool) -> string",
    "string(int) -> string",
    "string(uint) -> string",
    "string(double) -> string",
    "string(bytes) -> string",
    "string(timestamp) -> string",
    "string(duration) -> string",
    cost=parsing_cost,
)
def text_of(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value)
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
        case Timestamp():
            return timestamp_text(value)
        case CelDuration():
            return duration_text(value)
        case _:
            return str(int(value))


@_define("bytes(bytes) -> bytes", "bytes(string) -> bytes", cost=reading_cost)
def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


@_define("timestamp(timestamp) -> timestamp", "timestamp(string) -> timestamp", cost=parsing_cost)
def _timestamp(value: Any) -> Timestamp:
    return value if isinstance(value, Timestamp) else parse_timestamp(value)


@_define("timestamp(int) -> timestamp")
def _timestamp_of(seconds: int) -> Timestamp:
    return timestamp_of_seconds(seconds)


@_define("duration(duration) -> duration", "duration(string) -> duration", cost=parsing_cost)
def _duration(value: Any) -> CelDuration:
    return value if isinstance(value, CelDuration) else parse_duration(value)


@_define("duration(int) -> duration")
def _duration_of(nanos: int) -> CelDuration:
    return CelDuration(nanos)


def double_text(number: float) -> str:
    """The shortest text, in Go's `%g` layout."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    text = repr(number)
    mantissa, _, exponent = text.partition("e")
    digits = mantissa.replace("-", "").replace(".", "").strip("0")
    if not exponent:
        # repr switches to exponents at 1e16, Go at 1e21: both print the same below that.
        return mantissa.removesuffix(".0")
    power = int(exponent)
    if -5 < power < 21:
        return f"{number:.0f}" if power >= 0 else f"{number:.{len(digits) - 1 - power}f}"
    sign = "-" if power < 0 else "+"
    return f"{mantissa.removesuffix('.0')}e{sign}{abs(power):02d}"

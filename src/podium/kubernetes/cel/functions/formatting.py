"""`"%d devices".format([n])`: Go-like formatting of values."""

import math
import re
from collections.abc import Callable
from typing import Any

from podium.kubernetes.cel.errors import CelError
from podium.kubernetes.cel.functions.conversions import double_text
from podium.kubernetes.cel.functions.moments import duration_text, timestamp_text
from podium.kubernetes.cel.values import (
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    from_key,
    type_name,
)

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]*))?(.)?)", re.DOTALL)
_DEFAULT_PRECISION = 6
_MAX_PRECISION = 1000


def format_text(template: str, args: list[Any]) -> str:
    used = 0

    def replace(match: "re.Match[str]") -> str:
        nonlocal used
        if match[0] == "%%":
            return "%"
        verb = match[2]
        if verb is None:
            raise CelError("unexpected end of string")
        if used >= len(args):
            raise CelError(f"index {used} out of range")
        formatter = _VERBS.get(verb)
        if formatter is None:
            raise CelError(
                f'could not parse formatting clause: unrecognized formatting clause "{verb}"'
            )
        value = args[used]
        used += 1
        precision = int(match[1]) if match[1] else _DEFAULT_PRECISION
        if precision > _MAX_PRECISION:
            raise CelError("precision is too large")
        return formatter(value, precision)

    return _CLAUSE.sub(replace, template)


def _string(value: Any, _: int) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case float():
            return _plain_double(value)
        case int():
            return str(int(value))
        case bytes():
            return value.decode(errors="replace")
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return duration_text(value)
        case TypeValue():
            return value.name
        case list():
            return f"[{', '.join(_string(item, 0) for item in value)}]"
        case dict():
            entries = sorted((_string(from_key(k), 0), _string(v, 0)) for k, v in value.items())
            return f"{{{', '.join(f'{key}: {item}' for key, item in entries)}}}"
        case _:
            raise _unsupported(
                "string",
                "strings, bools, bytes, ints, doubles, maps, lists,"
                " types, durations, and timestamps",
                value,
            )


def _plain_double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return double_text(value)


def _decimal(value: Any, _: int) -> str:
    if type(value) is float and not math.isfinite(value):
        return _plain_double(value)
    if type(value) not in (int, Uint, float):
        raise _unsupported("decimal", "integers", value)
    return double_text(value) if type(value) is float else str(int(value))


def _fixed(value: Any, precision: int) -> str:
    number = _number(value, "fixed-point")
    return _plain_double(number) if not math.isfinite(number) else f"{number:.{precision}f}"


def _scientific(value: Any, precision: int) -> str:
    number = _number(value, "scientific")
    return _plain_double(number) if not math.isfinite(number) else f"{number:.{precision}e}"


def _number(value: Any, clause: str) -> float:
    if type(value) in (int, Uint, float):
        return float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    raise _unsupported(clause, "doubles", value)


def _binary(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "b")
    if type(value) is bool:
        return "1" if value else "0"
    raise _unsupported("binary", "integers and bools", value)


def _octal(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "o")
    raise _unsupported("octal", "integers", value)


def _hex(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "x")
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    raise _unsupported("hex", "integers, byte buffers, and strings", value)


def _upper_hex(value: Any, precision: int) -> str:
    return _hex(value, precision).upper()


def _unsupported(clause: str, allowed: str, value: Any) -> CelError:
    return CelError(
        f"error during formatting: {clause} clause can only be used on {allowed}, "
        f"was given {type_name(value)}"
    )


_VERBS: dict[str, Callable[[Any, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": _upper_hex,
}

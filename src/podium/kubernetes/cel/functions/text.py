"""Strings: the standard functions, the strings extension (version 2) and regular expressions.

Positions count code points. A function whose result could outgrow the cost limit refuses before it
builds it.

`"%d devices".format([n])`: Go-like formatting of values.
"""

import math
import re
from collections.abc import Callable
from typing import Any

from podium.golang.regexp import Pattern, PatternError, TooLarge, compile_pattern
from podium.kubernetes.cel.errors import CelError, cost_exceeded
from podium.kubernetes.cel.evaluation import COST_LIMIT
from podium.kubernetes.cel.functions.conversions import double_text
from podium.kubernetes.cel.functions.moments import duration_text, timestamp_text
from podium.kubernetes.cel.library import (
    Functions,
    formatting_cost,
    joining_cost,
    pattern_match_all_cost,
    pattern_match_cost,
    quoting_cost,
    reading_cost,
    replacement_cost,
    rewriting_cost,
    search_cost,
    splitting_cost,
    traversal_cost,
)
from podium.kubernetes.cel.values import (
    CelDuration,
    Timestamp,
    TypeValue,
    Uint,
    from_key,
    type_name,
)

TEXT = Functions()
_define = TEXT.define

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_ESCAPES = str.maketrans({
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\", '"': '\\"',
})  # fmt: skip
# What Unicode calls white space, which is what `trim` takes away.
_WHITE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _check_length(length: int) -> None:
    """Refuse to build a text that would cost more than any evaluation may."""
    if length > COST_LIMIT * 10:
        raise cost_exceeded()


@_define(
    "size(string) -> int",
    "size(bytes) -> int",
    "size(list<T>) -> int",
    "size(map<K, V>) -> int",
    "(string).size() -> int",
    "(bytes).size() -> int",
    "(list<T>).size() -> int",
    "(map<K, V>).size() -> int",
)
def _size(value: Any) -> int:
    return len(value)


@_define("(string).contains(string) -> bool", cost=search_cost)
def _contains(text: str, part: str) -> bool:
    return part in text


@_define("(string).startsWith(string) -> bool", cost=reading_cost)
def _starts_with(text: str, prefix: str) -> bool:
    return text.startswith(prefix)


@_define("(string).endsWith(string) -> bool", cost=reading_cost)
def _ends_with(text: str, suffix: str) -> bool:
    return text.endswith(suffix)


@_define("(string).charAt(int) -> string")
def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


@_define("(string).indexOf(string) -> int", cost=traversal_cost)
def _index_of(text: str, part: str) -> int:
    return text.find(part)


@_define("(string).indexOf(string, int) -> int", cost=traversal_cost)
def _index_of_from(text: str, part: str, start: int) -> int:
    if not part:
        return start
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return text.find(part, start)


@_define("(string).lastIndexOf(string) -> int", cost=traversal_cost)
def _last_index_of(text: str, part: str) -> int:
    return _find_last(text, part)


@_define("(string).lastIndexOf(string, int) -> int", cost=traversal_cost)
def _last_index_of_before(text: str, part: str, last: int) -> int:
    if not part:
        return last
    if last < 0:
        raise CelError(f"index out of range: {last}")
    # upstream: a search that would begin behind the text finds nothing.
    return _find_last(text[: last + len(part)], part) if last < len(text) else -1


def _find_last(text: str, part: str) -> int:
    """Python's `rfind` takes time in proportion to the product of both lengths, `find` to one."""
    place = text[::-1].find(part[::-1])
    return place if place < 0 else len(text) - place - len(part)


@_define("(string).substring(int) -> string", cost=reading_cost)
def _substring_from(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    return text[start:]


@_define("(string).substring(int, int) -> string", cost=reading_cost)
def _substring(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    return text[start:end]


@_define("(string).lowerAscii() -> string", cost=rewriting_cost)
def _lower_ascii(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_LOWER)


@_define("(string).upperAscii() -> string", cost=rewriting_cost)
def _upper_ascii(text: str) -> str:
    return text.upper() if text.isascii() else text.translate(_UPPER)


@_define("(string).trim() -> string", cost=reading_cost)
def _trim(text: str) -> str:
    return text.strip(_WHITE)


@_define("(string).replace(string, string) -> string", cost=replacement_cost)
def _replace_all(text: str, old: str, new: str) -> str:
    return _replace(text, old, new, -1)


@_define("(string).replace(string, string, int) -> string", cost=replacement_cost)
def _replace(text: str, old: str, new: str, count: int) -> str:
    times = len(text) + 1 if count < 0 else min(count, len(text) + 1)
    _check_length(len(text) + times * len(new) if len(new) > len(old) else 0)
    return text.replace(old, new, count)


@_define("(string).split(string) -> list<string>", cost=splitting_cost)
def _split_all(text: str, separator: str) -> list[str]:
    return _split(text, separator, -1)


@_define("(string).split(string, int) -> list<string>", cost=splitting_cost)
def _split(text: str, separator: str, limit: int) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        if limit < 0 or limit >= len(text):
            return list(text)
        return [*text[: limit - 1], text[limit - 1 :]]
    return text.split(separator, limit - 1 if limit > 0 else -1)


@_define("(list<string>).join() -> string", cost=joining_cost)
def _join_plain(parts: list[str]) -> str:
    return _join(parts, "")


@_define("(list<string>).join(string) -> string", cost=joining_cost)
def _join(parts: list[str], separator: str) -> str:
    _check_length(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


@_define("strings.quote(string) -> string", cost=quoting_cost)
def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


@_define("(string).format(list<dyn>) -> string", cost=formatting_cost)
def _format(template: str, args: list[Any]) -> str:
    return format_text(template, args)


# regular expressions


@_define(
    "matches(string, string) -> bool", "(string).matches(string) -> bool", cost=pattern_match_cost
)
def _matches(text: str, pattern: str) -> bool:
    return _compile_pattern(pattern, text).matches(text)


@_define("(string).find(string) -> string", cost=pattern_match_cost)
def _find(text: str, pattern: str) -> str:
    return _compile_pattern(pattern, text).find(text) or ""


@_define("(string).findAll(string) -> list<string>", cost=pattern_match_all_cost)
def _find_all(text: str, pattern: str) -> list[str]:
    return list(_compile_pattern(pattern, text).find_all(text, -1))


@_define("(string).findAll(string, int) -> list<string>", cost=pattern_match_all_cost)
def _find_some(text: str, pattern: str, limit: int) -> list[str]:
    return list(_compile_pattern(pattern, text).find_all(text, limit))


def _compile_pattern(pattern: str, text: str) -> Pattern:
    """Refuses, before it matches, what would cost more than any evaluation may."""
    try:
        compiled = compile_pattern(pattern)
    except TooLarge:
        raise cost_exceeded() from None
    except PatternError as problem:
        raise CelError(str(problem)) from None
    if pattern_match_cost(text, pattern) > COST_LIMIT:
        raise cost_exceeded()
    return compiled


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
        case CelDuration():
            return duration_text(value)
        case TypeValue():
            return value.name
        case list():
            return f"[{', '.join(_string(item, 0) for item in value)}]"
        case dict():
            entries = sorted((_string(from_key(k), 0), _string(v, 0)) for k, v in value.items())
            return f"{{{', '.join(f'{key}: {item}' for key, item in entries)}}}"
        case _:
            raise _refuse_clause(
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
        raise _refuse_clause("decimal", "integers", value)
    return double_text(value) if type(value) is float else str(int(value))


def _format_fixed(value: Any, precision: int) -> str:
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
    raise _refuse_clause(clause, "doubles", value)


def _binary(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "b")
    if type(value) is bool:
        return "1" if value else "0"
    raise _refuse_clause("binary", "integers and bools", value)


def _octal(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "o")
    raise _refuse_clause("octal", "integers", value)


def _hex(value: Any, _: int) -> str:
    if type(value) in (int, Uint):
        return format(int(value), "x")
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    raise _refuse_clause("hex", "integers, byte buffers, and strings", value)


def _upper_hex(value: Any, precision: int) -> str:
    return _hex(value, precision).upper()


def _refuse_clause(clause: str, allowed: str, value: Any) -> CelError:
    return CelError(
        f"error during formatting: {clause} clause can only be used on {allowed}, "
        f"was given {type_name(value)}"
    )


_VERBS: dict[str, Callable[[Any, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _format_fixed,
    "e": _scientific,
    "b": _binary,
    "o": _octal,
    "x": _hex,
    "X": _upper_hex,
}

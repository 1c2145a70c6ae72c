"""Numbers and switches on a command line: what Go's `strconv` takes, and how it refuses.

Contract: the same texts are accepted with the same value, and a `ValueError` carries Go's message
in full, since it ends up in `invalid argument "x" for "--y" flag: ...`.
"""

import math
import re
import struct
from typing import Final

from podium.golang.quoting import quoted

TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")

_SYNTAX: Final = "invalid syntax"
_RANGE: Final = "value out of range"
_BASES: Final = {"0b": 2, "0o": 8, "0x": 16}
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
# An underscore stands between two digits; a prefix such as 0x counts as one.
_MISPLACED_UNDERSCORE: Final = re.compile(r"^_|__|_$")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX: Final = "[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_HEXADECIMAL: Final = re.compile(
    rf"[+-]?0[xX](?:_?{_HEX}(?:\.(?:{_HEX})?)?|\.{_HEX})[pP][+-]?[0-9]+"
)
_NOT_FINITE: Final = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)


def parse_bool(text: str) -> bool:
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    raise _refusal("ParseBool", text, _SYNTAX)


def parse_int(text: str, bits: int = 64) -> int:
    """A signed number in the base its prefix says: `12`, `-0x1F`, `0b11`, `017`, `1_000`."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    size = _magnitude("ParseInt", text, unsigned, 64)
    negative = text.startswith("-")
    if size > 2 ** (bits - 1) - (0 if negative else 1):
        raise _refusal("ParseInt", text, _RANGE)
    return -size if negative else size


def parse_uint(text: str, bits: int) -> int:
    """A decimal number without a sign."""
    if not text.isascii() or not text.isdigit():
        raise _refusal("ParseUint", text, _SYNTAX)
    if len(text.lstrip("0")) > 20 or int(text) >= 2**bits:
        raise _refusal("ParseUint", text, _RANGE)
    return int(text)


def parse_float64(text: str) -> float:
    """A decimal or hexadecimal number; `inf` and `nan` are numbers too."""
    if _NOT_FINITE.fullmatch(text):
        return float(text)
    if _DECIMAL.fullmatch(text):
        value = float(text)
    elif _HEXADECIMAL.fullmatch(text):
        value = _from_hexadecimal(text.replace("_", ""))
    else:
        raise _refusal("ParseFloat", text, _SYNTAX)
    if math.isinf(value):
        raise _refusal("ParseFloat", text, _RANGE)
    return value


def parse_float32(text: str) -> float:
    """`parse_float64`, rounded to 32 bits."""
    value = parse_float64(text)
    if not math.isfinite(value):
        return value
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        rounded = math.inf
    if math.isinf(rounded):
        raise _refusal("ParseFloat", text, _RANGE)
    return rounded


def _from_hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return math.inf


def _magnitude(function: str, text: str, unsigned: str, bits: int) -> int:
    if not unsigned:
        raise _refusal(function, text, _SYNTAX)
    base, digits = 10, unsigned
    if unsigned.startswith("0"):
        prefix = unsigned[:2].lower()
        known = len(unsigned) >= 3 and prefix in _BASES
        base, digits = (_BASES[prefix], unsigned[2:]) if known else (8, unsigned[1:])
    size = 0
    for digit in digits:
        if digit == "_":
            continue
        value = _DIGITS.find(digit.lower()) if digit.isascii() else -1
        if not 0 <= value < base:
            raise _refusal(function, text, _SYNTAX)
        size = size * base + value
        if size >= 2**bits:
            raise _refusal(function, text, _RANGE)
    # In front of the digits stands a prefix, or the 0 that makes them octal, or nothing.
    if _MISPLACED_UNDERSCORE.search(digits if base == 10 else f"0{digits}"):
        raise _refusal(function, text, _SYNTAX)
    return size


def _refusal(function: str, text: str, problem: str) -> ValueError:
    return ValueError(f"strconv.{function}: parsing {quoted(text)}: {problem}")

"""Words of a command line: what Go's strconv and encoding/csv make of them.

Contract: the same texts are accepted with the same value, and a `ValueError` carries Go's message
in full, since it ends up in `invalid argument "x" for "--y" flag: ...`.

Comma-separated lists on a command line: the first record of Go's `encoding/csv`.
`--requestheader-allowed-names='a,"b,c"'` has two entries. Python's `csv` forgives stray quotation
marks that Go refuses, so the few rules are written out. Columns in messages count bytes from 1.
"""

import math
import re
import struct
from typing import Final

from podium.golang.quoting import go_quote

TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")

_SYNTAX: Final = "invalid syntax"
_RANGE: Final = "value out of range"
_BASES: Final = {"0b": 2, "0o": 8, "0x": 16}
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
# An underscore is between two digits; a prefix such as 0x counts as one.
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
    return ValueError(f"strconv.{function}: parsing {go_quote(text)}: {problem}")


_BARE: Final = 'bare " in non-quoted field'
_UNBALANCED: Final = 'extraneous or missing " in quoted-field'


def read_list(text: str) -> tuple[str, ...]:
    """The entries of a list; an empty text has none. Raises ValueError with Go's text."""
    if not text:
        return ()
    rest = text.replace("\r\n", "\n").lstrip("\n")
    if not rest:
        raise ValueError("EOF")
    record = _Record(rest, 1 + len(text) - len(text.lstrip("\r\n")))
    return tuple(record.fields())


class _Record:
    """One record, read from left to right; a quoted field may go on over several lines."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._at = 0
        self._start_line = line

    def fields(self) -> list[str]:
        found = []
        while True:
            is_quoted = self._text[self._at : self._at + 1] == '"'
            found.append(self._quoted_field() if is_quoted else self._plain_field())
            if self._text[self._at : self._at + 1] != ",":
                return found
            self._at += 1

    def _plain_field(self) -> str:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in ",\n":
            self._at += 1
        field = self._text[start : self._at]
        if '"' in field:
            raise self._refusal(start + field.index('"'), _BARE)
        return field

    def _quoted_field(self) -> str:
        field = ""
        self._at += 1
        while True:
            end = self._text.find('"', self._at)
            if end < 0:
                raise self._refusal(len(self._text), _UNBALANCED)
            field += self._text[self._at : end]
            self._at = end + 1
            following = self._text[self._at : self._at + 1]
            if following != '"':
                if following not in ("", ",", "\n"):
                    raise self._refusal(end, _UNBALANCED)
                return field
            field += '"'
            self._at += 1

    def _refusal(self, at: int, problem: str) -> ValueError:
        before = self._text[:at]
        line = self._start_line + before.count("\n")
        column = len(before.rpartition("\n")[2].encode(errors="surrogateescape")) + 1
        where = f"parse error on line {line}, column {column}: {problem}"
        if line != self._start_line:
            where = f"record on line {self._start_line}; {where}"
        return ValueError(where)

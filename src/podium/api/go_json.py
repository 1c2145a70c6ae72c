"""JSON as Go's encoding/json reads it, and its mistakes in Go's words.

Configurations, extenders and clients of an API server all meet texts that Go programs read before
Podium did, and operators know the errors by heart. Python's decoder accepts and refuses the same
texts with few exceptions, which are settled here: what it calls a mistake is put into Go's words,
`NaN` and its kin are mistakes, halves of surrogate pairs are not, and a number keeps whether it
was written `4` or `4.0` (the latter is no integer to Go).
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_HEX_DIGITS: Final = frozenset("0123456789abcdefABCDEF")
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}
_ESCAPES: Final = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "'": "\\'", "\\": "\\\\",
}  # fmt: skip
_ENDED: Final = "unexpected end of JSON input"
_BEGINNING: Final = "looking for beginning of value"
_PLACES: Final = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Illegal trailing comma before end of object", "looking for beginning of object key string"),
    ("Illegal trailing comma", _BEGINNING),
    ("Expecting ':' delimiter", "after object key"),
    ("Expecting value", _BEGINNING),
    ("Invalid control character", "in string literal"),
    ("Extra data", "after top-level value"),
)

Pairs = list[tuple[str, Any]]


class JSONSyntaxError(ValueError):
    """The text is not JSON; the message is Go's. `ended`: it was right as far as it went."""

    def __init__(self, message: str, line: int | None = None, *, ended: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.ended = ended


class WrittenFloat(float):
    """A number with a point or an exponent, and how it was written."""

    text: str

    def __new__(cls, text: str) -> "WrittenFloat":
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_whole(text: str, objects: Callable[[Pairs], Any] | None = None) -> Any:
    """The value that the text is; `objects` makes one of an object's members. May be deep enough
    to end in a RecursionError."""
    try:
        return _decoder(objects).decode(text)
    except json.JSONDecodeError as error:
        raise _reworded(error) from None


def read_first(text: str, objects: Callable[[Pairs], Any] | None = None) -> Any:
    """The value that the text begins with, whatever follows it."""
    start = _SPACE.match(text)
    try:
        value, _ = _decoder(objects).raw_decode(text, start.end() if start else 0)
    except json.JSONDecodeError as error:
        raise _reworded(error) from None
    return value


def mended(text: str) -> str:
    """A string without halves of surrogate pairs, for which Go puts U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoder(objects: Callable[[Pairs], Any] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=objects,
        parse_float=WrittenFloat,
        parse_int=_integer,
        parse_constant=_refuse_constant,
    )


def _integer(text: str) -> int | float:
    # No field takes so many digits, and Python refuses to convert thousands of them.
    return int(text) if len(text) < 100 else WrittenFloat(text)


def _refuse_constant(name: str) -> NoReturn:
    where = "in numeric literal" if name.startswith("-") else _BEGINNING
    raise JSONSyntaxError(f"invalid character '{name.lstrip('-')[0]}' {where}")


# --- words ------------------------------------------------------------------------------------


def _reworded(error: json.JSONDecodeError) -> JSONSyntaxError:
    position, where = _found(error)
    if position >= len(error.doc):
        return JSONSyntaxError(_ENDED, error.lineno, ended=True)
    character = _quoted(error.doc[position])
    return JSONSyntaxError(f"invalid character {character} {where}".rstrip(), error.lineno)


def _found(error: json.JSONDecodeError) -> tuple[int, str]:
    """The position of the first character that Go would not take, and what it says of it."""
    text, at = error.doc, error.pos
    if error.msg.startswith("Unterminated string"):
        return len(text), ""
    if error.msg.startswith("Invalid \\escape"):
        return at + 1, "in string escape code"
    if error.msg.startswith("Invalid \\uXXXX escape"):
        return _end(text, at + 1, _HEX_DIGITS), "in \\u hexadecimal character escape"
    if error.msg.startswith("Expecting value") and at < len(text):
        if text[at] == "-":
            return at + 1, "in numeric literal"
        if text[at] in _LITERALS:
            return _in_literal(text, at, _LITERALS[text[at]])
    if error.msg.startswith("Expecting ',' delimiter") and at < len(text):
        if text[at] in ".eE" and text[at - 1].isdigit():
            return _in_number(text, at)
        inside = "object key:value pair" if _in_object(text[:at]) else "array element"
        return at, f"after {inside}"
    return at, next((go for ours, go in _PLACES if error.msg.startswith(ours)), "")


def _in_literal(text: str, start: int, literal: str) -> tuple[int, str]:
    for offset, expected in enumerate(literal):
        if start + offset >= len(text) or text[start + offset] != expected:
            return start + offset, f"in literal {literal} (expecting '{expected}')"
    return start, _BEGINNING


def _in_number(text: str, at: int) -> tuple[int, str]:
    if text[at] == ".":
        return at + 1, "after decimal point in numeric literal"
    signed = at + 1 < len(text) and text[at + 1] in "+-"
    return at + 1 + signed, "in exponent of numeric literal"


def _end(text: str, start: int, characters: frozenset[str]) -> int:
    return next((i for i in range(start, len(text)) if text[i] not in characters), len(text))


def _in_object(prefix: str) -> bool:
    """Whether a text that is right so far ends inside an object, and not inside an array."""
    try:
        _decoder(_forgotten).decode(prefix + "}")
    except json.JSONDecodeError as error:
        return error.pos > len(prefix)
    return True


def _forgotten(_: Pairs) -> None:
    return None


def _quoted(character: str) -> str:
    # upstream: the scanner sees bytes, and shows the first one of a longer character as Latin-1.
    character = chr(character.encode("utf-8", "surrogateescape")[0])
    escaped = _ESCAPES.get(character, character)
    if len(escaped) == 1 and not escaped.isprintable():
        code = ord(escaped)
        escaped = f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
    return f"'{escaped}'"

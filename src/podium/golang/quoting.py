"""Text in quotation marks as Go prints it, for messages that operators and their scripts match.

Python's `repr` and JSON come close and are not the same: Go writes `\x00` for control characters,
keeps letters of all scripts, and shows a byte that is no UTF-8 as it is. Such bytes reach Python's
command lines as lone surrogates.

JSON values as Go's `%v` prints them, for error texts that show them so, and numbers in JSON. Worked
example: `{"b": [1, true], "a": null}` prints as `map[a:<nil> b:[1 true]]`.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from podium.golang.json_values import JsonValue

_NAMED: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}


def go_quote(text: str) -> str:
    """`%q` of a string.

    >>> quoted("tab\\there")
    '"tab\\\\there"'
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join('\\"' if c == '"' else _escape_character(c) for c in text) + '"'


def quoted_character(character: str) -> str:
    """`%q` of a rune: `'x'`."""
    return "'" + ("\\'" if character == "'" else _escape_character(character)) + "'"


def quoted_list(texts: Iterable[str]) -> str:
    """`%q` of a slice of strings: `["a" "b"]`."""
    return f"[{' '.join(map(go_quote, texts))}]"


def escape_unprintable(text: str) -> str:
    """The text on one line, without anything that a terminal would obey rather than show.

    Control, format and bidirectional characters, line separators and bytes that are no UTF-8 are
    written as in `%q`; quotation marks and backslashes stay, so that escaping twice is escaping
    once.

    >>> escape_unprintable("web\x1b[31m-0")
    'web\\x1b[31m-0'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape_character(c) for c in text)


def _escape_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable():
        return character
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def go_value(value: JsonValue) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return go_float(value)
        case dict():
            return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_value, value))}]"
        case _:
            return str(value)


def go_float(number: float) -> str:
    """The shortest text that reads back as the number; large and small ones with an exponent."""
    if number != 0 and not 1e-4 <= abs(number) < 1e21:
        mantissa, _, exponent = repr(number).partition("e")
        if exponent:
            return f"{mantissa.removesuffix('.0')}e{int(exponent):+03d}"
    text = f"{number:.0f}" if number == int(number) else repr(number)
    return text.removesuffix(".0")


def json_number(number: float) -> str:
    """A number as Go's JSON encoder writes it.

    >>> json_number(1e20), json_number(1e21), json_number(0.00001), json_number(1e-7)
    ('100000000000000000000', '1e+21', '0.00001', '1e-7')
    """
    text = repr(number)
    if isinstance(number, int):
        return text
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return format(Decimal(text), "f").removesuffix(".0")
    return re.sub(r"\.0(?=e|$)", "", re.sub(r"e-0(?=\d$)", "e-", text))

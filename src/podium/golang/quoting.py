"""Text in quotation marks as Go prints it, for messages that operators and their scripts match.

Python's `repr` and JSON come close and are not the same: Go writes `\\x00` for control characters,
keeps letters of all scripts, and shows a byte that is no UTF-8 as it is. Such bytes reach Python's
command lines as lone surrogates.
"""

from collections.abc import Iterable
from typing import Final

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


def quoted(text: str) -> str:
    """`%q` of a string.

    >>> quoted("tab\\there")
    '"tab\\\\there"'
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join('\\"' if c == '"' else _escaped(c) for c in text) + '"'


def quoted_character(character: str) -> str:
    """`%q` of a rune: `'x'`."""
    return "'" + ("\\'" if character == "'" else _escaped(character)) + "'"


def quoted_list(texts: Iterable[str]) -> str:
    """`%q` of a slice of strings: `["a" "b"]`."""
    return f"[{' '.join(map(quoted, texts))}]"


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
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
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

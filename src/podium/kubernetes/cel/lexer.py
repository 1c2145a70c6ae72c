"""Text of an expression → tokens.

Numbers and strings are read into their values here, so that the parser only sees kinds. The
grammar is the CEL language definition's; a string that is not closed, an unknown escape or a
stray character is an issue at its place.
"""

import re
from typing import NamedTuple

from podium.kubernetes.cel.errors import IssueError

IDENT, INT, UINT, DOUBLE, STRING, BYTES, SYMBOL, END = (
    "identifier",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "symbol",
    "end",
)


class Token(NamedTuple):
    kind: str
    text: str
    value: object
    offset: int


_SPACE = re.compile(r"(?:[ \t\r\n\f]+|//[^\n]*)+")
_IDENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DOUBLE = re.compile(
    r"[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
)
_INT = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uU]?)")
_SYMBOL = re.compile(r"&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}]")
_STRING_START = re.compile(r"([rRbB]{0,2})('''|\"\"\"|'|\")")

_SIMPLE_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "?": "?", '"': '"', "'": "'", "`": "`",
}  # fmt: skip
_HEX_ESCAPES = {"x": 2, "X": 2, "u": 4, "U": 8}


def tokens_of(source: str) -> list[Token]:
    """All tokens, the last one an END."""
    tokens: list[Token] = []
    offset = 0
    while True:
        space = _SPACE.match(source, offset)
        if space is not None:
            offset = space.end()
        if offset >= len(source):
            tokens.append(Token(END, "<EOF>", None, offset))
            return tokens
        token, offset = _next(source, offset)
        tokens.append(token)


def _next(source: str, offset: int) -> tuple[Token, int]:
    start = _STRING_START.match(source, offset)
    if start is not None and sorted(start[1].lower()) in ([], ["b"], ["r"], ["b", "r"]):
        return _string(source, offset, start)
    ident = _IDENT.match(source, offset)
    if ident is not None:
        return Token(IDENT, ident[0], None, offset), ident.end()
    double = _DOUBLE.match(source, offset)
    if double is not None:
        return Token(DOUBLE, double[0], float(double[0]), offset), double.end()
    number = _INT.match(source, offset)
    if number is not None:
        kind = UINT if number[2] else INT
        digits = number[1]
        value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
        return Token(kind, number[0], value, offset), number.end()
    symbol = _SYMBOL.match(source, offset)
    if symbol is not None:
        return Token(SYMBOL, symbol[0], None, offset), symbol.end()
    raise IssueError(f"Syntax error: token recognition error at: '{source[offset]}'", offset)


def _string(source: str, offset: int, start: "re.Match[str]") -> tuple[Token, int]:
    prefix, quote = start[1].lower(), start[2]
    raw, is_bytes = "r" in prefix, "b" in prefix
    end = _find_closing_quote(source, start.end(), quote, raw=raw)
    if end < 0 or (len(quote) == 1 and "\n" in source[start.end() : end]):
        raise IssueError(f"Syntax error: token recognition error at: '{source[offset:]}'", offset)
    body = source[start.end() : end]
    text = source[offset : end + len(quote)]
    value: object
    if is_bytes:
        value = body.encode() if raw else _unescape_bytes(body, offset)
    else:
        value = body if raw else _unescape(body, offset)
    return Token(BYTES if is_bytes else STRING, text, value, offset), end + len(quote)


def _find_closing_quote(source: str, at: int, quote: str, *, raw: bool) -> int:
    while at < len(source):
        if source[at] == "\\" and not raw:
            at += 2
            continue
        if source.startswith(quote, at):
            return at
        at += 1
    return -1


def _escapes(body: str, offset: int) -> "list[tuple[str, int | None]]":
    """(plain text, None) and ("", code) parts; the code is that of an escape."""
    parts: list[tuple[str, int | None]] = []
    at = 0
    while at < len(body):
        slash = body.find("\\", at)
        if slash < 0:
            parts.append((body[at:], None))
            break
        if slash > at:
            parts.append((body[at:slash], None))
        letter = body[slash + 1 : slash + 2]
        if letter in _SIMPLE_ESCAPES:
            parts.append((_SIMPLE_ESCAPES[letter], None))
            at = slash + 2
            continue
        octal = letter.isdigit()
        width = 3 if octal else _HEX_ESCAPES.get(letter, 0)
        first = slash + 1 if octal else slash + 2
        digits = body[first : first + width]
        allowed = "01234567" if octal else "0123456789abcdefABCDEF"
        if not width or len(digits) < width or any(d not in allowed for d in digits):
            raise IssueError(f"invalid escape sequence in {body!r}", offset)
        parts.append(("", int(digits, 8 if octal else 16)))
        at = first + width
    return parts


def _unescape(body: str, offset: int) -> str:
    out: list[str] = []
    for text, code in _escapes(body, offset):
        if code is None:
            out.append(text)
        elif code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise IssueError(f"invalid unicode code point in {body!r}", offset)
        else:
            out.append(chr(code))
    return "".join(out)


def _unescape_bytes(body: str, offset: int) -> bytes:
    out: list[bytes] = []
    for text, code in _escapes(body, offset):
        if code is None:
            out.append(text.encode())
        elif code > 0xFF:
            raise IssueError(f"invalid escape sequence in bytes {body!r}", offset)
        else:
            out.append(bytes([code]))
    return b"".join(out)

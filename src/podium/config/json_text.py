"""JSON as kube-scheduler reads a configuration: order, repeated members and numbers as written.

Three things that a plain decoder loses decide about errors: which member came first, that one came
twice, and whether a number was written `4` or `4.0` (the latter is no integer in JSON). Objects
with repeated members come out as `RepeatedMembers`, numbers with a point or an exponent as
`WrittenFloat`. Syntax errors are worded as Go's encoding/json words them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from podium.config.errors import ConfigurationError

_DEPTH: Final = 100
_PREFIX: Final = "couldn't get version/kind; json parse error: "
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)
_PLACES: Final = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Illegal trailing comma before end of object", "looking for beginning of object key string"),
    ("Illegal trailing comma", "looking for beginning of value"),
    ("Expecting ':' delimiter", "after object key"),
    ("Expecting value", "looking for beginning of value"),
    ("Invalid control character", "in string literal"),
    ("Invalid \\escape", "in string escape code"),
    ("Invalid \\uXXXX escape", "in \\u hexadecimal character escape"),
    ("Extra data", "after top-level value"),
)


class RepeatedMembers(dict[str, Any]):
    """An object in which a member occurs twice; `pairs` has them all, in order."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class WrittenFloat(float):
    """A number with a point or an exponent, and how it was written."""

    text: str

    def __new__(cls, text: str) -> "WrittenFloat":
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_json_text(text: str) -> Any:
    """Raises ConfigurationError with Go's text."""
    _refuse_deep(text)
    decoder = json.JSONDecoder(
        object_pairs_hook=_object,
        parse_float=WrittenFloat,
        parse_int=_integer,
        parse_constant=_refuse_constant,
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise ConfigurationError(_PREFIX + _worded(error), line=error.lineno) from None
    return _mended(value) if "\\u" in text else value


def _mended(value: Any) -> Any:
    """The value without halves of surrogate pairs, for which Go puts U+FFFD."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case RepeatedMembers():
            return RepeatedMembers([(_mended(key), _mended(v)) for key, v in value.pairs])
        case dict():
            return {_mended(key): _mended(inner) for key, inner in value.items()}
        case list():
            return [_mended(inner) for inner in value]
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else RepeatedMembers(pairs)


def _integer(text: str) -> int | float:
    # No field takes so many digits, and Python refuses to convert thousands of them.
    return int(text) if len(text) < 100 else WrittenFloat(text)


def _refuse_constant(name: str) -> NoReturn:
    raise ConfigurationError(
        f"{_PREFIX}invalid character '{name.lstrip('-')[0]}' looking for beginning of value"
    )


def _worded(error: json.JSONDecodeError) -> str:
    if error.pos >= len(error.doc) or error.msg.startswith("Unterminated string"):
        return "unexpected end of JSON input"
    if error.msg.startswith("Expecting ',' delimiter"):
        inside = _innermost(error.doc[: error.pos])
        where = "after object key:value pair" if inside == "{" else "after array element"
    else:
        where = next((go for ours, go in _PLACES if error.msg.startswith(ours)), "")
    return f"invalid character {_quoted(error.doc[error.pos])} {where}".rstrip()


def _quoted(character: str) -> str:
    escapes = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "'": "\\'", "\\": "\\\\"}
    return f"'{escapes.get(character, character)}'"


def _innermost(text: str) -> str:
    """The bracket that is open at the end of a text, or ""."""
    still_open = [""]
    for bracket in _brackets(text):
        if bracket in "{[":
            still_open.append(bracket)
        elif len(still_open) > 1:
            still_open.pop()
    return still_open[-1]


def _refuse_deep(text: str) -> None:
    depth = 0
    for bracket in _brackets(text):
        depth += 1 if bracket in "{[" else -1
        if depth > _DEPTH:
            raise ConfigurationError(f"nested more than {_DEPTH} levels deep")


def _brackets(text: str) -> Iterator[str]:
    """The brackets of a JSON text that are not inside strings."""
    for match in _STRING_OR_BRACKET.finditer(text):
        if match[0][0] != '"':
            yield match[0]

"""JSON as kube-scheduler reads a configuration: order, repeated members and numbers as written.

Three things that a plain decoder loses decide about errors: which member came first, that one came
twice, and whether a number was written `4` or `4.0` (the latter is no integer in JSON). Objects
with repeated members come out as `RepeatedMembers`, numbers with a point or an exponent as
`WrittenFloat`. Syntax errors are worded as Go's encoding/json words them (`api/go_json.py`).
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from podium.api.go_json import JSONSyntaxError, WrittenFloat, mended, read_whole
from podium.config.errors import ConfigurationError

__all__ = ["RepeatedMembers", "WrittenFloat", "members", "read_json_text"]

_DEPTH: Final = 100
_PREFIX: Final = "couldn't get version/kind; json parse error: "
_HALF_LETTER: Final = re.compile(r"\\u|[\ud800-\udfff]")
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]', re.DOTALL)


class RepeatedMembers(dict[str, Any]):
    """An object in which a member occurs twice; `pairs` has them all, in order."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def members(raw: Mapping[str, Any]) -> Collection[tuple[str, Any]]:
    """The members of an object in their order, those that occur twice included."""
    return raw.pairs if isinstance(raw, RepeatedMembers) else raw.items()


def read_json_text(text: str) -> Any:
    """Raises ConfigurationError with Go's text."""
    _refuse_deep(text)
    try:
        value = read_whole(text, _object)
    except JSONSyntaxError as error:
        raise ConfigurationError(f"{_PREFIX}{error}", line=error.line) from None
    return _mended(value) if _HALF_LETTER.search(text) else value


def _mended(value: Any) -> Any:
    """The value without halves of surrogate pairs, for which Go puts U+FFFD."""
    match value:
        case str():
            return mended(value)
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

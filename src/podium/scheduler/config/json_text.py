"""JSON as kube-scheduler reads a configuration: order, repeated members and numbers as written.

Three things that a plain decoder loses decide about errors: which member came first, that one came
twice, and whether a number was written `4` or `4.0` (the latter is no integer in JSON). Objects
with repeated members come out as `RepeatedMembers`, numbers with a point or an exponent as
`WrittenFloat`. Syntax errors are worded as Go's encoding/json words them (`golang/json_reader.py`).
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from podium.golang.json_reader import JSONSyntaxError, WrittenFloat, mended, read_whole
from podium.scheduler.config.errors import ConfigurationError

__all__ = [
    "MAX_VALUES",
    "SHORT",
    "RepeatedMembers",
    "WrittenFloat",
    "members",
    "read_json_text",
    "too_many",
]

SHORT: Final = "a configuration is short"
MAX_VALUES: Final = 20_000
"""Far more than anybody writes, and few enough to be answered at once."""
_DEPTH: Final = 100
_PREFIX: Final = "couldn't get version/kind; json parse error: "
_HALF_LETTER: Final = re.compile(r"\\u|[\ud800-\udfff]")


class RepeatedMembers(dict[str, Any]):
    """An object in which a member occurs twice; `pairs` has them all, in order."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def members(raw: Mapping[str, Any]) -> Collection[tuple[str, Any]]:
    """The members of an object in their order, those that occur twice included."""
    return raw.pairs if isinstance(raw, RepeatedMembers) else raw.items()


def read_json_text(text: str) -> Any:
    """Raises ConfigurationError, for syntax errors with Go's text."""
    try:
        value = read_whole(text, _object)
    except JSONSyntaxError as error:
        raise ConfigurationError(f"{_PREFIX}{error}", line=error.line) from None
    except RecursionError:
        raise _too_deep() from None
    _refuse_large(value)
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


def _refuse_large(value: Any) -> None:
    """Bound what all that follows has to walk through."""
    left = [(value, 1)]
    found = 0
    while left:
        container, depth = left.pop()
        found += len(container)
        if depth > _DEPTH:
            raise _too_deep()
        if found > MAX_VALUES:
            raise too_many()
        inner = container.values() if isinstance(container, dict) else container
        left.extend((entry, depth + 1) for entry in inner if isinstance(entry, dict | list))


def too_many() -> ConfigurationError:
    return ConfigurationError(f"holds more than {MAX_VALUES} values", remedy=SHORT)


def _too_deep() -> ConfigurationError:
    return ConfigurationError(f"nested more than {_DEPTH} levels deep")

"""JSON as Go's encoding/json reads it, and its mistakes in Go's words.

Configurations, extenders and clients of an API server all meet texts that Go programs read before
Podium did. Python's decoder accepts and refuses the same texts with few exceptions, which are
settled here: what it refuses is told in Go's words (`json_syntax.py`), `NaN` and its kin are
mistakes, halves of surrogate pairs are not, and a number keeps whether it was written `4` or `4.0`
(the latter is no integer to Go).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Final, NoReturn

from podium.golang.json_syntax import UNEXPECTED_END, find_syntax_problem
from podium.golang.json_values import DecodedValue

_SPACE: Final = re.compile(r"[ \t\r\n]*")

Pairs = list[tuple[str, DecodedValue]]


class JSONSyntaxError(ValueError):
    """The text is not JSON; the message is Go's. `ended`: it was right as far as it went."""

    def __init__(self, message: str, line: int | None = None, *, ended: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.ended = ended


class _NoConstant(ValueError):
    """`NaN` and its kin, which Python takes for numbers."""


class WrittenFloat(float):
    """A number with a point or an exponent, and how it was written."""

    text: str

    def __new__(cls, text: str) -> "WrittenFloat":
        number = super().__new__(cls, text)
        number.text = text
        return number


class RepeatedMembers(dict[str, DecodedValue]):
    """An object in which a member occurs twice; `pairs` has them all, in order."""

    def __init__(self, pairs: Pairs) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def completed(self, **members: str) -> "RepeatedMembers":
        """The same with members that it lacks."""
        added = ((name, value) for name, value in members.items() if not self.get(name))
        return RepeatedMembers([*self.pairs, *added])

    @property
    def repeated(self) -> tuple[str, ...]:
        """The names of those members."""
        times = Counter(name for name, _ in self.pairs)
        return tuple(name for name, count in times.items() if count > 1)


def keep_repeated(pairs: Pairs) -> dict[str, DecodedValue]:
    """An object of its members: for `objects` of those who want to know of repeated ones."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else RepeatedMembers(pairs)


def find_repeated(text: str) -> DecodedValue:
    """The value of a sound text if some object in it has a member twice; otherwise None.

    Raises ValueError or RecursionError for what Python cannot read."""
    try:
        _REPEATED.decode(text)
    except _RepeatedError:
        return _KEEPING_REPEATED.decode(text)
    return None


class _RepeatedError(Exception):
    """A member occurs twice in an object."""


def _refuse_repeated(pairs: Pairs) -> None:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _RepeatedError


_REPEATED: Final = json.JSONDecoder(object_pairs_hook=_refuse_repeated)
_KEEPING_REPEATED: Final = json.JSONDecoder(object_pairs_hook=keep_repeated)


def read_whole(text: str, objects: Callable[[Pairs], object] | None = None) -> DecodedValue:
    """The value that the text is; `objects` makes one of an object's members. May be deep enough
    to end in a RecursionError."""
    try:
        return _decoder(objects).decode(text)
    except (json.JSONDecodeError, _NoConstant):
        raise _mistake(text) from None


def read_first(text: str, objects: Callable[[Pairs], object] | None = None) -> DecodedValue:
    """The value that the text begins with, whatever follows it."""
    start = _SPACE.match(text)
    try:
        value, _ = _decoder(objects).raw_decode(text, start.end() if start else 0)
    except (json.JSONDecodeError, _NoConstant):
        raise _mistake(text, first_only=True) from None
    return value


def mended(text: str) -> str:
    """A string without halves of surrogate pairs, for which Go puts U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend_halves(value: DecodedValue) -> DecodedValue:
    """The same for all strings in a value."""
    match value:
        case str():
            return mended(value)
        case RepeatedMembers():
            return RepeatedMembers(
                [(mended(key), mend_halves(inner)) for key, inner in value.pairs]
            )
        case dict():
            return {mended(key): mend_halves(inner) for key, inner in value.items()}
        case list():
            return [mend_halves(inner) for inner in value]
    return value


def members(value: Mapping[str, DecodedValue]) -> Collection[tuple[str, DecodedValue]]:
    """The members of an object in their order, those that occur twice included."""
    return value.pairs if isinstance(value, RepeatedMembers) else value.items()


def _decoder(objects: Callable[[Pairs], object] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=objects,
        parse_float=WrittenFloat,
        parse_int=_integer,
        parse_constant=_refuse_constant,
    )


def _integer(text: str) -> int | float:
    # No field takes so many digits, and Python refuses to convert thousands of them.
    return int(text) if len(text) < 100 else WrittenFloat(text)


def _refuse_constant(_: str) -> NoReturn:
    raise _NoConstant


def _mistake(text: str, *, first_only: bool = False) -> JSONSyntaxError:
    """What Go would say of a text that Python's decoder refused."""
    written = text.encode("utf-8", "surrogateescape")
    problem = find_syntax_problem(written, first_only=first_only)
    if problem is None:
        return JSONSyntaxError("this is JSON to Go, and not to Python")
    line = written.count(b"\n", 0, problem.place) + 1
    return JSONSyntaxError(problem.message, line, ended=problem.message == UNEXPECTED_END)

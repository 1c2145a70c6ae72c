"""JSON as Go's encoding/json reads it, and its mistakes in Go's words.

Configurations, extenders and clients of an API server all meet texts that Go programs read before
Podium did. Python's decoder accepts and refuses the same texts with few exceptions, which are
settled here: what it refuses is told in Go's words, `NaN` and its kin are
mistakes, halves of surrogate pairs are not, and a number keeps whether it was written `4` or `4.0`
(the latter is no integer to Go).

Says what is wrong with a text that is no JSON, as Go's decoder says it. The texts reach users
through kubectl, client libraries and logs of schedulers, and operators know them by heart. Reading
itself is done by a fast decoder; only when that one gives up is the text walked through here, once
and without recursion.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple, NoReturn, Protocol

from podium.golang.json_values import DecodedValue
from podium.golang.quoting import go_quote

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

    def with_members(self, **members: str) -> "RepeatedMembers":
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


def mend_surrogates(text: str) -> str:
    """A string without halves of surrogate pairs, for which Go puts U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def mend_halves(value: DecodedValue) -> DecodedValue:
    """The same for all strings in a value."""
    match value:
        case str():
            return mend_surrogates(value)
        case RepeatedMembers():
            return RepeatedMembers(
                [(mend_surrogates(key), mend_halves(inner)) for key, inner in value.pairs]
            )
        case dict():
            return {mend_surrogates(key): mend_halves(inner) for key, inner in value.items()}
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


UNEXPECTED_END: Final = "unexpected end of JSON input"
_SPACES: Final = re.compile(rb"[ \t\r\n]*+")
_MORE_DIGITS: Final = re.compile(rb"[0-9]*+")
_SOUND_TEXT: Final = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,1000}')
"""What of a text needs no look of its own, in parts; the first character after the last part may be
wrong. Remembering how a part can be given back takes 200 bytes, hence a limit. A possessive group
would need none, but Python before 3.11.5 goes on behind the beginning of what did not match."""
_DIGITS: Final = b"0123456789"
_HEX: Final = b"0123456789abcdefABCDEF"
_MAX_DEPTH: Final = 10_000


class SyntaxProblem(NamedTuple):
    """What Go finds wrong, and with which byte."""

    message: str
    place: int


class _Stop(Exception):
    """The walk is over: this is what was found."""


def find_syntax_problem(text: bytes, *, first_only: bool = False) -> SyntaxProblem | None:
    """The first mistake; with `first_only` whatever follows the first value is not looked at."""
    walk = _Walk(text, first_only=first_only)
    try:
        walk.run()
    except _Stop as found:
        return SyntaxProblem(str(found), walk.place)
    return None


def syntax_error(text: bytes) -> str:
    """What Go finds wrong; an empty text if it finds nothing."""
    problem = find_syntax_problem(text)
    return problem.message if problem else ""


def json_type(value: object) -> str:
    """What Go calls the type of a JSON value in its errors."""
    match value:
        case dict():
            return "object"
        case list():
            return "array"
        case str():
            return "string"
        case bool():
            return "bool"
        case None:
            return "null"
        case _:
            return "number"


class _Step(Protocol):
    """Looks at the next character, takes what it can, and says which step comes next."""

    def __call__(self, character: int) -> "_Step": ...


class _Walk:
    def __init__(self, text: bytes, *, first_only: bool = False) -> None:
        self._text = text
        self._first_only = first_only
        self.place = 0
        self._open: list[int] = []

    def run(self) -> None:
        step: _Step = self._value
        while True:
            self._skip(_SPACES)
            if step == self._after and not self._open:
                if self.place < len(self._text) and not self._first_only:
                    raise self._stop_at_unexpected("after top-level value")
                return
            step = step(self._character())

    def _value(self, character: int) -> "_Step":
        if character in b"{[":
            self._open.append(character)
            if len(self._open) > _MAX_DEPTH:
                raise _Stop("exceeded max depth")
            self.place += 1
            return self._first_key if character == b"{"[0] else self._first_item
        if character == b'"'[0]:
            self._string()
        elif character == b"-"[0] or character in _DIGITS:
            self._number()
        elif character in b"tfn":
            self._literal({b"t"[0]: b"true", b"f"[0]: b"false", b"n"[0]: b"null"}[character])
        else:
            raise self._stop_at_unexpected("looking for beginning of value")
        return self._after

    def _first_item(self, character: int) -> "_Step":
        return self._close() if character == b"]"[0] else self._value(character)

    def _first_key(self, character: int) -> "_Step":
        return self._close() if character == b"}"[0] else self._key(character)

    def _key(self, character: int) -> "_Step":
        if character != b'"'[0]:
            raise self._stop_at_unexpected("looking for beginning of object key string")
        self._string()
        return self._colon

    def _colon(self, character: int) -> "_Step":
        if character != b":"[0]:
            raise self._stop_at_unexpected("after object key")
        self.place += 1
        return self._value

    def _after(self, character: int) -> "_Step":
        in_object = self._open[-1] == b"{"[0]
        if character == b","[0]:
            self.place += 1
            return self._key if in_object else self._value
        if character == (b"}" if in_object else b"]")[0]:
            return self._close()
        raise self._stop_at_unexpected(
            "after object key:value pair" if in_object else "after array element"
        )

    def _close(self) -> "_Step":
        self._open.pop()
        self.place += 1
        return self._after

    def _string(self) -> None:
        self.place += 1
        while found := _SOUND_TEXT.match(self._text, self.place):
            self.place = found.end()
        character = self._character()
        if character == b'"'[0]:
            self.place += 1
            return
        if character < 0x20:
            raise self._stop_at_unexpected("in string literal")
        self.place += 1
        self._escape()

    def _escape(self) -> None:
        character = self._character()
        if character == b"u"[0]:
            self.place += 1
            for _ in range(4):
                if self._character() not in _HEX:
                    raise self._stop_at_unexpected("in \\u hexadecimal character escape")
                self.place += 1
        elif character in b'bfnrt\\/"':
            self.place += 1
        else:
            raise self._stop_at_unexpected("in string escape code")

    def _number(self) -> None:
        if self._text[self.place] == b"-"[0]:
            self.place += 1
            if self._character() not in _DIGITS:
                raise self._stop_at_unexpected("in numeric literal")
        if self._text[self.place] == b"0"[0]:
            self.place += 1
        else:
            self._skip(_MORE_DIGITS)
        if self._at(b"."):
            self.place += 1
            if self._character() not in _DIGITS:
                raise self._stop_at_unexpected("after decimal point in numeric literal")
            self._skip(_MORE_DIGITS)
        if self._at(b"eE"):
            self.place += 1
            if self._character() in b"+-":
                self.place += 1
            if self._character() not in _DIGITS:
                raise self._stop_at_unexpected("in exponent of numeric literal")
            self._skip(_MORE_DIGITS)

    def _literal(self, word: bytes) -> None:
        for expected in word:
            if self._character() != expected:
                raise self._stop_at_unexpected(
                    f"in literal {word.decode()} (expecting '{chr(expected)}')"
                )
            self.place += 1

    def _character(self) -> int:
        if self.place >= len(self._text):
            raise _Stop(UNEXPECTED_END)
        return self._text[self.place]

    def _at(self, characters: bytes) -> bool:
        return self.place < len(self._text) and self._text[self.place] in characters

    def _skip(self, pattern: re.Pattern[bytes]) -> None:
        found = pattern.match(self._text, self.place)
        if found is not None:
            self.place = found.end()

    def _stop_at_unexpected(self, where: str) -> _Stop:
        character = chr(self._text[self.place])
        shown = {"'": "\\'", '"': '"'}.get(character) or go_quote(character)[1:-1]
        return _Stop(f"invalid character '{shown}' {where}")

"""Selectors as they are written in a query, of labels and of fields.

Reads a label selector as it is written in a query: `app in (a,b),!old,tier=web`.

The grammar and the texts of its errors are apimachinery's (`pkg/labels/selector.go`), because
people meet them in kubectl. What comes out is the same `Selector` that LabelSelector objects give.

Reads a field selector as it is written in a query: `spec.nodeName=n1,status.phase!=Running`.
Commas, equal signs and backslashes in values are escaped with a backslash. The texts of errors are
apimachinery's (`pkg/fields/selector.go`). Which fields a resource can be selected by is not known
here: the terms are matched by `selectable`.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from podium.kubernetes.rules.field_errors import aggregate, invalid
from podium.kubernetes.rules.labels import (
    DOES_NOT_EXIST,
    EVERYTHING,
    EXISTS,
    GREATER,
    IN,
    LESS,
    NOT_IN,
    Requirement,
    Selector,
    SelectorError,
    key_problems,
    requirement_problems,
)

_SYMBOLS: Final = frozenset("=!(),><")
_WORD_FORM: Final = re.compile(r"[^=!(),>< \t\r\n]+")
_TOKENS: Final = frozenset((")", ",", "!", "==", "=", ">", "<", "!=", "("))
_END: Final = "end"
_WORD: Final = "word"
_WRONG: Final = "wrong"
_OPERATORS: Final = {
    "in": IN,
    "notin": NOT_IN,
    "=": IN,
    "==": IN,
    "!=": NOT_IN,
    ">": GREATER,
    "<": LESS,
}
_KNOWN_OPERATORS: Final = "in, notin, =, ==, !=, gt, lt"


MAX_REQUIREMENTS: Final = 1000
"""Each is asked of every object of a collection."""
MAX_TOKENS: Final = 100_000


class _Token(NamedTuple):
    kind: str
    """A symbol, `word`, `end` or `wrong`."""
    text: str


def parse_label_selector(text: str) -> Selector:
    """The selector that a query writes; SelectorError with upstream's text if it is malformed."""
    requirements = _Parser(_tokens(text)).requirements()
    return Selector(requirements) if requirements else EVERYTHING


def _tokens(text: str) -> Iterator[_Token]:
    """One after the other as they are requested: nothing is read behind a mistake."""
    place, size, count = 0, len(text), 0
    while place < size:
        count += 1
        if count > MAX_TOKENS:
            raise SelectorError(f"exceeded max number of tokens ({MAX_TOKENS})")
        found = _WORD_FORM.match(text, place)
        if found is not None:
            yield _Token(_WORD, found[0])
            place = found.end()
        elif text[place] in _SYMBOLS:
            token, place = _symbol(text, place)
            yield token
        else:
            place += 1


def _symbol(text: str, place: int) -> tuple[_Token, int]:
    """The longest known symbol that starts at a place."""
    known = ""
    last = place
    while last < len(text) and text[last] in _SYMBOLS:
        taken = text[place : last + 1]
        if taken in _TOKENS:
            known = taken
        elif known:
            break
        last += 1
    if known:
        return _Token(known, known), last
    return _Token(_WRONG, f"error expected: keyword found '{text[place:last]}'"), last


class _Parser:
    def __init__(self, tokens: Iterator[_Token]) -> None:
        self._tokens = tokens
        self._ahead: _Token | None = None

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while True:
            token = self._next()
            if token.kind == _END:
                return found
            if token.kind not in (_WORD, "!"):
                raise SelectorError(
                    f"found '{token.text}', expected: !, identifier, or 'end of string'"
                )
            if len(found) == MAX_REQUIREMENTS:
                raise SelectorError(f"exceeded max number of requirements ({MAX_REQUIREMENTS})")
            try:
                found.append(self._requirement())
            except SelectorError as problem:
                raise SelectorError(f"unable to parse requirement: {problem}") from None
            token = self._take()
            if token.kind == _END:
                return found
            if token.kind != ",":
                raise SelectorError(f"found '{token.text}', expected: ',' or 'end of string'")
            following = self._next()
            if following.kind not in (_WORD, "!"):
                raise SelectorError(f"found '{following.text}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        token = self._take()
        absent = token.kind == "!"
        if absent:
            token = self._take()
        if token.kind != _WORD:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        key = token.text
        problems = key_problems(key)
        if problems:
            # upstream: the path of the key is a nil pointer here.
            raise SelectorError(str(invalid("<nil>", key, "; ".join(problems))))
        if absent:
            return _check_requirement(key, DOES_NOT_EXIST, [])
        if self._next().kind in (_END, ","):
            return _check_requirement(key, EXISTS, [])
        return self._comparison(key)

    def _comparison(self, key: str) -> Requirement:
        token = self._take()
        operator = _OPERATORS.get(token.text) if token.kind != _WRONG else None
        if operator is None:
            raise SelectorError(f"found '{token.text}', expected: {_KNOWN_OPERATORS}")
        if token.text in ("in", "notin"):
            return _check_requirement(key, operator, sorted(self._values()))
        return _check_requirement(key, operator, [self._value()])

    def _value(self) -> str:
        if self._next().kind in (_END, ","):
            return ""
        token = self._take()
        if token.kind != _WORD:
            raise SelectorError(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> set[str]:
        token = self._take()
        if token.kind != "(":
            raise SelectorError(f"found '{token.text}' expected: '('")
        token = self._next()
        if token.kind == ")":
            self._take()
            return {""}
        if token.kind not in (_WORD, ","):
            raise SelectorError(f"found '{token.text}', expected: ',', ')' or identifier")
        values = self._parse_values()
        self._take()
        return values

    def _parse_values(self) -> set[str]:
        """The values up to a closing parenthesis; missing ones are empty texts."""
        values: set[str] = set()
        while True:
            token = self._take()
            if token.kind == _WORD:
                values.add(token.text)
                following = self._next()
                if following.kind == ")":
                    return values
                if following.kind != ",":
                    raise SelectorError(f"found '{following.text}', expected: ',' or ')'")
            elif token.kind == ",":
                if not values:
                    values.add("")
                if self._next().kind == ")":
                    values.add("")
                    return values
                if self._next().kind == ",":
                    self._take()
                    values.add("")
            else:
                raise SelectorError(f"found '{token.text}', expected: ',', or identifier")

    def _next(self) -> _Token:
        if self._ahead is None:
            self._ahead = next(self._tokens, _Token(_END, ""))
        return self._ahead

    def _take(self) -> _Token:
        token = self._next()
        self._ahead = None
        return token


def _check_requirement(key: str, operator: str, values: list[str]) -> Requirement:
    problems = requirement_problems(key, operator, values)
    if problems:
        raise SelectorError(aggregate(problems))
    return Requirement(key, operator, frozenset(values))


_ESCAPED: Final = frozenset("\\,=")
_FIELD_OPERATORS: Final = ("!=", "==", "=")
MAX_TERMS: Final = 1000
"""Each is asked of every object of a collection."""


class FieldSelectorError(ValueError):
    """A field selector that cannot be read, or names a field that cannot be selected by."""


class FieldTerm(NamedTuple):
    """A field equals a value, or does not."""

    field: str
    equal: bool
    value: str


def parse_field_selector(text: str) -> tuple[FieldTerm, ...]:
    """The terms of a selector, all of which must hold."""
    terms: list[FieldTerm] = []
    parts = _split(text)
    if len(parts) > MAX_TERMS:
        raise FieldSelectorError(f"invalid selector: exceeded max number of terms ({MAX_TERMS})")
    for part in sorted(parts):
        if not part:
            continue
        found = _term(part)
        if found is None:
            raise FieldSelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        terms.append(found)
    return tuple(terms)


def _split(text: str) -> list[str]:
    """The parts between commas that no backslash protects."""
    parts: list[str] = []
    first = place = 0
    while place < len(text):
        if text[place] == "\\":
            place += 2
            continue
        if text[place] == ",":
            parts.append(text[first:place])
            first = place + 1
        place += 1
    parts.append(text[first:])
    return parts


def _term(part: str) -> FieldTerm | None:
    for place in range(len(part)):
        for operator in _FIELD_OPERATORS:
            if part.startswith(operator, place):
                value = _unescape_text(part[place + len(operator) :])
                return FieldTerm(part[:place], operator != "!=", value)
    return None


def _unescape_text(text: str) -> str:
    if "\\" not in text and "=" not in text:
        return text
    out: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if character == "\\":
            following = text[place + 1 : place + 2]
            if following not in _ESCAPED or not following:
                raise FieldSelectorError(
                    f"invalid field selector: invalid escape sequence: \\{following}"
                )
            out.append(following)
            place += 2
        elif character in _ESCAPED:
            raise FieldSelectorError(
                f"invalid field selector: unescaped character in value: {character}"
            )
        else:
            out.append(character)
            place += 1
    return "".join(out)

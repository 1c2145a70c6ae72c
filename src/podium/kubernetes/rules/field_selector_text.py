"""Reads a field selector as it is written in a query: `spec.nodeName=n1,status.phase!=Running`.

Commas, equal signs and backslashes in values are escaped with a backslash. The texts of errors are
apimachinery's (`pkg/fields/selector.go`). Which fields a resource can be selected by is not known
here: the terms are matched by `selectable`.
"""

from typing import Final, NamedTuple

_ESCAPED: Final = frozenset("\\,=")
_OPERATORS: Final = ("!=", "==", "=")
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
        for operator in _OPERATORS:
            if part.startswith(operator, place):
                value = _unescaped(part[place + len(operator) :])
                return FieldTerm(part[:place], operator != "!=", value)
    return None


def _unescaped(text: str) -> str:
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

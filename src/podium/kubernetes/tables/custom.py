r"""Tables of custom resources, from the columns that their definitions name.

The paths by which definitions of custom resources name a field: a small part of JSONPath.

    .spec.minMember                             a field below a field
    .metadata.labels['app.kubernetes.io/name']  a key with dots; `\.` works too
    .status.conditions[0].type                  an item of a list, from the end if negative
    .status.addresses[*].ip                     all items
    .status.conditions[?(@.type=="Ready")].status   the items for which the comparison holds

Contract: `find` gives everything a path leads to, in order; a missing field leads nowhere. A path
that cannot be read raises JsonPathError.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_value
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.tables.printer import age, column, name_of, seconds_or_none

_AGE_ONLY: Final[tuple[JsonObject, ...]] = (
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
)


def custom_printer(additional_columns: Sequence[JsonObject] | None) -> Printer:
    """The printer of a version with these `additionalPrinterColumns`; without any: name and age.

    upstream: columns behind one whose path cannot be read are not shown.
    """
    columns = [column("Name", form="name")]
    readers: list[tuple[str, JsonPath]] = []
    for definition in additional_columns or _AGE_ONLY:
        try:
            path = JsonPath(definition.get("jsonPath") or "")
        except JsonPathError:
            break
        kind = definition.get("type") or ""
        shown = column(
            definition.get("name") or "",
            kind,
            definition.get("format") or "",
            definition.get("priority") or 0,
        )
        path_text = definition.get("jsonPath") or ""
        shown["description"] = (
            definition.get("description")
            or f"Custom resource definition column (in JSONPath format): {path_text}"
        )
        columns.append(shown)
        readers.append((kind, path))

    def cells(obj: JsonObject, now: float) -> Cells:
        return [name_of(obj), *(_cell(kind, path.find(obj), now) for kind, path in readers)]

    return Printer(columns, cells)


def _cell(kind: str, found: list[JsonValue], now: float) -> JsonValue:
    if not found:
        return None
    value = found[0]
    if kind == "string":
        return _text(value)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if kind == "integer":
        return None if number is None else int(number)
    if kind == "number":
        return number
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if kind == "date" and isinstance(value, str):
        return age(value, now) if seconds_or_none(value) is not None else "<invalid>"
    return None


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    return go_json(value) if isinstance(value, dict | list) else go_value(value)


Step = Callable[[JsonValue], Iterable[JsonValue]]

_FIELD: Final = re.compile(r"\.((?:[^.\[\]\\]|\\.)+)")
_KEY: Final = re.compile(r"\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_INDEX: Final = re.compile(r"\[(-?[0-9]{1,18})\]")
_ALL: Final = re.compile(r"\[\*\]|\.\*")
_FILTER: Final = re.compile(
    r"\[\?\(\s*+@((?:\.(?:[^.\[\]\\=!<>\s)]|\\.)++)++)\s*+(?:(?P<operator>==|!=)(?P<operand>[^)]++))?\)\]"
)
_ESCAPE: Final = re.compile(r"\\(.)")
_MAX_STEPS: Final = 200
"""Beyond what objects nest: what is behind so many steps is found in none."""


class JsonPathError(ValueError):
    """A text that is no path of this sort."""


class JsonPath:
    """A path, read once."""

    def __init__(self, written: str) -> None:
        text = written.strip().removeprefix("{").removesuffix("}").removeprefix("$")
        if _PATH.fullmatch(text) is None:
            raise JsonPathError(f"unrecognized column definition {json.dumps(written)}")
        for match in _UP_TO_FILTER.finditer(text):
            if match["operand"] is not None:
                _literal(match["operand"])
        self._steps = tuple(islice(_steps(text), _MAX_STEPS))

    def find(self, value: JsonValue) -> list[JsonValue]:
        found = [value]
        for step in self._steps:
            found = [result for each in found for result in step(each)]
            if not found:
                break
        return found


def _steps(text: str) -> Iterator[Step]:
    place = 0
    while place < len(text):
        match, make = next(
            (match, make)
            for pattern, make in _READERS
            if (match := pattern.match(text, place)) is not None
        )
        yield make(match)
        place = match.end()


def _field(match: re.Match[str]) -> Step:
    return _of_key(_ESCAPE.sub(r"\1", match[1]))


def _key(match: re.Match[str]) -> Step:
    return _of_key(_ESCAPE.sub(r"\1", match[1] if match[1] is not None else match[2]))


def _of_key(key: str) -> Step:
    def step(value: JsonValue) -> Iterable[JsonValue]:
        return [value[key]] if isinstance(value, dict) and key in value else []

    return step


def _index(match: re.Match[str]) -> Step:
    index = int(match[1])

    def step(value: JsonValue) -> Iterable[JsonValue]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            return [value[index]]
        return []

    return step


def _all(_match: re.Match[str]) -> Step:
    def step(value: JsonValue) -> Iterable[JsonValue]:
        if isinstance(value, list):
            return value
        return value.values() if isinstance(value, dict) else []

    return step


def _filter(match: re.Match[str]) -> Step:
    path, operator, operand = JsonPath(match[1]), match["operator"], match["operand"]
    wanted = _literal(operand) if operand is not None else None

    def holds(item: JsonValue) -> bool:
        found = path.find(item)
        if operator is None:
            return bool(found)
        return bool(found) and (found[0] == wanted) == (operator == "==")

    def step(value: JsonValue) -> Iterable[JsonValue]:
        return [item for item in value if holds(item)] if isinstance(value, list) else []

    return step


def _literal(written: str) -> JsonValue:
    text = written.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    try:
        literal: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        raise JsonPathError(f"cannot compare with {text}") from None
    return literal


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Step]], ...]] = (
    (_ALL, _all),
    (_FIELD, _field),
    (_KEY, _key),
    (_INDEX, _index),
    (_FILTER, _filter),
)

# Atomic and possessive: each step is what the first reader that fits makes of it, and a path is
# looked at in time that grows with its length.
_PLAIN_STEPS: Final = "|".join(each.pattern for each in (_ALL, _FIELD, _KEY, _INDEX))
_UP_TO_FILTER: Final = re.compile(rf"(?>{_PLAIN_STEPS})*+(?:{_FILTER.pattern}|\Z)")
_PATH: Final = re.compile(rf"(?>{_PLAIN_STEPS}|{_FILTER.pattern})*+")

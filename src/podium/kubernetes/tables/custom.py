"""Tables of custom resources, from the columns that their definitions name."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_value
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.tables.ages import age, seconds_or_none
from podium.kubernetes.tables.json_path import JsonPath, JsonPathError
from podium.kubernetes.tables.printer import column, name_of

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

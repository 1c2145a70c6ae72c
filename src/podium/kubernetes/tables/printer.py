"""What printers are made of: columns, and what the cells of many kinds show alike."""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.ages import age

NONE: Final = "<none>"
UNSET: Final = "<unset>"


def column(name: str, kind: str = "string", form: str = "", priority: int = 0) -> JsonObject:
    """A column definition; those of priority 1 are shown with `-o wide` only."""
    return {"name": name, "type": kind, "format": form, "description": "", "priority": priority}


def columns_of(*names: str, wide: Sequence[str] = ()) -> list[JsonObject]:
    """Columns of texts, the first of which is the object's name.

    A type may follow a name after a colon: `Value:integer`.
    """
    definitions: list[JsonObject] = []
    for priority, group in enumerate((names, wide)):
        for written in group:
            name, _, kind = written.partition(":")
            form = "name" if name == "Name" and not definitions else ""
            definitions.append(column(name, kind or "string", form, priority))
    return definitions


def name_of(obj: JsonObject) -> str:
    return str((obj.get("metadata") or {}).get("name") or "")


def age_of(obj: JsonObject, now: float) -> str:
    return age((obj.get("metadata") or {}).get("creationTimestamp"), now)


def spec_of(obj: JsonObject) -> JsonObject:
    return obj.get("spec") or {}


def status_of(obj: JsonObject) -> JsonObject:
    return obj.get("status") or {}


def is_terminating(obj: JsonObject) -> bool:
    return bool((obj.get("metadata") or {}).get("deletionTimestamp"))


def labels_text(labels: JsonObject | None) -> str:
    """Labels or a selector by labels: `a=b,c=d`."""
    text = ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items()))
    return text or NONE


def _created_at(obj: JsonObject, _now: float) -> Cells:
    return [name_of(obj), (obj.get("metadata") or {}).get("creationTimestamp")]


GENERIC: Final = Printer([column("Name", form="name"), column("Created At", "date")], _created_at)
"""For kinds that nobody wrote a printer for."""

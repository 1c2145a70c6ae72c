"""What printers are made of: columns, and what the cells of many kinds show alike.

How long ago something was, as people like to read it. Two units at most, coarser the longer it is
ago: `95s`, `2m5s`, `3h10m`, `47h`, `3d2h`, `2y10d`.
"""

from collections.abc import Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.rules.timestamps import seconds_of

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


UNKNOWN: Final = "<unknown>"

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY_H: Final = 24
_YEAR_D: Final = 365


def seconds_or_none(timestamp: str) -> float | None:
    """The time that an object wrote, in seconds since the epoch; None if it wrote none."""
    try:
        return seconds_of(timestamp)
    except ValueError:
        return None


def age(timestamp: str | None, now: float) -> str:
    """How long ago a time of an object was."""
    if not timestamp:
        return UNKNOWN
    then = seconds_or_none(timestamp)
    return UNKNOWN if then is None else human_duration(now - then)


def human_duration(duration_s: float) -> str:
    """A length of time; clocks that differ by less than two seconds count as none."""
    seconds = int(duration_s)
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    minutes = seconds // _MINUTE
    if minutes < 10:
        return _two(minutes, "m", seconds % _MINUTE, "s")
    if minutes < 180:
        return f"{minutes}m"
    hours = seconds // _HOUR
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 2 * _DAY_H:
        return f"{hours}h"
    days = hours // _DAY_H
    if days < 8:
        return _two(days, "d", hours % _DAY_H, "h")
    if days < 2 * _YEAR_D:
        return f"{days}d"
    if days < 8 * _YEAR_D:
        return _two(days // _YEAR_D, "y", days % _YEAR_D, "d")
    return f"{days // _YEAR_D}y"


def _two(large: int, unit: str, small: int, small_unit: str) -> str:
    return f"{large}{unit}{small}{small_unit}" if small else f"{large}{unit}"

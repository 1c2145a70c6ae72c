"""Events: `events.k8s.io` and the core group have one collection, stored in the core form.

The newer form has other names for the same fields and calls those that only the older one has
deprecated.
"""

from collections.abc import Mapping
from typing import Final

from podium.golang.json_values import JsonObject

_NEWER_NAMES: Final[Mapping[str, str]] = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_OLDER_NAMES: Final = {newer: older for older, newer in _NEWER_NAMES.items()}


def as_new_event(value: JsonObject) -> JsonObject:
    """An event of the core group as `events.k8s.io` shows it."""
    newer = _rename_fields(value, _NEWER_NAMES)
    for field in ("reportingController", "reportingInstance"):
        if newer.get(field) == "":  # only the core form writes empty ones
            del newer[field]
    return newer


def as_core_event(value: JsonObject) -> JsonObject:
    """An event of `events.k8s.io` as the core group has it."""
    older = _rename_fields(value, _OLDER_NAMES)
    # What the core form always has.
    older.setdefault("source", {})
    older.setdefault("firstTimestamp", None)
    older.setdefault("lastTimestamp", None)
    older.setdefault("reportingComponent", "")
    older.setdefault("reportingInstance", "")
    return older


def _rename_fields(value: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {names.get(key, key): item for key, item in value.items()}

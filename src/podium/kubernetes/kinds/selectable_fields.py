"""Readers of the fields by which objects are selected.

Fields that are absent read as the text that Go's zero value gives.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import ReadField

_EMPTY: Final[JsonObject] = {}


def read_text(path: str, absent: str = "") -> ReadField:
    """Reads the field at a path such as `spec.nodeName`."""
    *parents, last = path.split(".")

    def read(value: JsonObject) -> str:
        for name in parents:
            value = value.get(name) or _EMPTY
        found = value.get(last)
        if found is None:
            return absent
        if isinstance(found, str):
            return found
        if isinstance(found, bool):
            return "true" if found else "false"
        return str(found)

    return read


def read_texts(*paths: str) -> dict[str, ReadField]:
    return {path: read_text(path) for path in paths}


def _read_reporter(event: JsonObject) -> str:
    source = event.get("source") or _EMPTY
    component: str = source.get("component") or ""
    return component or event.get("reportingComponent") or ""


EVENT_FIELDS: Final = {
    **read_texts(
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "type",
    ),
    "source": _read_reporter,
}
"""Of events of both groups, which are one collection."""

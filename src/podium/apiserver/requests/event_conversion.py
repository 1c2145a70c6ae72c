"""Resources that show the objects of another resource in a form of their own.

Only events do: `events.k8s.io` and the core group have one collection, stored in the core form.
The newer form has other names for the same fields and calls those that only the older one has
deprecated.
"""

from collections.abc import Mapping
from typing import Final

from podium.api.json_values import JsonObject
from podium.apiserver.resources.resource import Resource

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


def storage_name(resource: Resource) -> str:
    """The collection in which the objects of a resource are kept."""
    return "events" if has_own_form(resource) else resource.group_resource


def has_own_form(resource: Resource) -> bool:
    return resource.group == "events.k8s.io" and resource.plural == "events"


def shown(resource: Resource, value: JsonObject) -> JsonObject:
    """A stored object in the form of a resource."""
    if not has_own_form(resource):
        return value
    newer = _renamed(value, _NEWER_NAMES)
    for field in ("reportingController", "reportingInstance"):
        if newer.get(field) == "":  # only the core form writes empty ones
            del newer[field]
    return newer


def kept(resource: Resource, value: JsonObject) -> JsonObject:
    """An object of a resource in the form in which it is stored."""
    if not has_own_form(resource):
        return value
    older = _renamed(value, _OLDER_NAMES)
    # What the core form always has.
    older.setdefault("source", {})
    older.setdefault("firstTimestamp", None)
    older.setdefault("lastTimestamp", None)
    older.setdefault("reportingComponent", "")
    older.setdefault("reportingInstance", "")
    return older


def _renamed(value: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {names.get(key, key): item for key, item in value.items()}

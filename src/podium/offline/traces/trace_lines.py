"""The format of cluster traces: gzip of JSON, a line each.

The first line is the header; it has Podium's `apiVersion` and the kind ClusterTrace. Then come the
objects that were there, a line `snapshot` when they are complete, and what happened from then on in
the order in which it was seen. `at` is in seconds since the recording began; what is before the
line `snapshot` counts as there at its time.

    zcat night.podium | head -3
    {"apiVersion":"podium/v1","kind":"ClusterTrace","startedAt":"2026-03-01T22:00:00Z",...}
    {"event":"put","at":0.041,"resource":"nodes","object":{...}}
    {"event":"put","at":0.044,"resource":"pods","object":{...}}

An object that changes is written as a JSON merge patch where that can tell it, and whole where not.
Contract: within `podium/v1` fields are added and never renamed; a reader that meets an event or a
version that it does not know refuses the trace.
"""

from typing import Final

import msgspec

from podium.golang.json_values import JsonObject, JsonValue
from podium.net.files.versioned_documents import API_VERSION

KIND: Final = "ClusterTrace"
MAX_LINE_BYTES: Final = 16 << 20
"""An object of an API server has 1.5 MiB at most, and less of it is written."""


class TraceHeader(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True):
    """`resources` are recorded, `unread` are not, and why."""

    api_version: str = ""
    kind: str = ""
    started_at: str = ""
    podium: str = ""
    resources: tuple[str, ...] = ()
    unread: dict[str, str] = {}


class Put(msgspec.Struct, tag_field="event", tag="put", frozen=True):
    """An object is there, or has changed."""

    at: float
    resource: str
    object: JsonObject


class Patch(msgspec.Struct, tag_field="event", tag="patch", omit_defaults=True, frozen=True):
    """An object has changed; `patch` is a JSON merge patch."""

    at: float
    resource: str
    name: str
    patch: JsonObject
    namespace: str = ""


class Delete(msgspec.Struct, tag_field="event", tag="delete", omit_defaults=True, frozen=True):
    """An object is gone, or a pod has finished. `unseen` is what a list lacked after nobody had
    watched."""

    at: float
    resource: str
    name: str
    namespace: str = ""
    unseen: bool = False


class SnapshotEnd(msgspec.Struct, tag_field="event", tag="snapshot", frozen=True):
    """All that was there at the beginning has been written."""

    at: float


class Gap(msgspec.Struct, tag_field="event", tag="gap", frozen=True):
    """A resource could not be followed from here on."""

    at: float
    resource: str


class Resumed(msgspec.Struct, tag_field="event", tag="resumed", frozen=True):
    """It is followed again; what happened meanwhile is written at the time when it was learnt."""

    at: float
    resource: str


class Relisted(msgspec.Struct, tag_field="event", tag="relisted", frozen=True):
    """The server had forgotten where the watch was; the lines after this one are what differs."""

    at: float
    resource: str


class End(msgspec.Struct, tag_field="event", tag="end", frozen=True):
    """The recording was ended as it should be; `reason` is duration, size or signal."""

    at: float
    reason: str


TraceLine = Put | Patch | Delete | SnapshotEnd | Gap | Resumed | Relisted | End


def make_header(
    started_at: str, podium: str, resources: tuple[str, ...], unread: dict[str, str]
) -> TraceHeader:
    return TraceHeader(API_VERSION, KIND, started_at, podium, resources, unread)


def diff_objects(old: JsonObject, new: JsonObject) -> JsonObject | None:
    """The merge patch from one to the other; None if none can tell it."""
    patch: JsonObject = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if key in old and before == value:
            continue
        if _holds_null(value):
            return None
        if isinstance(before, dict) and isinstance(value, dict):
            inner = diff_objects(before, value)
            if inner is None:
                return None
            patch[key] = inner
        else:
            patch[key] = value
    return patch


def _holds_null(value: JsonValue) -> bool:
    """Whether there is a null, which a merge patch takes for a removal."""
    if isinstance(value, dict):
        return any(_holds_null(each) for each in value.values())
    if isinstance(value, list):
        return any(_holds_null(each) for each in value)
    return value is None

"""The entries of `managedFields`: read from an object, changed, written back.

A writer is told from others by its name, what it does (Update or Apply), the subresource it writes
to, and for updates the API version. Entries are written sorted by operation, time and name. More
than ten updaters are too many: the oldest are put together as `ancient-changes`.
"""

import json
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from podium.apiserver.managed_fields.field_sets import FieldSet, union
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_quote

APPLY: Final = "Apply"
UPDATE: Final = "Update"
_MAX_UPDATERS: Final = 10
_ANCIENT: Final = "ancient-changes"


@dataclass(frozen=True, slots=True)
class FieldOwner:
    """Who owns fields. `version` is empty for appliers, which own in all versions."""

    manager: str
    operation: str
    version: str
    subresource: str

    @property
    def identifier(self) -> str:
        """The text by which upstream sorts owners."""
        parts = {"manager": self.manager, "operation": self.operation}
        if self.version:
            parts["apiVersion"] = self.version
        if self.subresource:
            parts["subresource"] = self.subresource
        return json.dumps(parts, separators=(",", ":"))

    def __str__(self) -> str:
        """As conflicts name it."""
        text = go_quote(self.manager)
        if self.subresource:
            text = f"{text} with subresource {go_quote(self.subresource)}"
        return f"{text} using {self.version}" if self.operation == UPDATE else text


@dataclass(frozen=True, slots=True)
class Owned:
    fields: FieldSet
    version: str
    time: str | None


Owners: TypeAlias = dict[FieldOwner, Owned]


class UnreadableEntries(Exception):
    """`managedFields` that no server wrote."""


def read(entries: list[JsonObject] | None) -> Owners:
    """Raises UnreadableEntries."""
    owners: Owners = {}
    for index, entry in enumerate(entries or ()):
        operation, version = entry.get("operation", ""), entry.get("apiVersion", "")
        if operation not in (APPLY, UPDATE):
            raise UnreadableEntries("operation must be `Apply` or `Update`")
        if not version:
            raise UnreadableEntries("apiVersion must not be empty")
        kind = entry.get("fieldsType", "")
        if kind != "FieldsV1":
            problem = f"invalid fieldsType {go_quote(kind)}" if kind else "missing fieldsType"
            raise UnreadableEntries(f"{problem} in managed fields entry {index}")
        owner = FieldOwner(
            entry.get("manager", ""),
            operation,
            version if operation == UPDATE else "",
            entry.get("subresource", ""),
        )
        owners[owner] = Owned(_fields(entry.get("fieldsV1")), version, entry.get("time"))
    return owners


def _fields(written: JsonValue) -> FieldSet:
    if written is None:
        return {}
    if not isinstance(written, dict):
        raise UnreadableEntries("fieldsV1 must be an object")
    for step, below in written.items():
        if step != "." and step[1:2] != ":":
            raise UnreadableEntries(f"missing colon: {step}")
        _fields(below)
    return written


def encode_managed_fields(owners: Owners) -> list[JsonObject]:
    """The entries in the order in which the server shows them."""
    return [
        _entry(owner, owned)
        for owner, owned in sorted(
            owners.items(),
            key=lambda each: (
                each[0].operation,
                each[1].time or "",
                each[0].manager,
                each[1].version,
                each[0].subresource,
            ),
        )
    ]


def _entry(owner: FieldOwner, owned: Owned) -> JsonObject:
    entry: JsonObject = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owned.version,
    }
    if owned.time is not None:
        entry["time"] = owned.time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = owned.fields
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry


def set_entries(obj: JsonObject, owners: Owners) -> None:
    metadata = obj.setdefault("metadata", {})
    if owners:
        metadata["managedFields"] = encode_managed_fields(owners)
    else:
        metadata.pop("managedFields", None)


def cap_managers(owners: Owners) -> Owners:
    """At most ten updaters: of each version the oldest become one entry."""
    updaters = [owner for owner in owners if owner.operation == UPDATE]
    surplus = len(updaters) - _MAX_UPDATERS
    if surplus <= 0:
        return owners
    out = dict(owners)
    firsts: dict[str, FieldOwner] = {}
    updaters.sort(key=lambda owner: (owners[owner].time or "", owner.identifier))
    for owner in updaters:
        if surplus <= 0:
            break
        owned = out[owner]
        first = firsts.setdefault(owned.version, owner)
        if first is owner:
            continue
        bucket = FieldOwner(_ANCIENT, UPDATE, owned.version, "")
        if bucket not in out:
            out[bucket] = out.pop(first)
        merged = union(owned.fields, out[bucket].fields)
        del out[owner]
        out[bucket] = replace(owned, fields=merged)
        surplus -= 1
    return out

"""Keeping `managedFields` true through creations, updates and patches.

A write gives its writer the fields that it added or changed and takes them from all others; fields
that are gone leave every owner. What identifies the object (name, uid, resourceVersion, ...) is
never owned. Objects whose `managedFields` somebody has cleared stay untracked until the next apply.

Fields that the server resets after a write, and that nobody can therefore own by it. A write to
the object itself cannot change its status, one to the status cannot change the spec; which else
is upstream's strategies' choice, kind by kind, and in the record of the kind.

What a write changed, as each version of a kind shows it. Owners own fields of the version in
which they wrote. Where versions of a kind differ in their fields, an owner loses what changed
in its own version; everywhere else one comparison serves all.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from podium.apiserver.managed_fields.comparing import FieldSetComparison, compare, created_fields
from podium.apiserver.managed_fields.entries import (
    UPDATE,
    FieldOwner,
    Owned,
    Owners,
    UnreadableEntries,
    cap_managers,
    read,
    set_entries,
)
from podium.apiserver.managed_fields.field_sets import (
    LEAF,
    FieldSet,
    NotOfItsType,
    difference,
    intersection,
    union,
    without,
)
from podium.golang.decoding import zero_struct
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes import conversion
from podium.kubernetes.kinds.catalogue import find_kind
from podium.kubernetes.kinds.record import ANY_KEY, Path
from podium.kubernetes.schema.catalogue import Schema, schema_of

_STATUS: Final[FieldSet] = {"f:status": LEAF}
_ALL_BUT_STATUS: Final[FieldSet] = {"f:metadata": LEAF, "f:spec": LEAF}


def without_reset_fields(fields: FieldSet, schema: Schema, subresource: str) -> FieldSet:
    """The fields that a write to the object or one of its subresources can change."""
    owned = _owned_fields(schema, subresource)
    if owned is not None:
        return _only(fields, owned)
    return without(fields, _reset(schema, subresource))


@lru_cache(maxsize=1024)
def _owned_fields(schema: Schema, subresource: str) -> FieldSet | None:
    """The only fields that a write to a subresource can change."""
    if not subresource or schema.is_custom:
        return None
    for each in find_kind(schema.group, schema.kind).subresources:
        if each.name == subresource and each.owned is not None:
            return _field_set(each.owned)
    return None


@lru_cache(maxsize=1024)
def _reset(schema: Schema, subresource: str) -> FieldSet:
    if subresource == "status":
        if schema.is_custom:
            return _ALL_BUT_STATUS
        return _field_set(find_kind(schema.group, schema.kind).strategy.reset_fields)
    if subresource in ("", "finalize") and schema.has_status:
        return _STATUS
    return {}


def _field_set(paths: Iterable[Path]) -> FieldSet:
    """The set of the fields at these paths."""
    root: FieldSet = {}
    for path in paths:
        node = root
        for name in path:
            node = node.setdefault(name if name == ANY_KEY else f"f:{name}", {})
    return root


def _only(fields: FieldSet, owned: FieldSet) -> FieldSet:
    """The fields that are among others or below them."""
    out: FieldSet = {}
    for step, below in fields.items():
        found = owned.get(step, owned.get(ANY_KEY))
        if found is None:
            continue
        kept = _only(below, found) if found else below
        if kept or not found:
            out[step] = kept
    return out


class Changes:
    """The changes of one write to an object or one of its subresources."""

    __slots__ = ("_in_others", "_new", "_old", "_schema", "_subresource", "removed", "taken")

    def __init__(
        self,
        comparison: FieldSetComparison,
        schema: Schema,
        subresource: str,
        old: JsonObject,
        new: JsonObject,
    ) -> None:
        """`comparison` is that of the old and the new object in the version of `schema`."""
        self._schema = schema
        self._subresource = subresource
        self._old = old
        self._new = new
        self._in_others: dict[str, tuple[FieldSet, FieldSet]] = {}
        self.taken, self.removed = self._lost(comparison, schema)

    def lost_in(self, api_version: str) -> tuple[FieldSet, FieldSet]:
        """The fields that others lose in a version: those that were written, and those gone."""
        if api_version == self._schema.api_version or self._schema.is_custom:
            return self.taken, self.removed
        found = self._in_others.get(api_version)
        if found is None:
            found = self._in_others[api_version] = self._compare_in(api_version)
        return found

    def _compare_in(self, api_version: str) -> tuple[FieldSet, FieldSet]:
        schema, version = self._schema, api_version.rpartition("/")[2]
        old = conversion.in_version(self._old, schema.group, schema.kind, version)
        new = conversion.in_version(self._new, schema.group, schema.kind, version)
        if old is None or new is None:
            return self.taken, self.removed
        other = schema_of(schema.group, version, schema.kind)
        return self._lost(compare(old, new, other.root), other)

    def _lost(self, comparison: FieldSetComparison, schema: Schema) -> tuple[FieldSet, FieldSet]:
        removed, modified, added = (
            without_reset_fields(fields, schema, self._subresource)
            for fields in (comparison.removed, comparison.modified, comparison.added)
        )
        return union(modified, added), removed


_LONGEST_MANAGER: Final = 128
_MAX_KINDS: Final = 1024
_NEVER_OWNED: Final[FieldSet] = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        **{
            f"f:{name}": LEAF
            for name in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "clusterName",
                "generation",
                "managedFields",
                "resourceVersion",
            )
        },
    },
}


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, when, and to which subresource."""

    manager: str
    now: str
    subresource: str = ""


def manager_of(field_manager: str, user_agent: str) -> str:
    """The name under which a request writes: given, or the client's name before its version."""
    if field_manager:
        return field_manager
    name = ""
    for character in user_agent.split("/", 1)[0]:
        if not character.isprintable():
            continue
        if len((name + character).encode()) > _LONGEST_MANAGER:
            break
        name += character
    return name


def track_create(obj: JsonObject, schema: Schema, writer: Writer) -> None:
    """Set the managedFields of an object that is about to be created."""
    entries = obj.get("metadata", {}).pop("managedFields", None)
    if entries and not _asks_for_reset(entries):
        _update(_readable(entries), empty_object(schema), obj, schema, writer)
        return
    try:
        created = created_fields(empty_object(schema), obj, schema.root)
    except NotOfItsType:
        return
    empty = empty_object(schema)
    changes = Changes(FieldSetComparison({}, {}, created), schema, writer.subresource, empty, obj)
    set_entries(obj, after_update({}, changes, schema, writer))


def track_update(live: JsonObject, new: JsonObject, schema: Schema, writer: Writer) -> None:
    """Set the managedFields of an object that is about to replace the live one."""
    before = live.get("metadata", {}).get("managedFields")
    entries = new.setdefault("metadata", {}).pop("managedFields", None)
    if writer.subresource:
        owners = _readable(before)
    elif _asks_for_reset(entries):
        owners = {}
    else:
        # Clients that do not know managedFields leave them out: that deletes nothing.
        owners = _readable(entries) or _readable(before)
    if not owners:
        return
    _update(owners, without_entries(live), new, schema, writer)


def keep_times_of_idle_write(new: JsonObject, old: JsonObject) -> None:
    """Take back the new times of entries if nothing else in the object has changed."""
    entries = new.get("metadata", {}).get("managedFields")
    before = old.get("metadata", {}).get("managedFields")
    if not entries or not before or len(entries) != len(before) or entries == before:
        return
    if [_timeless(entry) for entry in entries] != [_timeless(entry) for entry in before]:
        return
    if without_entries(new) == without_entries(old):
        new["metadata"]["managedFields"] = before


def _timeless(entry: JsonObject) -> JsonObject:
    return {key: value for key, value in entry.items() if key != "time"}


@lru_cache(maxsize=_MAX_KINDS)
def empty_object(schema: Schema) -> JsonObject:
    """What a creation is compared with. Not to be changed."""
    return {
        **({} if schema.is_custom else zero_struct(schema.root)),
        "apiVersion": schema.api_version,
        "kind": schema.kind,
    }


def without_entries(obj: JsonObject) -> JsonObject:
    metadata = obj.get("metadata", {})
    if "managedFields" not in metadata:
        return obj
    rest = {key: value for key, value in metadata.items() if key != "managedFields"}
    return {**obj, "metadata": rest}


def _asks_for_reset(entries: JsonValue) -> bool:
    return entries in ([], [{}])


def _readable(entries: list[JsonObject] | None) -> Owners:
    try:
        return read(entries)
    except UnreadableEntries:
        return {}


def _update(
    owners: Owners, old: JsonObject, new: JsonObject, schema: Schema, writer: Writer
) -> None:
    """Set the entries of `new`, of which `owners` were the owners before."""
    try:
        comparison = compare(old, new, schema.root)
    except NotOfItsType:
        # upstream: an object that cannot be tracked loses its entries.
        new["metadata"].pop("managedFields", None)
        return
    changes = Changes(comparison, schema, writer.subresource, old, new)
    set_entries(new, cap_managers(after_update(owners, changes, schema, writer)))


def after_update(owners: Owners, changes: Changes, schema: Schema, writer: Writer) -> Owners:
    """Who owns what after a write that was no apply."""
    out = without_lost_fields(owners, changes)
    owned = difference(changes.taken, _NEVER_OWNED)
    if not owned:
        return out
    version = schema.api_version
    owner = FieldOwner(writer.manager or "unknown", UPDATE, version, writer.subresource)
    previous = out.get(owner)
    if previous is not None:
        owned = union(owned, previous.fields)
    return {**out, owner: Owned(owned, version, writer.now)}


def without_lost_fields(owners: Owners, changes: Changes) -> Owners:
    """The owners without fields that somebody took or that are gone; who owns nothing goes."""
    out: Owners = {}
    for owner, owned in owners.items():
        taken, removed = changes.lost_in(owned.version)
        fields = difference(owned.fields, intersection(owned.fields, taken))
        fields = difference(fields, removed)
        if fields:
            out[owner] = owned if fields is owned.fields else replace(owned, fields=fields)
    return out


def without_identity(fields: FieldSet) -> FieldSet:
    """The fields without those that nobody owns."""
    return difference(fields, _NEVER_OWNED)

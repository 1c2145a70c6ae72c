"""Server-side apply: a configuration is what its manager wants to own, no more and no less.

The configuration is merged into the live object. Fields that the manager applied before and does
not mention any more are removed, unless somebody else owns them. Fields whose values it changes
while others own them are conflicts, which fail the request or, with force, change hands.

The annotation of `kubectl apply` on the client's side, which server-side apply takes over. Only
the manager named `kubectl` does so: what the annotation says was applied by the same person
before, so taking those fields from other owners is no conflict; and an annotation that is there
is kept true, so that one can go back.
"""

import json
from dataclasses import replace
from typing import Final

from podium.apiserver.managed_fields.comparing import compare
from podium.apiserver.managed_fields.entries import (
    APPLY,
    FieldOwner,
    Owned,
    Owners,
    UnreadableEntries,
    read,
    set_entries,
)
from podium.apiserver.managed_fields.field_sets import (
    FieldSet,
    NotOfItsType,
    difference,
    format_path,
    intersection,
    members,
    remove_members,
    union,
    without_voids,
)
from podium.apiserver.managed_fields.tracking import (
    Changes,
    Writer,
    after_update,
    empty_object,
    without_entries,
    without_identity,
    without_lost_fields,
    without_reset_fields,
)
from podium.apiserver.managed_fields.typed_values import (
    field_set,
    field_set_with_voids,
    merge_values,
    problems,
    remove_fields,
    with_named_fields,
)
from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.schema.catalogue import Schema
from podium.kubernetes.status_errors import StatusError, apply_conflict, bad_request, internal

KUBECTL: Final = "kubectl"
_ANNOTATION: Final = "kubectl.kubernetes.io/last-applied-configuration"


def forgivable_fields(live: JsonObject, schema: Schema) -> FieldSet:
    """Fields that the annotation has with the values that they still have."""
    written = _annotations(live).get(_ANNOTATION)
    try:
        config = json.loads(written) if isinstance(written, str) else None
    except ValueError:
        return {}
    if not isinstance(config, dict) or config.get("apiVersion") != schema.api_version:
        return {}
    if problems(config, schema.root):
        return {}
    try:
        comparison = compare(config, live, schema.root)
    except NotOfItsType:
        return {}
    fields = field_set(config, schema.root)
    different = union(union(comparison.modified, comparison.added), comparison.removed)
    return difference(fields, different)


def with_last_applied(obj: JsonObject, config: JsonObject) -> JsonObject:
    """The object with its annotation brought up to date; without one there is nothing to do."""
    annotations = _annotations(obj)
    if not annotations.get(_ANNOTATION):
        return obj
    metadata = dict(obj["metadata"])
    metadata["annotations"] = {**annotations, _ANNOTATION: _write_config(config)}
    return {**obj, "metadata": metadata}


def _annotations(obj: JsonObject) -> JsonObject:
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def _write_config(config: JsonObject) -> str:
    metadata = dict(config.get("metadata") or {})
    annotations = {k: v for k, v in _annotations(config).items() if k != _ANNOTATION}
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    return go_json(_sort_keys({**config, "metadata": metadata})) + "\n"


def _sort_keys(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sort_keys(item) for item in value]
    return value


_BEFORE_FIRST_APPLY: Final = "before-first-apply"


class _Conflicts(Exception):
    """Fields of other owners that an apply would change, by owner."""

    def __init__(self, fields: dict[FieldOwner, FieldSet]) -> None:
        super().__init__()
        self.fields = fields


def apply(
    live: JsonObject | None, config: JsonObject, schema: Schema, writer: Writer, force: bool
) -> JsonObject:
    """The live object with the configuration applied; raises StatusError."""
    _refuse_other_kind(config, schema)
    current = dict(empty_object(schema)) if live is None else live
    try:
        owners = read(current.get("metadata", {}).get("managedFields"))
    except UnreadableEntries as error:
        raise internal(f"failed to decode managed fields: {error}") from None
    current = without_entries(current)
    try:
        return _apply_config(current, config, schema, writer, owners, force=force)
    except _Conflicts as conflicts:
        if writer.manager != KUBECTL:
            raise _refusal(conflicts.fields) from None
        rest = _unforgivable(conflicts.fields, current, schema)
        if rest:
            raise _refusal(rest) from None
    except NotOfItsType as error:
        raise internal(f"failed to create typed live object: {error}") from None
    return _apply_config(current, config, schema, writer, owners, force=True)


def configuration_problem(config: JsonObject, schema: Schema) -> str:
    """What of a configuration does not fit its types, in one text; empty if nothing."""
    found = problems(config, schema.root)
    return _list_conflicts(found) if found else ""


def merge_configuration(live: JsonObject, config: JsonObject, schema: Schema) -> JsonObject:
    """The live object with a configuration that nobody is to own."""
    found = merge_values(live, config, schema.root)
    assert isinstance(found, dict), "both are objects"
    return found


def _refuse_other_kind(config: JsonObject, schema: Schema) -> None:
    version, kind = config.get("apiVersion") or "", config.get("kind") or ""
    if (version, kind) != (schema.api_version, schema.kind):
        group, _, version = version.rpartition("/")
        raise bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def _apply_config(
    live: JsonObject,
    config: JsonObject,
    schema: Schema,
    writer: Writer,
    owners: Owners,
    *,
    force: bool,
) -> JsonObject:
    if not owners:
        before = Writer(_BEFORE_FIRST_APPLY, writer.now, writer.subresource)
        comparison = compare(empty_object(schema), live, schema.root)
        changes = Changes(comparison, schema, writer.subresource, empty_object(schema), live)
        owners = after_update({}, changes, schema, before)
    problem = configuration_problem(config, schema)
    if problem:
        raise internal(
            f"failed to create typed patch object ({_describe_object(config)}): {problem}"
        )
    owner = FieldOwner(writer.manager, APPLY, "", writer.subresource)
    previous = owners.get(owner)
    fields = without_reset_fields(field_set(config, schema.root), schema, writer.subresource)
    time = None if previous is None else previous.time
    mine = Owned(fields, schema.api_version, time)
    result = merge_values(live, config, schema.root)
    if previous is not None and previous.fields:
        everyone = {**owners, owner: mine}
        result = _without_dropped_fields(result, everyone, previous.fields, schema)
    others = {each: owned for each, owned in owners.items() if each != owner}
    others = _after_conflicts(live, result, others, schema, writer, force=force)
    if result != live:
        mine = replace(mine, time=writer.now)
    mine = replace(mine, fields=without_identity(mine.fields))
    out = dict(result)
    out["metadata"] = dict(out.get("metadata") or {})
    if writer.manager == KUBECTL:
        out = with_last_applied(out, config)
    set_entries(out, {**others, owner: mine} if mine.fields else others)
    return out


def _after_conflicts(
    live: JsonObject,
    result: JsonObject,
    others: Owners,
    schema: Schema,
    writer: Writer,
    *,
    force: bool,
) -> Owners:
    comparison = compare(live, result, schema.root)
    changes = Changes(comparison, schema, writer.subresource, live, result)
    conflicts = {
        owner: common
        for owner, owned in others.items()
        if (common := intersection(owned.fields, changes.lost_in(owned.version)[0]))
    }
    if conflicts and not force:
        raise _Conflicts(conflicts)
    return without_lost_fields(others, changes)


def _without_dropped_fields(
    result: JsonObject, everyone: Owners, previous: FieldSet, schema: Schema
) -> JsonObject:
    """The merged object without fields that the manager gave up and that nobody else owns."""
    root = schema.root
    owned: FieldSet = {}
    for each in everyone.values():
        owned = union(owned, each.fields)
    voided = field_set_with_voids(result, root)
    whole = with_named_fields(without_voids(voided), root)
    last = with_named_fields(previous, root)
    pruned = with_named_fields(without_voids(remove_members(voided, last)), root)
    # What others own comes back, and with it everything that was not dropped.
    kept = union(pruned, with_named_fields(owned, root))
    left = with_named_fields(without_voids(remove_members(voided, difference(whole, kept))), root)
    # Fields below a dropped field that this manager never owned are not its to remove.
    dropped = intersection(difference(whole, left), last)
    return remove_fields(result, dropped, root) or {}


def _unforgivable(
    conflicts: dict[FieldOwner, FieldSet], live: JsonObject, schema: Schema
) -> dict[FieldOwner, FieldSet]:
    forgivable = forgivable_fields(live, schema)
    rest = {owner: difference(fields, forgivable) for owner, fields in conflicts.items()}
    return {owner: fields for owner, fields in rest.items() if fields}


def _refusal(conflicts: dict[FieldOwner, FieldSet]) -> StatusError:
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {owner}",
            "field": format_path(path),
        }
        for owner in sorted(conflicts, key=lambda each: each.identifier)
        for path in members(conflicts[owner])
    ]
    if len(causes) == 1:
        told_as = f"{causes[0]['message']}: {causes[0]['field']}"
        return apply_conflict(f"Apply failed with 1 conflict: {told_as}", causes)
    lines = []
    for owner in sorted(conflicts, key=lambda each: each.identifier):
        lines.append(f"conflicts with {owner}:")
        lines += [f"- {format_path(path)}" for path in members(conflicts[owner])]
    listed = "\n".join(lines)
    return apply_conflict(f"Apply failed with {len(causes)} conflicts: {listed}", causes)


def _describe_object(config: JsonObject) -> str:
    metadata = config.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    group, _, version = config["apiVersion"].rpartition("/")
    place = f"{named.get('namespace') or ''}/{named.get('name') or ''}"
    return f"{place}; {group}/{version}, Kind={config['kind']}"


def _list_conflicts(found: list[str]) -> str:
    return found[0] if len(found) == 1 else "errors:\n  " + "\n  ".join(found)

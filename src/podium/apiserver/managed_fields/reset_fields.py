"""Fields that the server resets after a write, and that nobody can therefore own by it.

A write to the object itself cannot change its status, one to the status cannot change the spec;
which else is upstream's strategies' choice, kind by kind, and in the record of the kind.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from podium.apiserver.managed_fields.field_sets import LEAF, FieldSet, without
from podium.kubernetes.kinds.catalogue import find_kind
from podium.kubernetes.kinds.record import ANY_KEY, Path
from podium.kubernetes.schema.catalogue import Schema

_STATUS: Final[FieldSet] = {"f:status": LEAF}
_ALL_BUT_STATUS: Final[FieldSet] = {"f:metadata": LEAF, "f:spec": LEAF}


def without_reset_fields(fields: FieldSet, schema: Schema, subresource: str) -> FieldSet:
    """The fields that a write to the object or one of its subresources can change."""
    owned = _owned(schema, subresource)
    if owned is not None:
        return _only(fields, owned)
    return without(fields, _reset(schema, subresource))


@lru_cache(maxsize=1024)
def _owned(schema: Schema, subresource: str) -> FieldSet | None:
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

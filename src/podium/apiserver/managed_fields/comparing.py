"""Which fields a write added, changed or took away.

Every shape becomes two closures: one gives the set of all fields of a value that was not there
before, the other compares two values. Equal parts are found by comparing whole values first, which
is quick, so that only the changed branches are walked. A created object is compared with the
empty object of its kind: what Go always writes (`spec.containers: null`) was there before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from podium.apiserver.managed_fields.field_sets import (
    LEAF,
    SELF,
    FieldSet,
    NotOfItsType,
    keyed_step_of,
    set_step,
)
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.shapes import AnyValue, ListOf, MapOf, Scalar, Shape, Struct

AllFields: TypeAlias = Callable[[Any], FieldSet]
"""The node of a value that is new as a whole."""
_Three: TypeAlias = tuple[FieldSet | None, FieldSet | None, FieldSet | None]
_Comparer: TypeAlias = Callable[[Any, Any], _Three]
StepOf: TypeAlias = Callable[[Any], str]

_SAME: Final[_Three] = (None, None, None)
_CHANGED: Final[_Three] = (None, LEAF, None)
_MISSING: Final = object()
_MAX_SHAPES: Final = 1 << 13
_MAX_FIELDS: Final = 1 << 10
"""Custom resources come and go, and may have any field: what is remembered is bounded."""


@dataclass(frozen=True, slots=True)
class FieldSetComparison:
    """Three sets of fields."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet


def compare(old: JsonObject, new: JsonObject, root: Struct) -> FieldSetComparison:
    removed, modified, added = _comparer(root)(old, new)
    return FieldSetComparison(removed or {}, modified or {}, added or {})


def created_fields(empty: JsonObject, new: JsonObject, root: Struct) -> FieldSet:
    """What `compare` finds added or modified, for an object whose `empty` parts are all there."""
    out: FieldSet = {}
    find = _plans_of(root)
    for key, item in new.items():
        step, below, shape = find(key)
        before = empty.get(key, _MISSING)
        if before is _MISSING:
            out[step] = LEAF if below is None else below(item)
        elif before == item:
            continue
        elif isinstance(before, dict) and isinstance(shape, Struct) and not shape.is_atomic:
            if item.__class__ is not dict:
                raise NotOfItsType("expected map")
            inner = created_fields(before, item, shape)
            if inner:
                out[step] = inner
        else:
            node = LEAF if below is None else below(item)
            out[step] = {name: fields for name, fields in node.items() if name != SELF}
    return out


@lru_cache(maxsize=_MAX_SHAPES)
def _plans_of(struct: Struct) -> Callable[[str], tuple[str, AllFields | None, Shape | None]]:
    @lru_cache(maxsize=_MAX_FIELDS)
    def plan(key: str) -> tuple[str, AllFields | None, Shape | None]:
        shape = _field_shape(struct, key)
        below = None if shape is None else all_fields(shape)
        return f"f:{key}", None if below is _leaf else below, shape

    return plan


@lru_cache(maxsize=_MAX_SHAPES)
def step_of(shape: ListOf) -> StepOf:
    """How items of an associative list are distinguished; the function raises NotOfItsType."""
    if not shape.keys:
        return set_step
    return keyed_step_of(shape)


@lru_cache(maxsize=_MAX_SHAPES)
def all_fields(shape: Shape) -> AllFields:
    match shape:
        case Struct(is_atomic=False):
            return _all_of_struct(shape)
        case MapOf(is_atomic=False):
            return _all_of_map(shape)
        case ListOf() if shape.is_associative:
            return _all_of_list(shape)
        case AnyValue(granular=True):
            return _all_of_any
        case _:
            return _leaf


def _leaf(_value: JsonValue) -> FieldSet:
    return LEAF


def _all_of_struct(struct: Struct) -> AllFields:
    find = _plans_of(struct)

    def fields(value: Any) -> FieldSet:
        if not value:
            return LEAF
        if value.__class__ is not dict:
            raise NotOfItsType("expected map")
        out: FieldSet = {SELF: LEAF}
        for key, item in value.items():
            step, below, _ = find(key)
            out[step] = LEAF if below is None else below(item)
        return out

    return fields


def _field_shape(struct: Struct, key: str) -> Shape | None:
    field = struct.fields.get(key)
    return struct.rest if field is None else field.shape


def _all_of_map(shape: MapOf) -> AllFields:
    below = all_fields(shape.value)
    is_plain = below is _leaf

    def fields(value: Any) -> FieldSet:
        if not value:
            return LEAF
        if value.__class__ is not dict:
            raise NotOfItsType("expected map")
        out: FieldSet = {SELF: LEAF}
        for key, item in value.items():
            out[f"f:{key}"] = LEAF if is_plain else below(item)
        return out

    return fields


def _all_of_any(value: Any) -> FieldSet:
    if not isinstance(value, dict) or not value:
        return LEAF
    return {SELF: LEAF, **{f"f:{key}": _all_of_any(item) for key, item in value.items()}}


def _all_of_list(shape: ListOf) -> AllFields:
    below, step = all_fields(shape.item), step_of(shape)

    def fields(value: Any) -> FieldSet:
        if not value:
            return LEAF
        if value.__class__ is not list:
            raise NotOfItsType("expected list")
        out: FieldSet = {SELF: LEAF}
        for item in value:
            name = step(item)
            # upstream: items that cannot be distinguished are owned together, without their fields.
            out[name] = LEAF if name in out else below(item)
        return out

    return fields


@lru_cache(maxsize=_MAX_SHAPES)
def _comparer(shape: Shape) -> _Comparer:
    match shape:
        case Struct(is_atomic=False):
            return _struct_comparer(shape)
        case MapOf(is_atomic=False):
            return _map_comparer(shape)
        case ListOf() if shape.is_associative:
            return _list_comparer(shape)
        case AnyValue(granular=True):
            return _compare_any
        case Scalar():
            return _compare_scalars
        case _:
            return _compare_whole


def _compare_whole(old: JsonValue, new: JsonValue) -> _Three:
    return _SAME if old == new else _CHANGED


def _compare_scalars(old: JsonValue, new: JsonValue) -> _Three:
    same = old == new and (old.__class__ is bool) is (new.__class__ is bool)
    return _SAME if same else _CHANGED


def _struct_comparer(struct: Struct) -> _Comparer:
    @lru_cache(maxsize=_MAX_FIELDS)
    def plan_of(key: str) -> tuple[str, AllFields, _Comparer]:
        shape = _field_shape(struct, key)
        if shape is None:
            return f"f:{key}", _leaf, _compare_whole
        return f"f:{key}", all_fields(shape), _comparer(shape)

    return lambda old, new: _compare_objects(old, new, plan_of)


def _map_comparer(shape: MapOf) -> _Comparer:
    below, comparer = all_fields(shape.value), _comparer(shape.value)
    return lambda old, new: _compare_objects(old, new, lambda key: (f"f:{key}", below, comparer))


def _compare_any(old: Any, new: Any) -> _Three:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return _compare_scalars(old, new)
    return _compare_objects(old, new, lambda key: (f"f:{key}", _all_of_any, _compare_any))


def _compare_objects(
    old: Any, new: Any, plan_of: Callable[[str], tuple[str, AllFields, _Comparer]]
) -> _Three:
    if old == new:
        return _SAME
    if not old and not new:
        return _CHANGED
    old, new = old or {}, new or {}
    if old.__class__ is not dict or new.__class__ is not dict:
        raise NotOfItsType("expected map")
    removed: FieldSet = {}
    modified: FieldSet = {}
    added: FieldSet = {}
    for key, item in new.items():
        before = old.get(key, _MISSING)
        if before is item:
            continue
        step, all_below, comparer = plan_of(key)
        if before is _MISSING:
            added[step] = all_below(item)
            continue
        for found, target in zip(comparer(before, item), (removed, modified, added), strict=True):
            if found is not None:
                target[step] = found
    for key, item in old.items():
        if key not in new:
            step, all_below, _ = plan_of(key)
            removed[step] = all_below(item)
    return removed or None, modified or None, added or None


def _list_comparer(shape: ListOf) -> _Comparer:
    all_below, step, comparer = all_fields(shape.item), step_of(shape), _comparer(shape.item)

    def compare_lists(old: Any, new: Any) -> _Three:
        if old == new:
            return _SAME
        if not old and not new:
            return _CHANGED
        old, new = old or [], new or []
        if old.__class__ is not list or new.__class__ is not list:
            raise NotOfItsType("expected list")
        before, after = _by_step(old, step), _by_step(new, step)
        removed: FieldSet = {}
        modified: FieldSet = {}
        added: FieldSet = {}
        for name in {**before, **after}:
            olds, news = before.get(name, []), after.get(name, [])
            if len(olds) > 1 or len(news) > 1:
                _compare_repeated(olds, news, name, all_below, (removed, modified, added))
            elif not olds:
                added[name] = all_below(news[0])
            elif not news:
                removed[name] = all_below(olds[0])
            else:
                for found, target in zip(
                    comparer(olds[0], news[0]), (removed, modified, added), strict=True
                ):
                    if found is not None:
                        target[name] = found
        return removed or None, modified or None, added or None

    return compare_lists


def _by_step(items: Any, step: StepOf) -> dict[str, list[JsonValue]]:
    found: dict[str, list[JsonValue]] = {}
    for item in items:
        found.setdefault(step(item), []).append(item)
    return found


def _compare_repeated(
    olds: Any, news: Any, name: str, all_below: AllFields, sets: tuple[FieldSet, ...]
) -> None:
    """Items that share their keys are one thing, owned as a whole."""
    removed, modified, added = sets
    if len(olds) > 1 and len(news) > 1:
        if olds != news:
            modified[name] = LEAF
    elif len(olds) > 1:
        removed[name] = LEAF
        if news:
            added[name] = all_below(news[0])
    else:
        added[name] = LEAF
        if olds:
            removed[name] = all_below(olds[0])

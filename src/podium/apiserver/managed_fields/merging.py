"""Putting an applied configuration into the live object, and taking fields out of an object.

Objects and maps are merged field by field, keyed lists and sets item by item, everything else is
replaced. Items keep the order of the live list, except that items that both have come in the order
of the configuration; new items stand where the configuration has them among these.
"""

from collections import Counter, deque
from typing import Any, Final

from podium.apiserver.managed_fields.comparing import step_of
from podium.apiserver.managed_fields.field_sets import (
    LEAF,
    SELF,
    FieldSet,
    is_member,
)
from podium.apiserver.managed_fields.typed_values import is_split, shape_below
from podium.golang.json_values import DecodedValue, JsonObject, JsonValue
from podium.golang.shapes import ListOf, Shape, Struct

_MISSING: Final = object()


def merged(live: DecodedValue, config: DecodedValue, shape: Shape) -> DecodedValue:
    """The live value with the configuration in it. Neither is changed."""
    if not is_split(shape, config) or (not live and not config):
        return config
    if isinstance(shape, ListOf):
        if not live or not config:
            return config or live
        return _merged_lists(live, config, shape)
    if not isinstance(live, dict) or not isinstance(config, dict):
        return config if isinstance(config, dict) else live
    out = dict(live)
    for key, item in config.items():
        before = out.get(key, _MISSING)
        below = shape_below(shape, key)
        out[key] = item if before is _MISSING or below is None else merged(before, item, below)
    return out


def _merged_lists(live: list[Any], config: list[Any], shape: ListOf) -> list[Any]:
    step = step_of(shape)
    mine = {step(item): item for item in config}
    names = [step(item) for item in live]
    order = _merged_order(names, list(mine))
    theirs = _once_each(names, live)
    repeated = iter([item for name, item in zip(names, live, strict=True) if name not in theirs])
    out = []
    for name in order:
        if name not in mine:
            out.append(theirs[name] if name in theirs else next(repeated))
        elif name in theirs:
            out.append(merged(theirs[name], mine[name], shape.item))
        else:
            out.append(mine[name])
    return out


def _once_each(names: list[str], items: list[Any]) -> dict[str, Any]:
    """The items that share their step with no other."""
    found = dict(zip(names, items, strict=True))
    if len(found) == len(names):
        return found
    times = Counter(names)
    return {name: item for name, item in found.items() if times[name] == 1}


def _merged_order(live: list[str], config: list[str]) -> list[str]:
    """The steps of both in the order of the result; shared steps occur once."""
    shared = set(live) & set(config)
    awaited = deque(name for name in config if name in shared)
    out: list[str] = []
    placed: set[str] = set()
    left, right = 0, 0
    while left < len(live) or right < len(config):
        if left < len(live):
            name = live[left]
            if name not in shared:
                out.append(name)
                left += 1
                continue
            out_of_turn = right < len(config) and awaited and name != awaited[0]
            if name in placed or (out_of_turn and name != config[right]):
                left += 1
                continue
        if right < len(config):
            name = config[right]
            out.append(name)
            placed.add(name)
            right += 1
            if awaited and awaited[0] == name:
                awaited.popleft()
    return out


def with_named_fields(node: FieldSet, shape: Shape | None) -> FieldSet:
    """The set, to which every named field belongs that has a member below it."""
    names = shape.fields if isinstance(shape, Struct) else {}
    out: FieldSet = {}
    for step, below in node.items():
        if below:
            inner = with_named_fields(below, _shape_at(shape, step))
            if SELF not in inner and step[:2] == "f:" and step[2:] in names:
                inner = {SELF: LEAF, **inner}
            out[step] = inner
        else:
            out[step] = LEAF
    return out


def _shape_at(shape: Shape | None, step: str) -> Shape | None:
    if shape is None:
        return None
    if step.startswith("f:"):
        return shape_below(shape, step[2:])
    return shape.item if isinstance(shape, ListOf) else None


def removed(value: JsonValue, fields: FieldSet, shape: Shape | None) -> Any:
    """The value without the members of a set; None when nothing is left of it."""
    if isinstance(value, list):
        if not value or not isinstance(shape, ListOf) or not shape.is_associative:
            return None
        return _removed_items(value, fields, shape) or None
    if not isinstance(value, dict):
        return value
    if not value or shape is None or not is_split(shape, value):
        return None
    out: JsonObject = {}
    for key, item in value.items():
        node = fields.get(f"f:{key}")
        if node is None:
            out[key] = item
        elif not is_member(node):
            out[key] = removed(item, node, shape_below(shape, key))
    return out or None


def _removed_items(value: list[Any], fields: FieldSet, shape: ListOf) -> list[Any]:
    step = step_of(shape)
    out = []
    for item in value:
        node = fields.get(step(item))
        if node is None:
            out.append(item)
        elif not is_member(node):
            out.append(removed(item, node, shape.item))
    return out

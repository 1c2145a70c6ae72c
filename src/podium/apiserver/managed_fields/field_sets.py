"""Sets of fields, kept in the form in which `managedFields` stores them (FieldsV1).

A set is a tree of dicts. A key names a step: `f:spec` a field, `k:{"name":"c"}` an item of a list
by its keys, `v:"x"` an item of a set by its value. Under a key stands what belongs to the set below
that path: `{}` the path alone, `{".": {}, "f:a": ...}` the path and more, `{"f:a": ...}` only what
is below. The root stands for the whole object, which is never a member; an empty root is an empty
set. Working on this form directly means that a set is neither parsed nor written out again.

Contract: no function changes its arguments; results share parts with them, so nobody may change a
set that was handed out.

Steps of a path inside a field set: written, read, and told to people. A field is `f:name`. An
item of a keyed list is `k:` and the JSON of its key fields in the order of their names; an item
of a set is `v:` and its JSON. In messages the path `f:spec`, `f:containers`, `k:{"name":"c"}`,
`f:image` reads `.spec.containers[name="c"].image`.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from podium.golang.decoding import zero
from podium.golang.json_values import JsonObject, JsonValue
from podium.golang.quoting import go_quote, go_value
from podium.golang.shapes import Field, ListOf, Omitted, Scalar, Struct
from podium.kubernetes.rules.field_errors import go_json

FieldSet: TypeAlias = JsonObject

LEAF: Final[FieldSet] = {}
"""A path that is a member and has nothing below it. Shared: never change it."""
SELF: Final = "."
VOID: Final = "-"
"""Below a field that is there and that nobody can own, such as an empty list."""


def is_member(node: FieldSet) -> bool:
    """Whether the path of a node (not of the root) belongs to the set."""
    return not node or SELF in node


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """Members of either; both are roots."""
    if not one or not other:
        return one or other
    out = dict(one)
    for key, node in other.items():
        mine = out.get(key)
        out[key] = node if mine is None else _join_sets(mine, node)
    return out


def _join_sets(one: FieldSet, other: FieldSet) -> FieldSet:
    if one is other:
        return one
    if not one or not other:
        more = one or other
        return more if not more or SELF in more else {SELF: LEAF, **more}
    return union(one, other)


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """Members of both; both are roots."""
    out = {}
    for key, node in one.items():
        theirs = other.get(key)
        if theirs is None or key == SELF:
            continue
        common = intersection(node, theirs) if node and theirs else LEAF
        if is_member(node) and is_member(theirs):
            out[key] = {SELF: LEAF, **common} if common else LEAF
        elif common:
            out[key] = common
    return out


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Members of the first that are not members of the second; both are roots.

    A member of the second takes nothing away below it.
    """
    if not one or not other:
        return one
    out = {}
    for key, node in one.items():
        theirs = other.get(key)
        if theirs is None:
            out[key] = node
        elif not node:
            if not is_member(theirs):
                out[key] = node
        elif (rest := _subtract_node(node, theirs, recursive=False)) is not None:
            out[key] = rest
    return out


def without(one: FieldSet, other: FieldSet) -> FieldSet:
    """The first without the members of the second and everything below them; both are roots."""
    if not one or not other:
        return one
    out = {}
    for key, node in one.items():
        theirs = other.get(key)
        if theirs is None:
            out[key] = node
        elif not is_member(theirs):
            rest = _subtract_node(node, theirs, recursive=True)
            if rest is not None:
                out[key] = rest
    return out


def remove_members(one: FieldSet, other: FieldSet) -> FieldSet:
    """The fields of a value, which are `one`, when the members of `other` are taken out of it.

    What is below a member goes with it; what has nothing left below it stays, and is empty.
    """
    out = {}
    for key, node in one.items():
        theirs = other.get(key)
        if theirs is None:
            out[key] = node
        elif theirs and SELF not in theirs:
            out[key] = LEAF if not node or VOID in node else remove_members(node, theirs)
    return out


def without_voids(root: FieldSet) -> FieldSet:
    """The set without fields that have nothing but voids below them."""
    out: FieldSet = {}
    for key, node in root.items():
        if not node:
            out[key] = node
        elif VOID not in node and (rest := without_voids(node)):
            out[key] = LEAF if len(rest) == 1 and SELF in rest else rest
    return out


def _subtract_node(node: FieldSet, theirs: FieldSet, *, recursive: bool) -> FieldSet | None:
    """What stays of a node; None when nothing does."""
    stays = is_member(node) and not is_member(theirs)
    if not theirs and not recursive:
        return {key: inner for key, inner in node.items() if key != SELF} or None
    take = without if recursive else difference
    below = {key: inner for key, inner in node.items() if key != SELF}
    theirs_below = {key: inner for key, inner in theirs.items() if key != SELF}
    below = take(below, theirs_below)
    if not below:
        return LEAF if stays else None
    return {SELF: LEAF, **below} if stays else below


def members(root: FieldSet) -> Iterator[tuple[str, ...]]:
    """The paths of all members as their steps: siblings first, then what is below each."""
    steps = sorted(key for key in root if key != SELF)
    for key in steps:
        if is_member(root[key]):
            yield (key,)
    for key in steps:
        for path in members(root[key]):
            yield (key, *path)


def has(root: FieldSet, path: tuple[str, ...]) -> bool:
    """Whether a path is a member."""
    node = root
    for step in path:
        below = node.get(step)
        if below is None:
            return False
        node = below
    return bool(path) and is_member(node)


_NEEDS_NO_ESCAPES: Final = re.compile(r"[ !#-%'-;=?-\[\]-~]*").fullmatch
"""Matches a text that Go's encoder writes as it is."""


class NotOfItsType(Exception):
    """A value of another type than its schema says, or an item without keys; says why."""


def key_defaults(shape: ListOf) -> tuple[tuple[str, JsonValue], ...]:
    """The key fields of a list by name, with what stands for a missing one (None: nothing)."""
    fields = shape.item.fields if isinstance(shape.item, Struct) else {}
    return tuple((key, _default(fields.get(key))) for key in sorted(shape.keys))


def _default(field: Field | None) -> JsonValue:
    if field is None or field.default is not None:
        return None if field is None else field.default
    # upstream: fields that are always written have their zero as a default in OpenAPI.
    is_plain = isinstance(field.shape, Scalar) and not field.is_pointer
    return zero(field.shape) if is_plain and field.omitted is Omitted.NEVER else None


def keyed_step_of(shape: ListOf) -> Callable[[JsonValue], str]:
    """How an item of a keyed list gives its step; quickest for one key with a plain text."""
    keys = key_defaults(shape)
    (key, _), *more = keys
    head = f'k:{{"{key}":"'

    def step(item: JsonValue) -> str:
        if not more and item.__class__ is dict:
            value = item.get(key)
            if value.__class__ is str and _NEEDS_NO_ESCAPES(value):
                return f'{head}{value}"}}'
        return keyed_step(item, keys)

    return step


def keyed_step(item: JsonValue, keys: tuple[tuple[str, JsonValue], ...]) -> str:
    """The step of an item of a keyed list; raises NotOfItsType."""
    if not isinstance(item, dict):
        kind = "a null element" if item is None else "non-map elements"
        raise NotOfItsType(f"associative list with keys may not have {kind}")
    found = []
    for key, default in keys:
        value = item.get(key, default)
        if value is not None or key in item:
            found.append(f'"{key}":{_as_json(value)}')
    if not found:
        names = " ".join(go_quote(key) for key, _ in keys)
        raise NotOfItsType(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return f"k:{{{','.join(found)}}}"


def _as_json(value: JsonValue) -> str:
    """The value as Go's encoder writes it, quickly for what most keys are."""
    if value.__class__ is int:
        return str(value)
    if value.__class__ is str and _NEEDS_NO_ESCAPES(value):
        return f'"{value}"'
    return go_json(value)


def set_step(item: JsonValue) -> str:
    """The step of an item of a set; raises NotOfItsType."""
    if isinstance(item, dict):
        raise NotOfItsType("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise NotOfItsType("not supported: associative list with lists as elements")
    if item is None:
        raise NotOfItsType("associative list without keys has an element that's an explicit null")
    return f"v:{_as_json(item)}"


def format_path(path: Iterable[str]) -> str:
    """A path as messages show it."""
    return "".join(map(format_path_element, path))


def format_path_element(step: str) -> str:
    kind, _, rest = step.partition(":")
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        keys: JsonObject = json.loads(rest)
        return f"[{','.join(f'{name}={_told_value(keys[name])}' for name in sorted(keys))}]"
    if kind == "v":
        return f"[={_told_value(json.loads(rest))}]"
    return f"[{rest}]"


def _told_value(value: JsonValue) -> str:
    return go_quote(value) if isinstance(value, str) else go_value(value)

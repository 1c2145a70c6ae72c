"""Sets of fields, kept in the form in which `managedFields` stores them (FieldsV1).

A set is a tree of dicts. A key names a step: `f:spec` a field, `k:{"name":"c"}` an item of a list
by its keys, `v:"x"` an item of a set by its value. Under a key stands what belongs to the set below
that path: `{}` the path alone, `{".": {}, "f:a": ...}` the path and more, `{"f:a": ...}` only what
is below. The root stands for the whole object, which is never a member; an empty root is an empty
set. Working on this form directly means that a set is neither parsed nor written out again.

Contract: no function changes its arguments; results share parts with them, so nobody may change a
set that was handed out.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from podium.golang.json_values import JsonObject

FieldSet: TypeAlias = JsonObject

LEAF: Final[FieldSet] = {}
"""A path that is a member and has nothing below it. Shared: never change it."""
SELF: Final = "."
VOID: Final = "-"
"""Below a field that is there and that nobody can own, such as an empty list."""


def is_member(node: FieldSet) -> bool:
    """Whether the path of a node (not of the root) belongs to the set."""
    return not node or SELF in node


def children(node: FieldSet) -> Iterator[tuple[str, FieldSet]]:
    return ((key, below) for key, below in node.items() if key != SELF)


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """Members of either; both are roots."""
    if not one or not other:
        return one or other
    out = dict(one)
    for key, node in other.items():
        mine = out.get(key)
        out[key] = node if mine is None else _joined(mine, node)
    return out


def _joined(one: FieldSet, other: FieldSet) -> FieldSet:
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
        elif (rest := _remaining(node, theirs, recursive=False)) is not None:
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
            rest = _remaining(node, theirs, recursive=True)
            if rest is not None:
                out[key] = rest
    return out


def emptied(one: FieldSet, other: FieldSet) -> FieldSet:
    """The fields of a value, which are `one`, when the members of `other` are taken out of it.

    What is below a member goes with it; what has nothing left below it stays, and is empty.
    """
    out = {}
    for key, node in one.items():
        theirs = other.get(key)
        if theirs is None:
            out[key] = node
        elif theirs and SELF not in theirs:
            out[key] = LEAF if not node or VOID in node else emptied(node, theirs)
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


def _remaining(node: FieldSet, theirs: FieldSet, *, recursive: bool) -> FieldSet | None:
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

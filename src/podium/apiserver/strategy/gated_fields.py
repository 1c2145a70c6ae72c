"""Fields of features that are off: written ones are not kept, unless the object has them already.

What counts as having them differs: a slice whose devices use a feature may use it in any of them,
while the templates of a Workload are looked at one by one.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from podium.api.json_values import JsonObject
from podium.apiserver.resources.resource import ANY_KEY, Resource

Path = tuple[str, ...]

_SLICES: Final = ("resource.k8s.io", "ResourceSlice")


def drop_gated_fields(resource: Resource, obj: JsonObject, old: JsonObject) -> None:
    if (resource.group, resource.kind) != _SLICES:
        for _, path in resource.gated_fields:
            _drop_unless_used(obj, old, path)
        return
    for _, gated in groupby(resource.gated_fields, key=lambda field: field[0]):
        paths = [path for _, path in gated]
        if not any(_uses(old, path) for path in paths):
            for path in paths:
                for holder in _holders(obj, path[:-1]):
                    holder.pop(path[-1], None)


def _uses(obj: JsonObject, path: Path) -> bool:
    return any(holder.get(path[-1]) for holder in _holders(obj, path[:-1]))


def _holders(obj: JsonObject, path: Path) -> Iterator[JsonObject]:
    """The objects at a path."""
    if not path:
        yield obj
        return
    name, *rest = path
    found = obj.values() if name == ANY_KEY else [obj.get(name)]
    for below in found:
        for item in below if isinstance(below, list) else [below]:
            if item:
                yield from _holders(item, tuple(rest))


def _drop_unless_used(obj: JsonObject, old: JsonObject, path: Path) -> None:
    name, *rest = path
    if not rest:
        if obj.get(name) and not old.get(name):
            del obj[name]
        return
    below, before = obj.get(name), old.get(name)
    if isinstance(below, list):
        for index, item in enumerate(below):
            earlier = before[index] if before and index < len(before) else {}
            _drop_unless_used(item, earlier, tuple(rest))
            if rest == ["schedulingConstraints"]:
                item.setdefault(*rest, None)  # upstream: written even when there are none
    elif below:
        _drop_unless_used(below, before or {}, tuple(rest))

"""Fields of features that are off: written ones are not kept, unless the object has them already.

What counts as having them differs. Mostly an object that uses a feature anywhere may use it
everywhere: a pod in all its containers, a slice in all its devices. Leases and pod groups are
looked at field by field, and the templates of a Workload one by one.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import ANY_KEY, Path
from podium.kubernetes.resources.resource import Resource

_NOT_KEPT_EMPTY: Final = frozenset({"lifecycle"})


def drop_gated_fields(resource: Resource, obj: JsonObject, old: JsonObject) -> None:
    if resource.record.strategy.gates_each_field:
        for _, path in resource.gated_fields:
            _drop_unless_used(obj, old, path)
        return
    for paths in resource.paths_by_gate:
        if _uses(obj, paths) and not _uses(old, paths):
            for path in paths:
                _drop(obj, path)


def _uses(obj: JsonObject, paths: tuple[Path, ...]) -> bool:
    for path in paths:
        for holder in _holders(obj, path[:-1]):
            if holder.get(path[-1]) is not None:
                return True
    return False


def _holders(obj: JsonObject, path: Path) -> list[JsonObject]:
    """The objects at a path. Every write of a pod comes here, so it ends where nothing is."""
    found = [obj]
    for name in path:
        below: list[JsonObject] = []
        for holder in found:
            for value in holder.values() if name == ANY_KEY else (holder.get(name),):
                if isinstance(value, list):
                    below += filter(None, value)
                elif value:
                    below.append(value)
        if not below:
            return below
        found = below
    return found


def _drop(obj: JsonObject, path: Path) -> None:
    *_, parent, name = path
    for above in _holders(obj, path[:-2]):
        for holder in _holders(above, (parent,)):
            if name in holder:
                del holder[name]
                if not holder and parent in _NOT_KEPT_EMPTY:
                    del above[parent]


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

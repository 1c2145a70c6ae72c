"""What the server does with an object before it is validated, as the record of its kind says.

Most kinds differ in three things only: what an empty status looks like, whether they count
generations, and of which part. The rest have functions of their own.

Fields of features that are off: written ones are not kept, unless the object has them already. What
counts as having them differs. Mostly an object that uses a feature anywhere may use it everywhere:
a pod in all its containers, a slice in all its devices. Leases and pod groups are looked at field
by field, and the templates of a Workload one by one.

What a write cannot change: fields of the stored object that take the place of written ones.
"""

from typing import Final

from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes.kinds.record import ANY_KEY, Path
from podium.kubernetes.resources.resource import ApiResource

_METADATA_PARTS: Final = ("annotations", "labels")


def prepare_create(resource: ApiResource, obj: JsonObject, now: str) -> None:
    """Start a new object: its status, its generation, what the server adds."""
    if resource.is_custom:
        obj["metadata"]["generation"] = 1
        if resource.has_status:
            obj.pop("status", None)
        return
    strategy = resource.record.strategy
    if strategy.empty_status is not None:
        obj["status"] = copy_json(strategy.empty_status)
    if strategy.counted is not None and strategy.has_first_generation:
        obj["metadata"]["generation"] = 1
    if strategy.null_list:
        _null_empty_list(obj, strategy.null_list)
    if resource.gated_fields:
        drop_gated_fields(resource, obj, {})
    if strategy.create is not None:
        strategy.create(obj, now)


def prepare_update(resource: ApiResource, new: JsonObject, old: JsonObject, now: str) -> None:
    """Keep what an update cannot change, and count the generation."""
    strategy = resource.record.strategy
    if resource.has_status:
        keep_field(new, old, "status")
    if strategy.update is not None:
        strategy.update(new, old, now)
    if strategy.null_list:
        _null_empty_list(new, strategy.null_list)
    if resource.gated_fields:
        drop_gated_fields(resource, new, old)
    keep_generation(new, old)
    _count_generation(resource, new, old)


def prepare_status_update(
    resource: ApiResource, new: JsonObject, old: JsonObject, now: str
) -> None:
    """Keep everything but the status and, for most kinds, the metadata."""
    strategy = resource.record.strategy
    for name in {*new, *old} - {"metadata", "status", "kind", "apiVersion"}:
        keep_field(new, old, name)
    keep_generation(new, old)
    if resource.is_custom or strategy.keeps_metadata:
        keep_metadata(new, old)
    if strategy.status is not None:
        strategy.status(new, old, now)
    if resource.gated_fields:
        drop_gated_fields(resource, new, old)


def prepare_subresource_update(
    resource: ApiResource, subresource: str, new: JsonObject, old: JsonObject, now: str
) -> None:
    """The same for another subresource by which a part of the object is written."""
    prepare = resource.subresource_by_name[subresource].prepare
    if prepare is not None:
        prepare(new, old, now)
    else:
        keep_field(new, old, "status")
        keep_generation(new, old)
    if resource.gated_fields:
        drop_gated_fields(resource, new, old)
    _count_generation(resource, new, old)


def _null_empty_list(obj: JsonObject, path: Path) -> None:
    *parents, last = path
    holder: JsonObject | None = obj
    for name in parents:
        holder = (holder or {}).get(name)
    if holder is not None and holder.get(last) == []:
        holder[last] = None


def _count_generation(resource: ApiResource, new: JsonObject, old: JsonObject) -> None:
    if _is_changed(resource, new, old):
        new["metadata"]["generation"] = (old["metadata"].get("generation") or 0) + 1


def _is_changed(resource: ApiResource, new: JsonObject, old: JsonObject) -> bool:
    if resource.is_custom:
        apart = {"metadata", "status"} if resource.has_status else {"metadata"}
        parts = {name for name in (*new, *old) if name not in apart}
        return any(new.get(part) != old.get(part) for part in parts)
    for part in resource.record.strategy.counted or ():
        holders = (new["metadata"], old["metadata"]) if part in _METADATA_PARTS else (new, old)
        if (holders[0].get(part) or None) != (holders[1].get(part) or None):
            return True
    return False


_NOT_KEPT_EMPTY: Final = frozenset({"lifecycle"})


def drop_gated_fields(resource: ApiResource, obj: JsonObject, old: JsonObject) -> None:
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


_METADATA: Final = (
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "deletionTimestamp",
    "generation",
)


def keep_field(new: JsonObject, old: JsonObject, name: str) -> None:
    """A field is as it was, or absent as it was."""
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def keep_metadata(new: JsonObject, old: JsonObject) -> None:
    """The parts of the metadata that a write to another part of the object does not touch."""
    for name in _METADATA:
        keep_field(new["metadata"], old["metadata"], name)


def keep_generation(new: JsonObject, old: JsonObject) -> None:
    keep_field(new["metadata"], old["metadata"], "generation")

"""Whose pod it is: a controller takes in orphans that it selects and lets go what it does not.

The same rule serves every controller that owns pods or replica sets. Objects that are on their way
out are never taken in, and a controller that is deleted takes in nothing.
"""

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import Action, Wake, metadata_patch
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import KindStore, Stores
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.resources.resource_types import ResourceType
from podium.kubernetes.rules.labels import Selector

T = TypeVar("T", bound=KubeObject)


def settle_ownership(
    kind: OwnerKind,
    owner: ObjectMeta,
    selector: Selector,
    resource: ResourceType,
    candidates: Iterable[T],
    *,
    finalizer: str = "",
) -> tuple[list[T], list[Action]]:
    """What belongs to the owner now, and what has to be written for that.

    What is taken in belongs to it at once; with a finalizer, what belongs to it has that one, too.
    """
    owned: list[T] = []
    actions: list[Action] = []
    for obj in candidates:
        holder = obj.metadata.controller
        matches = selector.matches(obj.metadata.labels)
        if holder is None:
            if matches and not owner.is_terminating and not obj.metadata.is_terminating:
                adopted = _adoption(kind, owner, obj, finalizer)
                actions.append(metadata_patch(resource, obj, adopted))
                owned.append(_with_metadata(obj, adopted))
        elif holder.uid == owner.uid:
            if matches or owner.is_terminating:
                owned.append(obj)
            elif not obj.metadata.is_terminating:
                actions.append(metadata_patch(resource, obj, _release(owner, obj, finalizer)))
    return owned, actions


def _adoption(kind: OwnerKind, owner: ObjectMeta, obj: KubeObject, finalizer: str) -> JsonObject:
    references = [*_write_owners(obj.metadata), owner_reference(kind, owner)]
    present = obj.metadata.finalizers or ()
    if not finalizer or finalizer in present:
        return {"ownerReferences": references}
    return {"ownerReferences": references, "finalizers": [*present, finalizer]}


def _release(owner: ObjectMeta, obj: KubeObject, finalizer: str) -> JsonObject:
    references = [each for each in _write_owners(obj.metadata) if each["uid"] != owner.uid]
    present = obj.metadata.finalizers or ()
    if finalizer not in present:
        return {"ownerReferences": references or None}
    kept = [each for each in present if each != finalizer]
    return {"ownerReferences": references or None, "finalizers": kept or None}


def _with_metadata(obj: T, changed: JsonObject) -> T:
    """The object as it will be when the change is written."""
    metadata: JsonObject = {**msgspec.to_builtins(obj.metadata), **changed}
    return msgspec.structs.replace(obj, metadata=msgspec.convert(metadata, ObjectMeta))


def _write_owners(metadata: ObjectMeta) -> list[JsonObject]:
    return [msgspec.to_builtins(owner) for owner in metadata.owner_references or ()]


def possible_pods(stores: Stores, owner: ObjectMeta) -> list[Pod]:
    """The pods that a controller owns or could own."""
    pods = stores.pods
    return [*pods.owned_by.of(owner.uid), *pods.orphans.of(owner.namespace)]


def wake_changed(store: KindStore[Any], wake: Wake) -> None:
    """Wake an object when it is made or changes."""

    def on_change(_: KubeObject | None, new: KubeObject | None) -> None:
        if new is not None:
            wake(new.metadata.key)

    store.listen(on_change)


def wake_owners(
    dependents: KindStore[Any], owners: KindStore[Any], kind: OwnerKind, wake: Wake
) -> None:
    """Wake an owner when it changes, when what it owns does, or when an orphan may be its."""

    def dependent_changed(old: KubeObject | None, new: KubeObject | None) -> None:
        for each in (old, new):
            if each is None:
                continue
            owner = each.metadata.controller
            if owner is None:
                for candidate in owners.in_namespace.of(each.namespace):
                    wake(candidate.metadata.key)
            elif owner.kind == kind.name:
                wake((each.namespace, owner.name))

    wake_changed(owners, wake)
    dependents.listen(dependent_changed)

"""Whose pod it is: a controller takes in orphans that it selects and lets go what it does not.

The same rule serves every controller that owns pods or replica sets. Objects that are on their way
out are never taken in, and a controller that is deleted takes in nothing.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

from podium.api.labels import NOTHING, Selector, SelectorError, selector_of
from podium.api.meta import LabelSelector
from podium.client import ResourceType
from podium.population.actions import Action, metadata_patch
from podium.population.control import Wake
from podium.population.objects.meta import JsonObject, Meta, Thing, owner_reference
from podium.population.objects.pods import Pod
from podium.population.objects.workloads import PodTemplate
from podium.population.store import Store
from podium.population.world import World

T = TypeVar("T", bound=Thing)


class Kind(NamedTuple):
    """A kind of controllers, as owner references name it."""

    api_version: str
    name: str


def selector_or_nothing(written: LabelSelector | None) -> Selector:
    """The selector, or one that selects nothing if it cannot be understood."""
    try:
        return selector_of(written)
    except SelectorError:
        return NOTHING


def settle_ownership(
    kind: Kind, owner: Meta, selector: Selector, resource: ResourceType, candidates: Iterable[T]
) -> tuple[list[T], list[Action]]:
    """What belongs to the owner now, and what has to be written for that."""
    owned: list[T] = []
    actions: list[Action] = []
    for obj in candidates:
        holder = obj.metadata.controller
        matches = selector.matches(obj.metadata.labels)
        if holder is None:
            if matches and not owner.is_terminating and not obj.metadata.is_terminating:
                actions.append(_adoption(kind, owner, resource, obj))
        elif holder.uid == owner.uid:
            if matches or owner.is_terminating:
                owned.append(obj)
            elif not obj.metadata.is_terminating:
                actions.append(_release(owner, resource, obj))
    return owned, actions


def _adoption(kind: Kind, owner: Meta, resource: ResourceType, obj: Thing) -> Action:
    references = [*_written(obj.metadata), owner_reference(kind.api_version, kind.name, owner)]
    return metadata_patch(resource, obj, {"ownerReferences": references})


def _release(owner: Meta, resource: ResourceType, obj: Thing) -> Action:
    references = [each for each in _written(obj.metadata) if each["uid"] != owner.uid]
    return metadata_patch(resource, obj, {"ownerReferences": references or None})


def _written(metadata: Meta) -> list[JsonObject]:
    return [
        {
            "apiVersion": owner.api_version,
            "kind": owner.kind,
            "name": owner.name,
            "uid": owner.uid,
            **({"controller": True} if owner.controller else {}),
            **({"blockOwnerDeletion": True} if owner.block_owner_deletion else {}),
        }
        for owner in metadata.owner_references or ()
    ]


def pod_from_template(
    kind: Kind,
    owner: Meta,
    template: PodTemplate,
    *,
    name: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    finalizers: list[str] | None = None,
    spec: JsonObject | None = None,
) -> JsonObject:
    """A new pod; without a name the server makes one up that begins with the owner's."""
    metadata: JsonObject = {
        "labels": {**(template.metadata.get("labels") or {}), **(labels or {})},
        "annotations": {**(template.metadata.get("annotations") or {}), **(annotations or {})},
        "ownerReferences": [owner_reference(kind.api_version, kind.name, owner)],
    }
    named = finalizers or template.metadata.get("finalizers")
    if named:
        metadata["finalizers"] = list(named)
    if name:
        metadata["name"] = name
    else:
        metadata["generateName"] = f"{owner.name}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": template.spec if spec is None else spec,
    }


def possible_pods(world: World, owner: Meta) -> list[Pod]:
    """The pods that a controller owns or could own."""
    pods = world.pods
    return [*pods.owned_by.of(owner.uid), *pods.orphans.of(owner.namespace)]


def wake_owners_of_pods(world: World, owners: Store[Any], kind: Kind, wake: Wake) -> None:
    """Wake an owner when it changes, when a pod of it does, or when an orphan may be its."""

    def owner_changed(old: Thing | None, new: Thing | None) -> None:
        del old
        if new is not None:
            wake(new.metadata.key)

    def pod_changed(old: Pod | None, new: Pod | None) -> None:
        for pod in (old, new):
            if pod is None:
                continue
            owner = pod.metadata.controller
            if owner is None:
                for candidate in owners.in_namespace.of(pod.namespace):
                    wake(candidate.metadata.key)
            elif owner.kind == kind.name:
                wake((pod.namespace, owner.name))

    owners.listen(owner_changed)
    world.pods.listen(pod_changed)

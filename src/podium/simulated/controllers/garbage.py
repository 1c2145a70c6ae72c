"""Garbage: what is left of objects whose owners are gone, and deletions that wait for it.

An object all of whose owners are gone is deleted. An owner that is deleted in the foreground waits
until the dependents that block it are gone; one that orphans its dependents lets go of them first.
An owner that is not known here is looked up before it is believed to be gone
(`pkg/controller/garbagecollector`).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from podium.client import KubeClient, ResourceType
from podium.client.api_errors import NotFound
from podium.client.reflector import head_of
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    Action,
    Wake,
    delete,
    metadata_patch,
    without_finalizer,
)
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta, OwnerReference
from podium.simulated.informers import Informers
from podium.simulated.request_executor import RequestExecutor

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
_UNOWNED: Final = frozenset({("", "events"), ("events.k8s.io", "events")})
_MAX_ABSENT: Final = 10_000


class Found(NamedTuple):
    """An object of some kind."""

    resource: ResourceType
    obj: KubeObject


class Owners(NamedTuple):
    """The owners of an object by how things stand with them."""

    solid: Sequence[OwnerReference]
    dangling: Sequence[OwnerReference]
    waiting: Sequence[OwnerReference]
    """Those that are there, but only until their dependents are gone."""


def decide_owner(owner: Found, dependents: Sequence[Found]) -> list[Action]:
    """For an object that is to be deleted: what its finalizers ask to be done before."""
    metadata = owner.obj.metadata
    finalizers = metadata.finalizers or ()
    if not metadata.is_terminating:
        return []
    if ORPHAN in finalizers:
        released: list[Action] = [_without_owners(each, {metadata.uid}) for each in dependents]
        return released or [without_finalizer(owner.resource, owner.obj, ORPHAN)]
    blocked = any(_blocks(each.obj, metadata.uid) for each in dependents)
    if FOREGROUND in finalizers and not blocked:
        return [without_finalizer(owner.resource, owner.obj, FOREGROUND)]
    return []


def decide_dependent(found: Found, owners: Owners, dependents: Sequence[Found]) -> list[Action]:
    """For an object with owners: stay, lose some of them, or go."""
    if owners.solid:
        gone = {owner.uid for owner in (*owners.dangling, *owners.waiting)}
        return [_without_owners(found, gone)] if gone else []
    finalizers = found.obj.metadata.finalizers or ()
    if owners.waiting and dependents:
        # An owner that waits for it may be its dependent as well: such a circle would never end.
        circular = any(_awaits_dependents(each.obj.metadata) for each in dependents)
        unblocked: list[Action] = [_without_blocking(found)] if circular else []
        return [*unblocked, delete(found.resource, found.obj, propagation="Foreground")]
    if ORPHAN in finalizers:
        how = "Orphan"
    elif FOREGROUND in finalizers:
        how = "Foreground"
    else:
        how = "Background"
    return [delete(found.resource, found.obj, propagation=how)]


def _awaits_dependents(metadata: ObjectMeta) -> bool:
    """Whether it is being deleted in the foreground."""
    return metadata.is_terminating and FOREGROUND in (metadata.finalizers or ())


def _blocks(obj: KubeObject, owner_uid: str) -> bool:
    return any(
        owner.uid == owner_uid and owner.block_owner_deletion
        for owner in obj.metadata.owner_references or ()
    )


def _without_owners(found: Found, uids: set[str]) -> Action:
    kept = [each for each in _written_owners(found) if each["uid"] not in uids]
    return metadata_patch(found.resource, found.obj, {"ownerReferences": kept or None})


def _without_blocking(found: Found) -> Action:
    """Its owners stay, and none of them has to wait for it."""
    references = [{**each, "blockOwnerDeletion": False} for each in _written_owners(found)]
    return metadata_patch(found.resource, found.obj, {"ownerReferences": references})


def _written_owners(found: Found) -> list[JsonObject]:
    return [
        {
            "apiVersion": owner.api_version,
            "kind": owner.kind,
            "name": owner.name,
            "uid": owner.uid,
            "controller": owner.controller,
            "blockOwnerDeletion": owner.block_owner_deletion,
        }
        for owner in found.obj.metadata.owner_references or ()
    ]


def collects(resource: ResourceType) -> bool:
    """Whether objects of a kind may have owners that matter."""
    return (resource.group, resource.plural) not in _UNOWNED


class Garbage:
    """Keys are (resource, namespace, name) (a `Synchroniser`)."""

    name = "garbagecollector"

    def __init__(self, informers: Informers, client: KubeClient, executor: RequestExecutor) -> None:
        self._informers = informers
        self._client = client
        self._executor = executor
        self._wake: Wake = lambda _: None
        self._watched: set[ResourceType] = set()
        self._by_kind: dict[tuple[str, str], ResourceType] = {}
        self._absent: dict[str, None] = {}

    def watch(self, wake: Wake) -> None:
        self._wake = wake

    def include(self, resource: ResourceType) -> None:
        """Follow one more kind; its store must be kept by somebody."""
        self._by_kind[(resource.api_version, resource.kind)] = resource
        if resource in self._watched:
            return
        self._watched.add(resource)
        store = self._informers.store_of(resource)
        for obj in store.all():
            self._handle_change(resource, None, obj)
        store.listen(lambda old, new: self._handle_change(resource, old, new))

    def _handle_change(
        self, resource: ResourceType, old: KubeObject | None, new: KubeObject | None
    ) -> None:
        if new is None:
            if old is not None:
                self._went(old.metadata)
            return
        metadata = new.metadata
        owners = metadata.owner_references
        fresh = old is None or old.metadata.owner_references != owners
        if old is not None and fresh:
            self._wake_owners(old.metadata)
        if (owners and fresh) or (metadata.is_terminating and _awaits(metadata)):
            self._wake((resource, *metadata.key))

    def _went(self, metadata: ObjectMeta) -> None:
        """Dependents lose an owner, and owners that wait lose a dependent."""
        for found in self._dependents(metadata.uid):
            self._wake((found.resource, *found.obj.metadata.key))
        self._wake_owners(metadata)

    def _wake_owners(self, metadata: ObjectMeta) -> None:
        for owner in metadata.owner_references or ():
            resource = self._by_kind.get((owner.api_version, owner.kind))
            if resource is not None:
                namespace = metadata.namespace if resource.namespaced else ""
                self._wake((resource, namespace, owner.name))

    def _dependents(self, uid: str) -> list[Found]:
        return [
            Found(resource, obj)
            for resource in self._watched
            for obj in self._informers.store_of(resource).dependents_of.of(uid)
        ]

    async def sync(self, key: tuple[ResourceType, str, str]) -> float | None:
        resource, namespace, name = key
        obj = self._informers.store_of(resource).get(namespace, name)
        if obj is None:
            return None
        found = Found(resource, obj)
        dependents = self._dependents(obj.metadata.uid)
        actions = decide_owner(found, dependents)
        if obj.metadata.owner_references and not obj.metadata.is_terminating:
            owners = await self._owners(obj.metadata)
            actions = decide_dependent(found, owners, dependents)
        elif not actions and obj.metadata.is_terminating and _awaits(obj.metadata):
            # It waits for its dependents; they are looked at now that it does.
            for each in dependents:
                self._wake((each.resource, *each.obj.metadata.key))
        await self._executor.execute(actions)
        return None

    async def _owners(self, metadata: ObjectMeta) -> Owners:
        solid: list[OwnerReference] = []
        dangling: list[OwnerReference] = []
        waiting: list[OwnerReference] = []
        for owner in metadata.owner_references or ():
            resource = self._by_kind.get((owner.api_version, owner.kind))
            if resource is None:
                solid.append(owner)  # of a kind that is not known: nothing can be said
                continue
            namespace = metadata.namespace if resource.namespaced else ""
            known = self._informers.store_of(resource).get(namespace, owner.name)
            if known is not None and known.metadata.uid == owner.uid:
                is_waiting = _awaits_dependents(known.metadata)
                (waiting if is_waiting else solid).append(owner)
            elif await self._is_absent(resource, namespace, owner):
                dangling.append(owner)
            else:
                solid.append(owner)
        return Owners(solid, dangling, waiting)

    async def _is_absent(
        self, resource: ResourceType, namespace: str, owner: OwnerReference
    ) -> bool:
        """Ask the server, since the watch of the owner may lag."""
        if owner.uid in self._absent:
            return True
        try:
            body = await self._client.get(resource, owner.name, namespace)
        except NotFound:
            pass
        else:
            if head_of(body).metadata.uid == owner.uid:
                return False
        self._absent[owner.uid] = None
        if len(self._absent) > _MAX_ABSENT:
            del self._absent[next(iter(self._absent))]
        return True


def _awaits(metadata: ObjectMeta) -> bool:
    return not {ORPHAN, FOREGROUND}.isdisjoint(metadata.finalizers or ())

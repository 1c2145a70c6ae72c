"""What the simulated cluster knows of one kind of objects.

A store is fed by a reflector, and by the answers to the cluster's own writes: whoever has written
sees the result at once, so no controller makes the same pod twice because its watch lags. Versions
that are older than what is known are not news, whichever way they come.

Contract: listeners are told (old, new) of every change, in order; either is None when there is
none.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

import msgspec

from podium.api.meta import KubeObject
from podium.client import ResourceType
from podium.workloads.pods import Pod

T = TypeVar("T", bound=KubeObject)
Listener = Callable[[T | None, T | None], None]
Key = tuple[str, str]

_MAX_TOMBSTONES = 100_000


class Index(Generic[T]):
    """Objects by something that they say; an object may have several entries."""

    def __init__(self, entries: Callable[[T], Iterable[Hashable]]) -> None:
        self._entries = entries
        self._found: dict[Hashable, dict[Key, T]] = {}

    def of(self, entry: Hashable) -> list[T]:
        return list(self._found.get(entry, {}).values())

    def put(self, old: T | None, new: T | None) -> None:
        if old is not None:
            for entry in self._entries(old):
                found = self._found.get(entry)
                if found is not None:
                    found.pop(old.metadata.key, None)
                    if not found:
                        del self._found[entry]
        if new is not None:
            for entry in self._entries(new):
                self._found.setdefault(entry, {})[new.metadata.key] = new


class Store(Generic[T]):
    """One kind; a handler of its reflector."""

    def __init__(self, resource: ResourceType, kind: type[T]) -> None:
        self.resource = resource
        self.decode: Callable[[Any], T] = msgspec.json.Decoder(kind).decode
        self.in_namespace: Index[T] = Index(lambda obj: (obj.metadata.namespace,))
        self.owned_by: Index[T] = Index(_controller_uid)
        self.orphans: Index[T] = Index(_namespace_if_orphan)
        self.dependents_of: Index[T] = Index(_owner_uids)
        self._indexes: list[Index[T]] = [
            self.in_namespace,
            self.owned_by,
            self.orphans,
            self.dependents_of,
        ]
        self._objects: dict[Key, T] = {}
        self._gone: dict[str, None] = {}
        """Uids of objects that are known to be deleted, whatever late news say."""
        self._listeners: list[Listener[T]] = []

    def __len__(self) -> int:
        return len(self._objects)

    def all(self) -> list[T]:
        return list(self._objects.values())

    def get(self, namespace: str, name: str) -> T | None:
        return self._objects.get((namespace, name))

    def find(self, key: Key) -> T | None:
        return self._objects.get(key)

    def listen(self, listener: Listener[T]) -> None:
        self._listeners.append(listener)

    def index(self, entries: Callable[[T], Iterable[Hashable]]) -> Index[T]:
        """A further index, of what there is and of what will be."""
        made: Index[T] = Index(entries)
        for obj in self._objects.values():
            made.put(None, obj)
        self._indexes.append(made)
        return made

    # --- from the reflector -------------------------------------------------------------------

    def added(self, obj: T) -> None:
        self.put(obj)

    def updated(self, old: T, new: T) -> None:
        del old
        self.put(new)

    def deleted(self, obj: T, *, seen: bool) -> None:
        del seen
        self.drop(obj)

    # --- from whoever knows -------------------------------------------------------------------

    def put(self, obj: T) -> None:
        metadata = obj.metadata
        if metadata.uid in self._gone:
            return
        old = self._objects.get(metadata.key)
        if old is not None and not _is_newer(metadata.resource_version, old):
            return
        if old is not None and old.metadata.uid != metadata.uid:
            self.drop(old)
            old = None
        self._objects[metadata.key] = obj
        self._tell(old, obj)

    def drop(self, obj: T) -> None:
        uid = obj.metadata.uid
        self._gone[uid] = None
        if len(self._gone) > _MAX_TOMBSTONES:
            del self._gone[next(iter(self._gone))]
        old = self._objects.get(obj.metadata.key)
        if old is not None and old.metadata.uid == uid:
            del self._objects[obj.metadata.key]
            self._tell(old, None)

    def _tell(self, old: T | None, new: T | None) -> None:
        for index in self._indexes:
            index.put(old, new)
        for listener in self._listeners:
            listener(old, new)


class PodStore(Store[Pod]):
    """Pods, also by the node that they are on and the claims that they use."""

    def __init__(self, resource: ResourceType) -> None:
        super().__init__(resource, Pod)
        self.on_node = self.index(lambda pod: (pod.spec.node_name,) if pod.spec.node_name else ())
        self.using_claim = self.index(
            lambda pod: tuple((pod.namespace, name) for name in pod.claim_names)
        )


def _controller_uid(obj: KubeObject) -> Iterable[str]:
    owner = obj.metadata.controller
    return (owner.uid,) if owner is not None else ()


def _owner_uids(obj: KubeObject) -> Iterable[str]:
    return tuple(owner.uid for owner in obj.metadata.owner_references or ())


def _namespace_if_orphan(obj: KubeObject) -> Iterable[str]:
    return (obj.metadata.namespace,) if obj.metadata.controller is None else ()


def _is_newer(version: str, known: KubeObject) -> bool:
    before = known.metadata.resource_version
    if version.isdecimal() and before.isdecimal():
        return int(version) > int(before)
    return version != before

"""A copy of a collection, kept by lists and events, that tells what changed.

What matters is the difference between what is known and what comes, not what a watch calls it: an
event for an object that is known is an update, for one that is not an addition. A list replaces
everything: objects that it lacks were deleted while nobody watched, and objects that it has in the
version that is known are no news. An object that took the place of another of its name is a
deletion and an addition, here as in a `SharedInformer`.
"""

from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from podium.client.object_decoding import STEP, Decoder, ObjectReader
from podium.client.watching import Head
from podium.kubernetes.controllers.object_keys import Key

T = TypeVar("T")
SeenT_contra = TypeVar("SeenT_contra", contravariant=True)


class Handler(Protocol[SeenT_contra]):
    """Who is told; called in the order of the changes, and not to wait for anything."""

    def added(self, obj: SeenT_contra) -> None: ...

    def updated(self, old: SeenT_contra, new: SeenT_contra) -> None: ...

    def deleted(self, obj: SeenT_contra, *, seen: bool) -> None:
        """The object is as it was at the end, or, if that was not `seen`, as it was last known."""


class _Held(NamedTuple, Generic[T]):
    uid: str
    resource_version: str
    obj: T


class ObjectStore(Generic[T]):
    """What a reflector keeps (a `ReflectorStore`) for one handler that is called at once."""

    def __init__(self, what: str, decode: Decoder[T], handler: Handler[T]) -> None:
        self._reader = ObjectReader(what, decode)
        self._handler = handler
        self._held: dict[Key, _Held[T]] = {}

    @property
    def undecodable(self) -> int:
        return self._reader.undecodable

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[T]:
        return (held.obj for held in self._held.values())

    def get(self, key: Key) -> T | None:
        held = self._held.get(key)
        return None if held is None else held.obj

    def replace(self, items: Iterable[msgspec.Raw]) -> None:
        """Become a list: deletions are told first, then the rest in the list's order."""
        for _ in self.replacing(items):
            pass

    def replacing(self, items: Iterable[msgspec.Raw], version: str = "") -> Iterator[None]:
        """`replace` in steps, for lists so long that others want a turn in between."""
        del version
        heads: dict[Key, tuple[Head, msgspec.Raw]] = {}
        yield from self._reader.read_heads(items, heads)
        for key in [key for key in self._held if key not in heads]:
            self._handler.deleted(self._held.pop(key).obj, seen=False)
        for number, (head, item) in enumerate(heads.values()):
            if number % STEP == STEP - 1:
                yield
            self.put(head, item)

    def put(self, head: Head, item: msgspec.Raw) -> None:
        """Take in one version of an object."""
        key, uid, version = head.key, head.metadata.uid, head.metadata.resource_version
        held = self._held.get(key)
        if held is not None and held.resource_version == version:
            return
        obj = self._reader.read(key, item)
        if obj is None:
            return
        self._held[key] = _Held(uid, version, obj)
        if held is None:
            self._handler.added(obj)
        elif held.uid != uid:
            self._handler.deleted(held.obj, seen=False)
            self._handler.added(obj)
        else:
            self._handler.updated(held.obj, obj)

    def remove(self, head: Head, item: msgspec.Raw) -> None:
        """An object was deleted; `item` is its last version."""
        held = self._held.pop(head.key, None)
        last = self._reader.read(head.key, item)
        obj = last if last is not None else held and held.obj
        if obj is not None:
            self._handler.deleted(obj, seen=True)

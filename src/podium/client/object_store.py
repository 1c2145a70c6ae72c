"""What is known of a collection, and telling a handler what changes of it.

What matters is the difference between what is known and what comes, not what a watch calls it: a
version of an object that is known is an update, of one that is not an addition. A list replaces
everything: objects that it lacks were deleted while nobody watched, and objects that it has in the
version that is known are no news. An object that took the place of another of its name is a
deletion and an addition.

    Reflector ─▶ ObjectStore                        the handler is called at once
    Reflector ─▶ DeltaFIFO ─▶ KnownObjects          the same behind the queue of a SharedInformer

One's own writes may be put in as well (client-go's MutationCache), so that whoever writes need not
wait for the watch: no controller makes the same pod twice because its watch lags.
"""

from collections.abc import Container, Iterable, Iterator
from typing import Final, Generic, TypeVar

import msgspec

from podium.client.event_handlers import ResourceEventHandler
from podium.client.reflector import Decoder, Head, ObjectReader
from podium.kubernetes.controllers.indexer import (
    DeletedFinalStateUnknown,
    Identity,
    Indexer,
    Key,
    identity_of,
    is_newer,
    is_older,
    last_state,
    meta_namespace_key,
    uid_of,
    version_of,
)

T = TypeVar("T")

_MAX_TOMBSTONES: Final = 100_000


class MutationCache:
    """What one has written oneself, until the watch has caught up.

    Until then, what the watch tells of such an object is older than what is known, and no news. A
    deleted object is remembered by its uid: whatever comes late does not bring it back. Where only
    a selection is watched, what leaves it may come back, so there only what is older comes late.
    """

    def __init__(self, *, of_selection: bool = False) -> None:
        self._of_selection = of_selection
        self._written: dict[Key, str] = {}
        self._gone: dict[str, str] = {}
        """The version up to which an object is gone; "" for good."""

    def put(self, written: Identity) -> None:
        self._written[written.key] = written.resource_version

    def admit_version(self, key: Key, uid: str, version: str) -> bool:
        """Whether a version of a list or watch is no older than what was written; then the watch
        has caught up."""
        if self.is_gone(uid, version) or self.is_ahead(key, version):
            return False
        self.forget(key)
        return True

    def admit_deletion(self, key: Key, uid: str, version: str) -> bool:
        """Whether a deletion of a list or watch is of what was written."""
        if not self._of_selection:
            self.bury(uid)
        elif self.is_ahead(key, version):
            return False
        else:
            self.bury(uid, version)
        return True

    def bury(self, uid: str, version: str = "") -> None:
        """An object of this uid is deleted, for good or as of a version."""
        if not uid:
            return
        self._gone[uid] = version
        if len(self._gone) > _MAX_TOMBSTONES:
            del self._gone[next(iter(self._gone))]

    def is_gone(self, uid: str, version: str) -> bool:
        last = self._gone.get(uid)
        return last is not None and (not last or not is_newer(version, last))

    def is_ahead(self, key: Key, version: str) -> bool:
        """Whether something was written after a version that a watch or list tells of."""
        written = self._written.get(key)
        return written is not None and is_older(version, written)

    def forget(self, key: Key) -> None:
        self._written.pop(key, None)

    def clear(self) -> None:
        """The server has lost what was written."""
        self._written.clear()
        self._gone.clear()


class KnownObjects(Generic[T]):
    """Objects by key, and a handler that is told of each change when it is in the indexer.

    Where nobody but the watch writes, there are no `own_writes`.
    """

    def __init__(
        self,
        handler: ResourceEventHandler[T],
        indexer: Indexer[T],
        own_writes: MutationCache | None = None,
    ) -> None:
        self.indexer = indexer
        self._handler = handler
        self._own_writes = own_writes

    def __len__(self) -> int:
        return len(self.indexer)

    def __iter__(self) -> Iterator[T]:
        return iter(self.indexer.list())

    # --- for a DeltaFIFO (its `KeyListerGetter`) ----------------------------------------------

    def get_by_key(self, key: Key) -> T | None:
        return self.indexer.get_by_key(key)

    def keys_until(self, version: str) -> Iterable[Key]:
        known = self.indexer.list_keys()
        if self._own_writes is None:
            return known
        is_ahead = self._own_writes.is_ahead
        return [key for key in known if not is_ahead(key, version)]

    def server_went_back(self) -> None:
        if self._own_writes is not None:
            self._own_writes.clear()

    # --- what a list or watch tells -----------------------------------------------------------

    def take(self, key: Key, obj: T, *, is_in_initial_list: bool = False) -> None:
        """One version of an object."""
        _, uid, version = identity_of(obj)
        if self._own_writes is not None and not self._own_writes.admit_version(key, uid, version):
            return
        old = self.get_by_key(key)
        # upstream: what a list has in the version that is known is no news.
        if old is None or version_of(old) != version:
            self._store(key, uid, old, obj, is_in_initial_list=is_in_initial_list)

    def take_deletion(self, key: Key, last: T | DeletedFinalStateUnknown) -> None:
        """The end of an object, as it was then or as it was last known."""
        _, uid, version = identity_of(last_state(last))
        if self._own_writes is None or self._own_writes.admit_deletion(key, uid, version):
            self._delete_same(key, uid, self.get_by_key(key), last)

    # --- one's own writes ---------------------------------------------------------------------

    def put_written(self, obj: T) -> None:
        """An object as the server has answered a write."""
        own_writes = self._own_writes
        assert own_writes is not None
        written = identity_of(obj)
        key, uid, version = written
        if own_writes.is_gone(uid, version):
            return
        old = self.get_by_key(key)
        if old is None or is_newer(version, version_of(old)):
            self._store(key, uid, old, obj, is_in_initial_list=False)
            own_writes.put(written)

    def drop_written(self, obj: T) -> None:
        """A deletion has taken effect."""
        assert self._own_writes is not None
        key, uid, _ = identity_of(obj)
        self._own_writes.bury(uid)
        self._delete_same(key, uid, self.get_by_key(key), obj)

    # --- inside -------------------------------------------------------------------------------

    def _store(
        self, key: Key, uid: str, old: T | None, new: T, *, is_in_initial_list: bool
    ) -> None:
        if old is not None and uid_of(old) != uid:
            if self._own_writes is not None:
                self._own_writes.bury(uid_of(old))
            self._delete(key, DeletedFinalStateUnknown(key, old))
            old = None
        if old is None:
            # The object's own strings, so that there is no second copy of them.
            self.indexer.put(meta_namespace_key(new), new)
            self._handler.on_add(new, is_in_initial_list=is_in_initial_list)
        else:
            self.indexer.put(key, new)
            self._handler.on_update(old, new)

    def _delete_same(
        self, key: Key, uid: str, known: T | None, last: T | DeletedFinalStateUnknown
    ) -> None:
        """Unless it is another object of the same name that is known."""
        if known is not None and (not uid or uid_of(known) == uid):
            self._delete(key, last)

    def _delete(self, key: Key, last: T | DeletedFinalStateUnknown) -> None:
        if self._own_writes is not None:
            self._own_writes.forget(key)
        self.indexer.delete(key)
        self._handler.on_delete(last)


class ObjectStore(KnownObjects[T]):
    """What a reflector keeps (a `ReflectorStore`) for one handler that is called at once.

    What the handler raises goes on to the reflector: there is no next change to tell it of if its
    world is broken. Objects are kept without an index.
    """

    def __init__(self, what: str, decode: Decoder[T], handler: ResourceEventHandler[T]) -> None:
        super().__init__(handler, Indexer(by_namespace=False))
        self._reader = ObjectReader(what, decode)
        self._is_listed = False

    @property
    def undecodable(self) -> int:
        return self._reader.undecodable

    def replace(self, items: Iterable[msgspec.Raw]) -> None:
        """Become a list: deletions are reported first, then the rest in the list's order."""
        for _ in self.replacing(items):
            pass

    def replacing(self, items: Iterable[msgspec.Raw], version: str = "") -> Iterator[None]:
        """`replace` in steps, for lists so long that others want a turn in between."""
        del version
        yield from self._reader.read_list(items, self._delete_unlisted, self.put)
        self._is_listed = True

    def put(self, head: Head, item: msgspec.Raw) -> None:
        """Take in one version of an object; one that is known is not even read."""
        key = head.key
        old = self.indexer.get_by_key(key)
        if old is not None and version_of(old) == head.metadata.resource_version:
            return
        obj = self._reader.read(key, item)
        if obj is not None:
            uid = head.metadata.uid
            self._store(key, uid, old, obj, is_in_initial_list=not self._is_listed)

    def remove(self, head: Head, item: msgspec.Raw) -> None:
        """An object was deleted; `item` is its last version."""
        key = head.key
        known = self.indexer.get_by_key(key)
        if known is not None:
            last = self._reader.read(key, item)
            self._delete_same(key, head.metadata.uid, known, known if last is None else last)

    def _delete_unlisted(self, listed: Container[Key]) -> None:
        for key in self.indexer.list_keys():
            if key not in listed:
                self._delete(key, DeletedFinalStateUnknown(key, self.indexer.get_by_key(key)))

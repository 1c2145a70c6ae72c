"""A queue of what happened to each object: client-go's DeltaFIFO.

A reflector puts changes in at one end, an informer pops them at the other, one object at a time
with everything that happened to it since its last turn, in order. So an informer that falls behind
sees an object once and not once for each change, and never sees it go backwards.

    Added, Updated   a watch told of an object that was not known, or that was
    Replaced         a list has it; the list may be the first, or one after a watch was lost
    Deleted          a watch told, or a list lacks it (then with `DeletedFinalStateUnknown`)
    Sync             nobody told anything; it is time to look at it again

Two deletions in a row are one, the one that knows more. An object that is deleted and that nobody
knows is nothing. Objects that wait are not put in for a Sync.
"""

import asyncio
from collections import deque
from collections.abc import Container, Iterable, Iterator
from enum import StrEnum
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from podium.client.object_decoding import Decoder, ObjectReader
from podium.client.watching import Head
from podium.kubernetes.controllers.object_keys import (
    DeletedFinalStateUnknown,
    Key,
    is_newer,
    is_older,
)

T = TypeVar("T")


class DeltaType(StrEnum):
    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"
    SYNC = "Sync"


class Delta(NamedTuple):
    type: DeltaType
    obj: Any
    """The object; of a deletion that was not seen, a `DeletedFinalStateUnknown`."""


class PoppedDeltas(NamedTuple):
    """Everything that happened to one object since its last turn."""

    key: Key
    deltas: list[Delta]
    is_in_initial_list: bool


class KeyListerGetter(Protocol):
    """What whoever pops knows."""

    def get_by_key(self, key: Key) -> Any | None: ...

    def keys_until(self, version: str) -> Iterable[Key]:
        """Keys of all objects that a list of this version has, unless they were deleted."""

    def server_went_back(self) -> None:
        """The server has forgotten what it told, as after a restored backup: versions that are
        older than known ones are news."""


class DeltaFIFO(Generic[T]):
    """What a reflector keeps (a `ReflectorStore`) for an informer."""

    def __init__(self, what: str, decode: Decoder[T], known: KeyListerGetter) -> None:
        self.reader = ObjectReader(what, decode)
        self._known = known
        self._queue: deque[Key] = deque()
        self._deltas: dict[Key, list[Delta]] = {}
        self._initial: set[Key] | None = None
        """Keys of the first list that wait; None before there was one."""
        self.synced = asyncio.Event()
        """Set once everything of the first list was popped."""
        self._version = ""
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        """How many objects wait."""
        return len(self._deltas)

    # --- from the reflector -------------------------------------------------------------------

    def put(self, head: Head, item: msgspec.Raw) -> None:
        obj = self.reader.read(head.key, item)
        self._see(head.metadata.resource_version)
        if obj is not None:
            is_known = self._is_there(head.key)
            self._add(head.key, DeltaType.UPDATED if is_known else DeltaType.ADDED, obj)

    def remove(self, head: Head, item: msgspec.Raw) -> None:
        key = head.key
        self._see(head.metadata.resource_version)
        last = self.reader.read(key, item)
        if last is None:
            last = self._last_known(key)
        if last is not None and self._is_there(key):
            self._add(key, DeltaType.DELETED, last)

    def replacing(self, items: Iterable[msgspec.Raw], version: str) -> Iterator[None]:
        """Deletions first, then the list in its order."""
        if is_older(version, self._version):
            self._known.server_went_back()
        self._version = version
        is_first = self._initial is None
        yield from self.reader.read_list(
            items, partial(self._delete_unlisted, version), self._put_listed
        )
        if is_first:
            self._initial = set(self._deltas)
            self._note_progress()

    def resync(self) -> bool:
        """Put in every object that is known and does not wait; whether some did wait."""
        are_waiting = bool(self._deltas)
        for key in self._known.keys_until(""):
            if key not in self._deltas:
                self._add(key, DeltaType.SYNC, self._known.get_by_key(key))
        return are_waiting

    # --- to the informer ----------------------------------------------------------------------

    async def pop(self) -> PoppedDeltas:
        """The object that has waited longest; one waits for it if there is none."""
        while not self._queue:
            self._filled.clear()
            await self._filled.wait()
        key = self._queue.popleft()
        initial = self._initial
        # While the first list is still being put in, all that waits is of it.
        is_initial = initial is None or key in initial
        if initial is not None:
            initial.discard(key)
            self._note_progress()
        return PoppedDeltas(key, self._deltas.pop(key), is_initial)

    # --- inside -------------------------------------------------------------------------------

    def _add(self, key: Key, kind: DeltaType, obj: Any) -> None:
        waiting = self._deltas.get(key)
        if waiting is None:
            self._deltas[key] = [Delta(kind, obj)]
            self._queue.append(key)
            self._filled.set()
        elif kind == DeltaType.DELETED == waiting[-1].type:
            if not isinstance(obj, DeletedFinalStateUnknown):
                waiting[-1] = Delta(kind, obj)
        else:
            waiting.append(Delta(kind, obj))

    def _note_progress(self) -> None:
        if not self._initial:
            self.synced.set()

    def _is_there(self, key: Key) -> bool:
        waiting = self._deltas.get(key)
        if waiting is not None:
            return waiting[-1].type != DeltaType.DELETED
        return self._known.get_by_key(key) is not None

    def _last_known(self, key: Key) -> Any | None:
        waiting = self._deltas.get(key)
        return waiting[-1].obj if waiting else self._known.get_by_key(key)

    def _put_listed(self, head: Head, item: msgspec.Raw) -> None:
        obj = self.reader.read(head.key, item)
        if obj is not None:
            self._add(head.key, DeltaType.REPLACED, obj)

    def _delete_unlisted(self, version: str, listed: Container[Key]) -> None:
        for key in dict.fromkeys((*self._deltas, *self._known.keys_until(version))):
            if key not in listed and self._is_there(key):
                gone = DeletedFinalStateUnknown(key, self._last_known(key))
                self._add(key, DeltaType.DELETED, gone)

    def _see(self, version: str) -> None:
        if version and is_newer(version, self._version):
            self._version = version

"""One copy of a collection for everybody who reads it: client-go's SharedIndexInformer.

    API server ─▶ Reflector ─▶ DeltaFIFO ─▶ process loop ─▶ Indexer ◀── Lister
                                                 └────────▶ handlers, each with its buffer

However many handlers and listers there are, there is one watch and one copy. What the process loop
pops goes into the indexer first and to the handlers then, so a handler that looks an object up
finds it as new as it was told of, or newer.

Beyond client-go: the answers to one's own writes may be put in (`put`, `drop`), and then count
until the watch has caught up. An object that took the place of another of its name is told as a
deletion and an addition.
"""

import asyncio
from collections.abc import Iterable, Mapping
from random import Random, SystemRandom
from typing import Any, Final, Generic, TypeVar

from podium.client.clock import Clock, LoopClock
from podium.client.delta_fifo import Delta, DeltaFIFO, DeltaType, PoppedDeltas
from podium.client.event_handlers import HandlerRegistration, ResourceEventHandler
from podium.client.kube_client import EVERYTHING, KubeClient, Selection
from podium.client.lister import Lister
from podium.client.mutation_cache import MutationCache
from podium.client.object_decoding import Decoder, decoder_of
from podium.client.reflector import Reflector
from podium.client.resources import ResourceType
from podium.client.shared_processor import SharedProcessor
from podium.golang.errors import InputError
from podium.kubernetes.controllers.indexer import Indexer, IndexFunc
from podium.kubernetes.controllers.object_keys import (
    DeletedFinalStateUnknown,
    Key,
    identity_of,
    is_newer,
    last_state,
)

T = TypeVar("T")

_STEP: Final = 100
_SHORTEST_RESYNC_S: Final = 1.0


class SharedInformer(Generic[T]):
    """Objects of one resource as `kind`: a struct that msgspec decodes, or `dict`."""

    def __init__(
        self,
        resource: ResourceType,
        kind: type[T],
        *,
        selection: Selection = EVERYTHING,
        indexers: Mapping[str, IndexFunc[T]] | None = None,
    ) -> None:
        self.resource = resource
        self.decode: Decoder[T] = decoder_of(kind)
        self.indexer: Indexer[T] = Indexer(indexers)
        self.lister: Lister[T] = Lister(self.indexer)
        self.fifo: DeltaFIFO[T] = DeltaFIFO(resource.plural, self.decode, _Known(self))
        self.reflector: Reflector[DeltaFIFO[T]] | None = None
        """There once `run` was called."""
        self.own_writes = MutationCache()
        self._selection = selection
        self._is_selection = bool(selection.labels or selection.fields)
        self._processor = SharedProcessor(self.fifo.resync)

    @property
    def has_synced(self) -> bool:
        """Whether the first list is in the indexer, and plain handlers were told of it."""
        return self.fifo.synced.is_set()

    @property
    def trouble(self) -> str:
        """Why the collection is not followed right now; empty while it is."""
        return self.reflector.trouble if self.reflector is not None else ""

    async def wait_for_sync(self, *, within_s: float | None = None) -> None:
        """Raises InputError if the collection cannot be followed from the start for so long."""
        while not self.has_synced:
            try:
                async with asyncio.timeout(within_s):
                    await self.fifo.synced.wait()
            except TimeoutError:
                if self.trouble:
                    kind = f"{self.resource.plural} ({self.resource.api_version})"
                    raise InputError(f"{kind} cannot be followed: {self.trouble}") from None

    # --- handlers -----------------------------------------------------------------------------

    def add_event_handler(
        self, handler: ResourceEventHandler[T], *, resync_period_s: float = 0.0
    ) -> HandlerRegistration:
        """Tell a handler of all objects that are there, and of every change from now on.

        With a resync period it is told of all objects as updates again and again, for handlers that
        bring something else in line with them. No period is shorter than a second.
        """
        made = HandlerRegistration(
            handler, max(resync_period_s, _SHORTEST_RESYNC_S) if resync_period_s > 0 else 0.0
        )
        for obj in self.indexer.list():
            made.add(obj, is_in_initial_list=True)
        if self.has_synced:
            made.end_initial_list()
        self._processor.add(made)
        return made

    def remove_event_handler(self, registration: HandlerRegistration) -> None:
        """It is told of nothing any more, also not of what is in its buffer."""
        self._processor.remove(registration)

    # --- running ------------------------------------------------------------------------------

    async def run(
        self,
        client: KubeClient,
        *,
        clock: Clock | None = None,
        randomness: Random | None = None,
    ) -> None:
        """Until cancelled; once."""
        if self.reflector is not None:
            raise RuntimeError(f"the informer of {self.resource.plural} runs already")
        clock = clock or LoopClock()
        self.reflector = Reflector(
            client,
            self.resource,
            self.fifo,
            clock=clock,
            randomness=randomness or SystemRandom(),
            selection=self._selection,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(self._processor.run(clock))
            group.create_task(self._process_loop())
            group.create_task(self._end_initial_list())
            await self.reflector.run()

    async def _process_loop(self) -> None:
        popped = 0
        while True:
            self.handle_deltas(await self.fifo.pop())
            popped += 1
            if popped % _STEP == 0:
                await asyncio.sleep(0)

    async def _end_initial_list(self) -> None:
        await self.fifo.synced.wait()
        for each in self._processor.registrations:
            each.end_initial_list()

    # --- changes ------------------------------------------------------------------------------

    def handle_deltas(self, popped: PoppedDeltas) -> None:
        """What the process loop does with what it pops."""
        for delta in popped.deltas:
            if delta.type == DeltaType.DELETED:
                self._process_deletion(popped.key, delta.obj)
            elif delta.type == DeltaType.SYNC:
                self._process_sync(popped.key)
            else:
                self._process_version(popped.key, delta, popped.is_in_initial_list)

    def _process_version(self, key: Key, delta: Delta, is_in_initial_list: bool) -> None:
        _, uid, version = identity_of(delta.obj)
        if self.own_writes.is_gone(uid, version) or self.own_writes.is_ahead(key, version):
            return
        self.own_writes.forget(key)
        old = self.indexer.get_by_key(key)
        if old is not None and identity_of(old).resource_version == version:
            # upstream: what a list has in the version that is known is no news.
            return
        self._store(key, old, delta.obj, is_in_initial_list)

    def _process_deletion(self, key: Key, obj: Any) -> None:
        _, uid, version = identity_of(last_state(obj))
        if not self._is_selection:
            self.own_writes.bury(uid)
        elif self.own_writes.is_ahead(key, version):
            return
        else:
            self.own_writes.bury(uid, version)
        self._delete_known(key, uid, obj)

    def _delete_known(self, key: Key, uid: str, last: Any) -> None:
        """Unless it is another object of the same name that is known."""
        known = self.indexer.get_by_key(key)
        if known is not None and (not uid or identity_of(known).uid == uid):
            self._delete(key, last)

    def _process_sync(self, key: Key) -> None:
        obj = self.indexer.get_by_key(key)
        if obj is not None:
            for each in self._processor.syncing:
                each.update(obj, obj)

    def _store(self, key: Key, old: T | None, new: T, is_in_initial_list: bool) -> None:
        if old is not None and identity_of(old).uid != identity_of(new).uid:
            self.own_writes.bury(identity_of(old).uid)
            self._delete(key, DeletedFinalStateUnknown(key, old))
            old = None
        self.indexer.put(key, new)
        for each in self._processor.registrations:
            if old is None:
                each.add(new, is_in_initial_list=is_in_initial_list)
            else:
                each.update(old, new)

    def _delete(self, key: Key, last: Any) -> None:
        self.own_writes.forget(key)
        self.indexer.delete(key)
        for each in self._processor.registrations:
            each.delete(last)

    # --- one's own writes ---------------------------------------------------------------------

    def put(self, obj: T) -> None:
        """The answer to a write of one's own: an object as the server has it."""
        written = identity_of(obj)
        key, uid, version = written
        if self.own_writes.is_gone(uid, version):
            return
        old = self.indexer.get_by_key(key)
        if old is not None and not is_newer(version, identity_of(old).resource_version):
            return
        self._store(key, old, obj, is_in_initial_list=False)
        self.own_writes.put(written)

    def drop(self, obj: T) -> None:
        """A deletion of one's own has taken effect."""
        key, uid, _ = identity_of(obj)
        self.own_writes.bury(uid)
        self._delete_known(key, uid, obj)


class _Known:
    """What the informer's queue asks (`KnownObjects`)."""

    def __init__(self, informer: SharedInformer[Any]) -> None:
        self._informer = informer

    def get_by_key(self, key: Key) -> Any | None:
        return self._informer.indexer.get_by_key(key)

    def keys_until(self, version: str) -> Iterable[Key]:
        own_writes = self._informer.own_writes
        known = self._informer.indexer.list_keys()
        return [key for key in known if not own_writes.is_ahead(key, version)]

    def server_went_back(self) -> None:
        self._informer.own_writes.clear()


def new_indexer_informer(
    resource: ResourceType,
    kind: type[T],
    handler: ResourceEventHandler[T],
    *,
    resync_period_s: float = 0.0,
    indexers: Mapping[str, IndexFunc[T]] | None = None,
    selection: Selection = EVERYTHING,
) -> tuple[Indexer[T], SharedInformer[T]]:
    """client-go's NewIndexerInformer: an indexer, and what fills it and tells one handler."""
    informer = SharedInformer(resource, kind, selection=selection, indexers=indexers)
    informer.add_event_handler(handler, resync_period_s=resync_period_s)
    return informer.indexer, informer

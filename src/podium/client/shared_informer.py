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
from collections.abc import Mapping
from random import Random, SystemRandom
from typing import Final, Generic, TypeVar

from podium.client.clock import Clock, LoopClock
from podium.client.delta_fifo import DeltaFIFO, DeltaType, PoppedDeltas
from podium.client.event_handlers import (
    HandlerRegistration,
    ResourceEventHandler,
    SharedProcessor,
)
from podium.client.kube_client import EVERYTHING, KubeClient, Selection
from podium.client.object_decoding import Decoder, decoder_of
from podium.client.object_store import KnownObjects, MutationCache
from podium.client.reflector import Reflector
from podium.client.resources import ResourceType
from podium.golang.errors import InputError
from podium.kubernetes.controllers.indexer import NAMESPACE_INDEX, Indexer, IndexFunc
from podium.kubernetes.controllers.object_keys import labels_of
from podium.kubernetes.rules.labels import Selector, selector_of_map

T = TypeVar("T")
Labels = Selector | Mapping[str, str] | None

_STEP: Final = 100
_SHORTEST_RESYNC_S: Final = 1.0


class Lister(Generic[T]):
    """Reading what an informer knows, as client-go's listers do: never a request, never a wait.

    Of all namespaces; with `of_namespace`, or for kinds without any, by bare names. What is handed
    out is shared with everybody who reads it and not to be changed.
    """

    def __init__(self, indexer: Indexer[T], namespace: str = "") -> None:
        self._indexer = indexer
        self._namespace = namespace

    def of_namespace(self, namespace: str) -> "Lister[T]":
        return Lister(self._indexer, namespace)

    def get(self, name: str) -> T | None:
        return self._indexer.get(self._namespace, name)

    def list(self, labels: Labels = None) -> list[T]:
        """All, or those with these labels; a mapping is one that they all have to equal."""
        if self._namespace:
            found = self._indexer.by_index(NAMESPACE_INDEX, self._namespace)
        else:
            found = self._indexer.list()
        if labels is None:
            return found
        selector = labels if isinstance(labels, Selector) else selector_of_map(labels)
        return [obj for obj in found if selector.matches(labels_of(obj))]


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
        self._selection = selection
        self._processor = SharedProcessor()
        own_writes = MutationCache(of_selection=bool(selection.labels or selection.fields))
        self._known: KnownObjects[T] = KnownObjects(self._processor, self.indexer, own_writes)
        self.fifo: DeltaFIFO[T] = DeltaFIFO(resource.plural, self.decode, self._known)
        self.reflector: Reflector[DeltaFIFO[T]] | None = None
        """There once `run` was called."""

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
            group.create_task(self._processor.run(clock, self.fifo.resync))
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
        self._processor.end_initial_list()

    # --- changes ------------------------------------------------------------------------------

    def handle_deltas(self, popped: PoppedDeltas) -> None:
        """What the process loop does with what it pops."""
        for delta in popped.deltas:
            if delta.type == DeltaType.DELETED:
                self._known.take_deletion(popped.key, delta.obj)
            elif delta.type != DeltaType.SYNC:
                self._known.take(
                    popped.key, delta.obj, is_in_initial_list=popped.is_in_initial_list
                )
            elif (obj := self._known.get_by_key(popped.key)) is not None:
                self._processor.on_sync(obj)

    # --- one's own writes ---------------------------------------------------------------------

    def put(self, obj: T) -> None:
        """The answer to a write of one's own: an object as the server has it."""
        self._known.put_written(obj)

    def drop(self, obj: T) -> None:
        """A deletion of one's own has taken effect."""
        self._known.drop_written(obj)


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

"""Informers: one copy of a collection for everybody, the queue behind it, and a factory.

    API server ─▶ Reflector ─▶ DeltaFIFO ─▶ process loop ─▶ Indexer ◀── Lister
                                                 └────────▶ handlers, each with its buffer

However many handlers and listers there are, there is one watch and one copy. What the process loop
pops goes into the indexer first and to the handlers then, so a handler that looks an object up
finds it as new as it was told of, or newer.

Beyond client-go: the answers to one's own writes may be put in (`put`, `drop`), and then count
until the watch has caught up. An object that took the place of another of its name is reported as a
deletion and an addition.

A queue of what happened to each object: client-go's DeltaFIFO. A reflector puts changes in at one
end, an informer pops them at the other, one object at a time with everything that happened to it
since its last turn, in order. So an informer that falls behind sees an object once and not once for
each change, and never sees it go backwards.

    Added, Updated   a watch told of an object that was not known, or that was
    Replaced         a list has it; the list may be the first, or one after a watch was lost
    Deleted          a watch told, or a list lacks it (then with `DeletedFinalStateUnknown`)
    Sync             nobody told anything; it is time to look at it again

Two deletions in a row are one, the one that knows more. An object that is deleted and that nobody
knows is nothing. Objects that wait are not put in for a Sync.

Informers by resource, each made once: client-go's SharedInformerFactory. Whoever asks for the
informer of a resource gets the one that is there. What was requested is followed from the moment at
which the factory runs, and what is requested later from then on.

    async with SharedInformerFactory(client) as factory:
        pods = factory.informer(PODS, dict)
        await factory.wait_for_cache_sync()
"""

import asyncio
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from random import Random, SystemRandom
from types import TracebackType
from typing import Any, Final, Generic, NamedTuple, Protocol, Self, TypeVar

import msgspec

from podium.client.clock import Clock, LoopClock
from podium.client.event_handlers import (
    HandlerRegistration,
    ResourceEventHandler,
    SharedProcessor,
)
from podium.client.kube_client import EVERYTHING, KubeClient, Selection
from podium.client.object_store import KnownObjects, MutationCache
from podium.client.reflector import Decoder, Head, ObjectReader, Reflector, decoder_of
from podium.client.resources import ResourceType
from podium.golang.errors import InputError
from podium.kubernetes.controllers.indexer import (
    NAMESPACE_INDEX,
    DeletedFinalStateUnknown,
    Indexer,
    IndexFunc,
    Key,
    is_newer,
    is_older,
    labels_of,
)
from podium.kubernetes.rules.labels import Selector, selector_of_map

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
        """Whether the first list is in the indexer, and plain handlers were notified of it."""
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


class SharedInformerFactory:
    """`selection` holds for all informers: one namespace, labels, fields."""

    def __init__(
        self,
        client: KubeClient,
        *,
        selection: Selection = EVERYTHING,
        clock: Clock | None = None,
        randomness: Random | None = None,
    ) -> None:
        self._client = client
        self._selection = selection
        self._clock = clock
        self._randomness = randomness
        self._informers: dict[ResourceType, tuple[type, SharedInformer[Any]]] = {}
        self._tasks: dict[ResourceType, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None

    def informer(self, resource: ResourceType, kind: type[T]) -> SharedInformer[T]:
        """Raises InputError if it is there with objects of another kind."""
        held_kind, held = self._informers.get(resource, (kind, None))
        if held is None:
            held = SharedInformer(resource, kind, selection=self._selection)
            self._informers[resource] = (kind, held)
            self._start(resource, held)
        elif held_kind is not kind:
            names = f"{held_kind.__name__}, not {kind.__name__}"
            raise InputError(f"{resource.plural} are read as {names}")
        return held

    async def wait_for_cache_sync(self, *, within_s: float | None = None) -> None:
        """Until everything that was requested is there. Raises InputError as `wait_for_sync`."""
        for _, informer in list(self._informers.values()):
            await informer.wait_for_sync(within_s=within_s)

    @property
    def trouble(self) -> dict[str, str]:
        """Resources that cannot be followed right now, and why."""
        found = {each.resource.plural: each.trouble for _, each in self._informers.values()}
        return {plural: trouble for plural, trouble in found.items() if trouble}

    async def __aenter__(self) -> Self:
        self._group = await asyncio.TaskGroup().__aenter__()
        for resource, (_, informer) in self._informers.items():
            self._start(resource, informer)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._group is not None
        group, self._group = self._group, None
        for task in self._tasks.values():
            task.cancel()
        if isinstance(problem, Exception):
            # It is its author's, and goes on as it is; the group would wrap it.
            kind = problem = trace = None
        await group.__aexit__(kind, problem, trace)

    def _start(self, resource: ResourceType, informer: SharedInformer[Any]) -> None:
        if self._group is not None and resource not in self._tasks:
            running = informer.run(self._client, clock=self._clock, randomness=self._randomness)
            self._tasks[resource] = self._group.create_task(running)

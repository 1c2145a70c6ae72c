"""Notifying handlers of changes: client-go's ResourceEventHandler, its buffers and its processor.

A handler's methods are plain functions or coroutines, as its author likes. Plain ones are called at
once, in the order of the changes: they are for putting a key into a queue and must not take long,
as nothing else runs meanwhile. A handler with a coroutine has a buffer and a task of its own:
however long it waits, it holds up neither the informer nor other handlers.

Contract: each handler gets every change in order, from the objects that are there when it is added
(`is_in_initial_list`) on. A handler that fails is logged with the object's key, and gets the next
change as if nothing had happened.
"""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from podium.client.clock import Clock
from podium.kubernetes.controllers.indexer import DeletedFinalStateUnknown, meta_namespace_key

T = TypeVar("T")
SeenT_contra = TypeVar("SeenT_contra", contravariant=True)
Told = Awaitable[None] | None

_LOG: Final = logging.getLogger("podium.client")
_STEP: Final = 100
"""After how many changes others have a turn, whether or not a handler waits."""


class ResourceEventHandler(Protocol[SeenT_contra]):
    def on_add(self, obj: SeenT_contra, /, *, is_in_initial_list: bool) -> Told: ...

    def on_update(self, old: SeenT_contra, new: SeenT_contra, /) -> Told:
        """Also for a resync, with the same object twice."""

    def on_delete(self, obj: SeenT_contra | DeletedFinalStateUnknown, /) -> Told:
        """As it was at the end; if nobody saw that, wrapped, as it was last known."""


@dataclass(eq=False)
class ResourceEventHandlerFuncs(Generic[T]):
    """A handler from functions; what is left out is not told."""

    add: Callable[[T], Told] | None = None
    update: Callable[[T, T], Told] | None = None
    delete: Callable[[Any], Told] | None = None

    def on_add(self, obj: T, /, *, is_in_initial_list: bool) -> Told:
        del is_in_initial_list
        return self.add(obj) if self.add is not None else None

    def on_update(self, old: T, new: T, /) -> Told:
        return self.update(old, new) if self.update is not None else None

    def on_delete(self, obj: T | DeletedFinalStateUnknown, /) -> Told:
        return self.delete(obj) if self.delete is not None else None

    @property
    def waits(self) -> bool:
        return any(map(inspect.iscoroutinefunction, (self.add, self.update, self.delete)))


Call = Callable[[], Told]


class HandlerRegistration:
    """One handler of one informer; what `add_event_handler` gives back."""

    def __init__(self, handler: ResourceEventHandler[Any], resync_period_s: float) -> None:
        self.resync_period_s = resync_period_s
        self.has_buffer = _waits(handler)
        self.synced = asyncio.Event()
        """Set once it was told of everything that was there when it was added."""
        self._handler = handler
        self._buffer: deque[tuple[Any, Call]] = deque()
        self._filled = asyncio.Event()

    @property
    def waiting(self) -> int:
        """How many changes are in its buffer."""
        return len(self._buffer)

    def add(self, obj: Any, *, is_in_initial_list: bool) -> None:
        on_add = self._handler.on_add
        self._tell(obj, lambda: on_add(obj, is_in_initial_list=is_in_initial_list))

    def update(self, old: Any, new: Any) -> None:
        on_update = self._handler.on_update
        self._tell(new, lambda: on_update(old, new))

    def delete(self, obj: Any) -> None:
        on_delete = self._handler.on_delete
        self._tell(obj, lambda: on_delete(obj))

    def end_initial_list(self) -> None:
        """What comes after was not there when it was added."""
        self._tell(None, self.synced.set)

    async def run(self) -> None:
        """Empty the buffer; until cancelled."""
        told = 0
        while True:
            while not self._buffer:
                self._filled.clear()
                await self._filled.wait()
            obj, call = self._buffer.popleft()
            try:
                result = call()
                if result is not None:
                    await result
            except Exception:
                _log_failure(obj)
            told += 1
            if told % _STEP == 0:
                await asyncio.sleep(0)

    def _tell(self, obj: Any, call: Call) -> None:
        if self.has_buffer:
            self._buffer.append((obj, call))
            self._filled.set()
            return
        try:
            call()
        except Exception:
            _log_failure(obj)


class SharedProcessor:
    """The handlers of one informer: their tasks, and when each wants to hear of everything again.

    Registrations are kept in a tuple that is replaced when one comes or goes, so that a handler may
    add or remove one while it is told of a change.
    """

    def __init__(self) -> None:
        self.registrations: tuple[HandlerRegistration, ...] = ()
        self._syncing: frozenset[HandlerRegistration] = frozenset()
        """Whom a Sync is for."""
        self._tasks: dict[HandlerRegistration, list[asyncio.Task[None]]] = {}
        self._running: tuple[asyncio.TaskGroup, Clock, Callable[[], bool]] | None = None

    def add(self, registration: HandlerRegistration) -> None:
        self.registrations = (*self.registrations, registration)
        self._start(registration)

    def remove(self, registration: HandlerRegistration) -> None:
        self.registrations = tuple(each for each in self.registrations if each is not registration)
        self._syncing -= {registration}
        for task in self._tasks.pop(registration, ()):
            task.cancel()

    async def run(self, clock: Clock, resync: Callable[[], bool]) -> None:
        """Until cancelled. `resync` has every object looked at again, and says whether some still
        wait since last time."""
        async with asyncio.TaskGroup() as group:
            self._running = (group, clock, resync)
            try:
                for registration in self.registrations:
                    self._start(registration)
                await asyncio.Event().wait()
            finally:
                self._running = None

    # --- what all are told (a `ResourceEventHandler`) -----------------------------------------

    def on_add(self, obj: Any, /, *, is_in_initial_list: bool) -> None:
        for each in self.registrations:
            each.add(obj, is_in_initial_list=is_in_initial_list)

    def on_update(self, old: Any, new: Any, /) -> None:
        for each in self.registrations:
            each.update(old, new)

    def on_delete(self, obj: Any, /) -> None:
        for each in self.registrations:
            each.delete(obj)

    def on_sync(self, obj: Any) -> None:
        for each in self._syncing:
            each.update(obj, obj)

    def end_initial_list(self) -> None:
        for each in self.registrations:
            each.end_initial_list()

    # --- inside -------------------------------------------------------------------------------

    def _start(self, registration: HandlerRegistration) -> None:
        if self._running is None:
            return
        group, clock, resync = self._running
        tasks = self._tasks[registration] = []
        if registration.has_buffer:
            tasks.append(group.create_task(registration.run()))
        if registration.resync_period_s:
            tasks.append(group.create_task(self._resync_often(registration, clock, resync)))

    async def _resync_often(
        self, registration: HandlerRegistration, clock: Clock, resync: Callable[[], bool]
    ) -> None:
        while True:
            await clock.sleep(registration.resync_period_s)
            # Who is left over from last time hears of some objects once more than asked for.
            still = self._syncing if resync() else frozenset()
            self._syncing = still | {registration}


def _log_failure(obj: Any) -> None:
    key = meta_namespace_key(obj)
    _LOG.exception("%s: a handler has failed; it goes on with the next change", key)


def _waits(handler: ResourceEventHandler[Any]) -> bool:
    if isinstance(handler, ResourceEventHandlerFuncs):
        return handler.waits
    methods = (handler.on_add, handler.on_update, handler.on_delete)
    return any(map(inspect.iscoroutinefunction, methods))

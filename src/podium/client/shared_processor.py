"""The handlers of one informer: their tasks, and when each wants to hear of everything again.

Registrations are kept in a tuple that is replaced when one comes or goes, so that a handler may add
or remove one while it is told of a change.
"""

import asyncio
from collections.abc import Callable

from podium.client.clock import Clock
from podium.client.event_handlers import HandlerRegistration


class SharedProcessor:
    def __init__(self, resync: Callable[[], bool]) -> None:
        """`resync` has every object looked at again; whether some still wait since last time."""
        self.registrations: tuple[HandlerRegistration, ...] = ()
        self.syncing: frozenset[HandlerRegistration] = frozenset()
        """Whom a Sync is for."""
        self._resync = resync
        self._tasks: dict[HandlerRegistration, list[asyncio.Task[None]]] = {}
        self._running: tuple[asyncio.TaskGroup, Clock] | None = None

    def add(self, registration: HandlerRegistration) -> None:
        self.registrations = (*self.registrations, registration)
        self._start(registration)

    def remove(self, registration: HandlerRegistration) -> None:
        self.registrations = tuple(each for each in self.registrations if each is not registration)
        self.syncing -= {registration}
        for task in self._tasks.pop(registration, ()):
            task.cancel()

    async def run(self, clock: Clock) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._running = (group, clock)
            try:
                for registration in self.registrations:
                    self._start(registration)
                await asyncio.Event().wait()
            finally:
                self._running = None

    def _start(self, registration: HandlerRegistration) -> None:
        if self._running is None:
            return
        group, clock = self._running
        tasks = self._tasks[registration] = []
        if registration.has_buffer:
            tasks.append(group.create_task(registration.run()))
        if registration.resync_period_s:
            tasks.append(group.create_task(self._resync_often(registration, clock)))

    async def _resync_often(self, registration: HandlerRegistration, clock: Clock) -> None:
        while True:
            await clock.sleep(registration.resync_period_s)
            # Who is left over from last time hears of some objects once more than asked for.
            still = self.syncing if self._resync() else frozenset()
            self.syncing = still | {registration}

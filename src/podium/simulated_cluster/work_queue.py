"""Keys that want to be looked at: each once, now or later, and less often while they fail.

Adding a key that waits changes nothing; adding one that is being worked on makes it wait for its
turn again. Failures of a key are counted, and each doubles the pause before its next turn (from
5 ms to 1000 s, as in client-go's work queues).
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Hashable
from typing import Final

from podium.client import Clock

_FIRST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 1000.0
_TICK_S: Final = 1e-6
"""Sleeping ends when it should only about as exactly as this."""
_SHORTEST_WAIT_S: Final = 1e-3
"""Who wants to look again sees a later time, whatever rounding has left of the wait."""


class WorkQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ready: deque[Hashable] = deque()
        self._waiting: set[Hashable] = set()
        self._working: set[Hashable] = set()
        self._again: set[Hashable] = set()
        self._due: dict[Hashable, float] = {}
        self._timers: list[tuple[float, int, Hashable]] = []
        self._count = 0
        self._failures: dict[Hashable, int] = {}
        self._changed = asyncio.Event()

    def add(self, key: Hashable) -> None:
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.append(key)
            self._changed.set()

    def add_after(self, key: Hashable, delay_s: float) -> None:
        """Add it later; of several such wishes the earliest counts."""
        if delay_s <= 0:
            self.add(key)
            return
        due = self._clock.now() + max(delay_s, _SHORTEST_WAIT_S)
        known = self._due.get(key)
        if known is not None and known <= due:
            return
        self._due[key] = due
        self._count += 1
        heapq.heappush(self._timers, (due, self._count, key))
        self._changed.set()

    async def take(self) -> Hashable:
        """The next key; `done` or `failed` must follow."""
        while True:
            wait_s = self._wake_due()
            if self._ready:
                key = self._ready.popleft()
                self._waiting.discard(key)
                self._working.add(key)
                return key
            self._changed.clear()
            await self._wait(wait_s)

    def done(self, key: Hashable, again_after_s: float | None = None) -> None:
        self._failures.pop(key, None)
        self._release(key)
        if again_after_s is not None:
            self.add_after(key, again_after_s)

    def failed(self, key: Hashable) -> float:
        """Put it back for later; after how many seconds."""
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        pause_s = min(_FIRST_PAUSE_S * 2.0 ** min(count, 30), _LONGEST_PAUSE_S)
        self._release(key)
        self.add_after(key, pause_s)
        return pause_s

    def _release(self, key: Hashable) -> None:
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _wake_due(self) -> float | None:
        """Move what is due to those that are ready; seconds until more is."""
        now = self._clock.now()
        while self._timers:
            due, _, key = self._timers[0]
            if self._due.get(key) != due:
                heapq.heappop(self._timers)
            elif due <= now + _TICK_S:
                heapq.heappop(self._timers)
                del self._due[key]
                self.add(key)
            else:
                return due - now
        return None

    async def _wait(self, wait_s: float | None) -> None:
        if wait_s is None:
            await self._changed.wait()
            return
        sleeping = asyncio.ensure_future(self._clock.sleep(wait_s))
        changing = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait((sleeping, changing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            changing.cancel()

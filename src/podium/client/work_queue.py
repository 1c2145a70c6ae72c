"""Keys that want to be looked at, and the loop of a controller that looks at them.

The queue is client-go's RateLimitingQueue. Adding a key that waits changes nothing; adding one that
is being worked on makes it wait for its turn again, so no key is ever worked on twice at a time and
no change is lost.

    key = await queue.get()
    try:
        await reconcile(key)
        queue.forget(key)
    except ApiError:
        queue.add_rate_limited(key)
    finally:
        queue.done(key)

`ControlLoop` has workers take keys from the queue, and puts a key back after a failure. What is
done for a key is a function of the controller's, which brings the cluster in line with what the
informers know. Contract: no failure of one key stops another; one key is looked at by one worker at
a time; what the server refuses or does not answer is tried again after a growing pause, and a bug
as well, with its traceback in the log. A refusal that lasts is one line in the log.
"""

import asyncio
import heapq
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from podium.client.api_errors import ApiError, Conflict
from podium.client.clock import Clock, LoopClock
from podium.client.rate_limit import ItemExponentialFailureRateLimiter, RateLimiter
from podium.client.transport import Unreachable

KeyT = TypeVar("KeyT", bound=Hashable)

_TICK_S: Final = 1e-6
"""Sleeping ends when it should only about as exactly as this."""
_SHORTEST_WAIT_S: Final = 1e-3
"""Who wants to look again sees a later time, whatever rounding has left of the wait."""


class QueueShutDown(Exception):
    """Nothing more comes from a queue."""


class RateLimitingQueue(Generic[KeyT]):
    def __init__(
        self, rate_limiter: RateLimiter | None = None, *, clock: Clock | None = None
    ) -> None:
        self._clock = clock or LoopClock()
        self._limiter = rate_limiter or ItemExponentialFailureRateLimiter()
        self._ready: deque[KeyT] = deque()
        self._waiting: set[KeyT] = set()
        self._working: set[KeyT] = set()
        self._again: set[KeyT] = set()
        self._due: dict[KeyT, float] = {}
        self._timers: list[tuple[float, int, KeyT]] = []
        self._count = 0
        self._changed = asyncio.Event()
        self._is_shut_down = False

    def __len__(self) -> int:
        """How many keys are ready for somebody to take them."""
        return len(self._ready)

    def add(self, key: KeyT) -> None:
        if self._is_shut_down:
            return
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.append(key)
            self._changed.set()

    def add_after(self, key: KeyT, delay_s: float) -> None:
        """Add it later; of several such wishes the earliest counts."""
        if delay_s <= 0:
            self.add(key)
            return
        due = self._clock.now() + max(delay_s, _SHORTEST_WAIT_S)
        known = self._due.get(key)
        if self._is_shut_down or (known is not None and known <= due):
            return
        self._due[key] = due
        self._count += 1
        heapq.heappush(self._timers, (due, self._count, key))
        self._changed.set()

    def add_rate_limited(self, key: KeyT) -> float:
        """Add it when the rate limiter allows; after how many seconds that is."""
        pause_s = self._limiter.when(key)
        self.add_after(key, pause_s)
        return pause_s

    def forget(self, key: KeyT) -> None:
        """It has gone well; its failures count no more."""
        self._limiter.forget(key)

    def num_requeues(self, key: KeyT) -> int:
        return self._limiter.num_requeues(key)

    async def get(self) -> KeyT:
        """The next key; `done` must follow. Raises QueueShutDown when there will be none."""
        while True:
            wait_s = self._wake_due()
            if self._ready:
                key = self._ready.popleft()
                self._waiting.discard(key)
                self._working.add(key)
                return key
            if self._is_shut_down:
                raise QueueShutDown
            self._changed.clear()
            await self._wait(wait_s)

    def done(self, key: KeyT) -> None:
        """Work on it is over, however it went."""
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def shut_down(self) -> None:
        """Take nothing new. What is ready is still handed out; then `get` raises."""
        self._is_shut_down = True
        self._due.clear()
        self._timers.clear()
        self._changed.set()

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


Reconcile = Callable[[KeyT], Awaitable[float | None]]
"""Does what is to be done for a key; after how many seconds to look again, None for not before
something happens."""

_LOG: Final = logging.getLogger("podium.client")
_USUAL_PAUSE_S: Final = 0.1


class ControlLoop(Generic[KeyT]):
    """Keys wait in `queue` until `run` is called; `name` is for the log."""

    def __init__(
        self,
        name: str,
        reconcile: Reconcile[KeyT],
        queue: RateLimitingQueue[KeyT] | None = None,
        *,
        workers: int = 1,
    ) -> None:
        self.name = name
        self.queue: RateLimitingQueue[KeyT] = RateLimitingQueue() if queue is None else queue
        self._reconcile = reconcile
        self._workers = workers
        self._warned: dict[KeyT, str] = {}
        """What was logged of keys that fail, by the kind of their problem."""

    async def run(self) -> None:
        """Until cancelled, or until the queue is shut down and empty."""
        async with asyncio.TaskGroup() as group:
            for _ in range(self._workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while True:
            try:
                key = await self.queue.get()
            except QueueShutDown:
                return
            try:
                await self._process(key)
            finally:
                self.queue.done(key)

    async def _process(self, key: KeyT) -> None:
        try:
            again_after_s = await self._reconcile(key)
        except (ApiError, Unreachable) as problem:
            self._tell(key, problem, self.queue.add_rate_limited(key))
        except Exception:
            _LOG.exception("%s: %s: this is a bug", self.name, _show_key(key))
            self.queue.add_rate_limited(key)
        else:
            self.queue.forget(key)
            self._warned.pop(key, None)
            if again_after_s is not None:
                self.queue.add_after(key, again_after_s)

    def _tell(self, key: KeyT, problem: Exception, pause_s: float) -> None:
        # The same refusal may have another text each time: of an object with a random name, say.
        kind = problem.reason if isinstance(problem, ApiError) else type(problem).__name__
        is_usual = isinstance(problem, Conflict) or pause_s < _USUAL_PAUSE_S
        is_known = self._warned.get(key) == kind
        level = logging.DEBUG if is_usual or is_known else logging.WARNING
        if level == logging.WARNING:
            self._warned[key] = kind
        shown_s = f"{pause_s:.2g}" if pause_s < 1 else f"{pause_s:.0f}"
        _LOG.log(level, "%s: %s: %s; again in %s s", self.name, _show_key(key), problem, shown_s)


def _show_key(key: Hashable) -> str:
    if isinstance(key, tuple):
        return "/".join(str(part) for part in key if part)
    return str(key)

"""The loop of a controller: keys from a queue, looked at by workers, again after failures.

What is done for a key is somebody else's: a function that brings the world in line with what the
informers know of it. Contract: no failure of one key stops another; one key is looked at by one
worker at a time; what the server refuses or does not answer is tried again after a growing pause,
and a bug as well, with its traceback in the log. A refusal that lasts is one line in the log.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from podium.client.api_errors import ApiError, Conflict
from podium.client.transport import Unreachable
from podium.client.work_queue import QueueShutDown, RateLimitingQueue

KeyT = TypeVar("KeyT", bound=Hashable)
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
            _LOG.exception("%s: %s: this is a bug", self.name, _shown(key))
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
        _LOG.log(level, "%s: %s: %s; again in %s s", self.name, _shown(key), problem, shown_s)


def _shown(key: Hashable) -> str:
    if isinstance(key, tuple):
        return "/".join(str(part) for part in key if part)
    return str(key)

"""Calls into the event loop of another thread, given up where that loop does not answer.

A scheduler's state is read in its own loop, between two of its steps. A plugin that computes for
long holds that loop up; who serves HTTP from another thread asks through here, waits for a bounded
time and then answers with what was made before.

Contract: a call that was given up is not carried out later. Once one call was given up, further
ones are at once, until the loop has answered. What has begun is waited for.
"""

import asyncio
import inspect
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar, overload

T = TypeVar("T")

BOUND_S: Final = 1.0


class LoopBusy(Exception):
    """The loop does not answer; `seconds` since when."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the scheduler is busy for {seconds:.0f} s")
        self.seconds = seconds


class LoopCalls:
    def __init__(self, loop: asyncio.AbstractEventLoop, bound_s: float = BOUND_S) -> None:
        """`loop` is the one that is called; all who call share another."""
        self._loop = loop
        self._bound_s = bound_s
        self._unanswered_since: float | None = None

    @overload
    async def call(self, function: Callable[[], Awaitable[T]]) -> T: ...

    @overload
    async def call(self, function: Callable[[], T | Awaitable[T]]) -> T: ...

    async def call(self, function: Callable[[], T | Awaitable[T]]) -> T:
        """What the function returns in the other loop; an awaitable is awaited there. Raises
        LoopBusy, and what the function raises."""
        since = self._unanswered_since
        if since is not None and time.monotonic() - since >= self._bound_s:
            raise LoopBusy(time.monotonic() - since)
        call = _Call(function, self._note_answer)
        if since is None:
            self._unanswered_since = time.monotonic()
        try:
            self._loop.call_soon_threadsafe(call.begin)
        except RuntimeError:  # it is closed
            raise LoopBusy(0.0) from None
        try:
            async with asyncio.timeout(self._bound_s):
                await call.begun.wait()
        except TimeoutError:
            if call.give_up():
                asked = self._unanswered_since
                seconds = time.monotonic() - asked if asked is not None else self._bound_s
                raise LoopBusy(seconds) from None
        except asyncio.CancelledError:
            if not call.give_up():
                self._cancel(call)
            raise
        try:
            return await call.result
        except asyncio.CancelledError:
            self._cancel(call)
            raise

    def _note_answer(self) -> None:
        self._unanswered_since = None

    def _cancel(self, call: "_Call[T]") -> None:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call.cancel)


class _Call(Generic[T]):
    def __init__(
        self, function: Callable[[], T | Awaitable[T]], note_answer: Callable[[], None]
    ) -> None:
        self.begun = asyncio.Event()
        self._claim = threading.Lock()
        """Taken by whoever is first: the loop that begins, or the caller that gives up."""
        self._here = asyncio.get_running_loop()
        self.result: asyncio.Future[T] = self._here.create_future()
        self._function = function
        self._note_answer = note_answer
        self._task: asyncio.Future[T] | None = None

    # --- in the loop that is called -----------------------------------------------------------

    def begin(self) -> None:
        if not self._claim.acquire(blocking=False):
            self._tell(self._note_answer)
            return
        self._tell(self._begin)
        try:
            found = self._function()
        except Exception as problem:
            self._tell(self._fail, problem)
            return
        if inspect.isawaitable(found):
            self._task = asyncio.ensure_future(found)
            self._task.add_done_callback(self._report)
        else:
            self._tell(self._finish, found)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _report(self, task: "asyncio.Future[T]") -> None:
        if task.cancelled():
            self._tell(self.result.cancel)
        elif (problem := task.exception()) is not None:
            self._tell(self._fail, problem)
        else:
            self._tell(self._finish, task.result())

    def _tell(self, function: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # nobody waits any more
            self._here.call_soon_threadsafe(function, *args)

    # --- in the loop that calls ---------------------------------------------------------------

    def give_up(self) -> bool:
        """Whether it had not begun, and will not."""
        return self._claim.acquire(blocking=False)

    def _begin(self) -> None:
        self._note_answer()
        self.begun.set()

    def _fail(self, problem: BaseException) -> None:
        if not self.result.done():
            self.result.set_exception(problem)

    def _finish(self, found: T) -> None:
        if not self.result.done():
            self.result.set_result(found)

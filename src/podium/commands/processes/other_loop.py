"""Work in the event loop of another thread, for as long as somebody here waits for it."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

_LOOK_S: Final = 0.1

T = TypeVar("T")


class LoopEnded(Exception):
    """The other loop is closed, or it ended before the work."""


async def run_in(loop: asyncio.AbstractEventLoop, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What the work comes to in that loop. Cancelled, it is cancelled there and waited for. Raises
    what the work raises, and LoopEnded."""
    here = asyncio.get_running_loop()
    ended: asyncio.Future[T] = here.create_future()
    begun: list[asyncio.Task[T]] = []

    def begin() -> None:
        task = loop.create_task(work())
        begun.append(task)
        task.add_done_callback(lambda _: here.call_soon_threadsafe(finish, task))

    def finish(task: "asyncio.Task[T]") -> None:
        if ended.done():
            return
        if task.cancelled():
            ended.set_exception(LoopEnded())
        elif (problem := task.exception()) is not None:
            ended.set_exception(problem)
        else:
            ended.set_result(task.result())

    def cancel() -> None:
        for task in begun:
            task.cancel()

    try:
        loop.call_soon_threadsafe(begin)
    except RuntimeError:
        raise LoopEnded from None
    try:
        # Not shielded: from Python 3.14 on a shield logs what comes after who waited has gone.
        await asyncio.wait((ended,))
        return ended.result()
    except asyncio.CancelledError:
        with suppress(RuntimeError):  # the loop is closed: it was cancelled with it
            loop.call_soon_threadsafe(cancel)
        # A loop that is closed ends nothing any more.
        while not ended.done() and not loop.is_closed():
            with suppress(asyncio.CancelledError):
                await asyncio.wait((ended,), timeout=_LOOK_S)
        if ended.done():
            ended.exception()
        raise

"""Parts of a process that run beside each other: begun, watched, stopped by a signal, ended.

A part runs for as long as its context. Whoever waits for something while parts run hears of a part
that broke at once, and what it broke with is raised.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Coroutine
from typing import Any, Final, TypeVar

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

Part = asyncio.Future[Any]
_Result = TypeVar("_Result")


def stop_on_signal() -> asyncio.Event:
    """An event of the running loop that SIGTERM and SIGINT set."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stopping.set)
    return stopping


async def run_until_stopped(work: Coroutine[Any, Any, None], stopping: asyncio.Event) -> None:
    """Work until the event is set, however far it has come. Raises what it ends with, also on the
    way out."""
    stopped = asyncio.ensure_future(stopping.wait())
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait((stopped, working), return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
    finally:
        await end_part(stopped)


@contextlib.asynccontextmanager
async def running_part(work: Coroutine[Any, Any, None]) -> AsyncIterator[Part]:
    """Work that goes on for as long as the context."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        await end_part(task)


async def end_part(part: Part) -> None:
    """Bring something to its end; what it ended with is for those who watched it."""
    part.cancel()
    await asyncio.gather(part, return_exceptions=True)


async def wait_while_running(work: Awaitable[_Result], *parts: Part) -> _Result:
    """What the work comes to. Raises what one of the parts ended with, if that is before it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((task, *parts), return_when=asyncio.FIRST_COMPLETED)
        for part in parts:
            if part.done():
                part.result()
                raise RuntimeError("a part of the cluster has ended")
        return await task
    finally:
        await end_part(task)

"""Time as this package needs it: a clock, and tasks alike on all releases of Python.

Whatever waits gets its clock from outside, so that a test can let hours pass in no time.

What early releases of Python 3.11 do otherwise with tasks, written so that all do the same. Debian
12 has 3.11.2. There an error that is raised in `except*` arrives in a group again (up to 3.11.3),
and a timeout in a task that was cancelled before, as during its clean-up, raises CancelledError in
place of TimeoutError (up to 3.11.2).
"""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since some moment; never goes back."""

    async def sleep(self, seconds: float) -> None: ...


class LoopClock:
    """The time of the running event loop."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


_Result = TypeVar("_Result")


@contextmanager
def unwrap_errors(*kinds: type[BaseException]) -> Iterator[None]:
    """Raise the first error of a task group whose errors are all of these kinds; any other group
    is raised as it is."""
    try:
        yield
    except BaseExceptionGroup as several:
        expected, others = several.split(kinds)
        if expected is None or others is not None:
            raise
        first: BaseException = expected
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def run_in_own_task(work: Coroutine[Any, Any, _Result]) -> _Result:
    """What the work comes to, in a task that nobody has cancelled yet."""
    return await asyncio.create_task(work)

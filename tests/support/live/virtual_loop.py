"""An event loop whose time jumps: where a real one would wait, it moves its clock on.

Everything that waits through asyncio (sleeps, timeouts, timers) happens in the right order and at
once. A test in which nothing is left to happen fails instead of hanging.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, Final, TypeVar, overload

from support.waiting import PATIENCE_S

T = TypeVar("T")

_IN_FLIGHT_S: Final = 0.001
"""How long bytes may be on their way between two sockets of this machine."""


class NothingLeft(Exception):
    """Every task waits for something that no timer will bring about."""


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for threads and sockets only; else the loop's clock is moved on by what it would have
    waited."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.loop.working:
            return super().select(PATIENCE_S)
        if len(self.get_map()) > 1:  # the loop's own pipe is one
            ready = super().select(_IN_FLIGHT_S)
            if ready:
                return ready
        if timeout is None:
            raise NothingLeft
        self.loop.passed_s += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = _JumpingSelector()
        selector.loop = self
        self.passed_s = 0.0
        self.working = 0
        """Calls that a thread carries out; the last thing each does is to wake the loop."""
        super().__init__(selector)

    def time(self) -> float:
        return self.passed_s

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        future = super().run_in_executor(executor, func, *args)
        self.working += 1
        future.add_done_callback(self._count_done)
        return future

    def _count_done(self, _: object) -> None:
        self.working -= 1

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Here and now: the thread that asyncio starts for it is none of `working`."""
        executor = getattr(self, "_default_executor", None)
        if executor is not None:
            executor.shutdown(wait=True)


def run_virtually(main: Coroutine[Any, Any, T]) -> T:
    """What `asyncio.run` does, in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def _assert_virtual() -> None:
    assert isinstance(asyncio.get_running_loop(), VirtualLoop), "this loop's time is real"


def timeout_virtually(delay_s: float) -> asyncio.Timeout:
    """What `asyncio.timeout` does, where it takes no time."""
    _assert_virtual()
    return asyncio.timeout(delay_s)


@overload
async def sleep_virtually(delay_s: float) -> None: ...
@overload
async def sleep_virtually(delay_s: float, result: T) -> T: ...
async def sleep_virtually(delay_s: float, result: Any = None) -> Any:
    """What `asyncio.sleep` does, where it takes no time: in a real loop a test waits for what it
    needs, never for a while."""
    _assert_virtual()
    return await asyncio.sleep(delay_s, result)

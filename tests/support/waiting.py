"""Waiting for what no event announces: looked at again and again, with patience.

A machine may be ten times slower than another, and busy: whatever is waited for is given
`PATIENCE_S`, which nothing but a mistake uses up. Nothing is awaited for a fixed time. This is the
only place of all tests that sleeps or reads a clock of the wall.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

PATIENCE_S: Final = 180.0
LOOK_S: Final = 0.02
PATIENTLY: Final = f"--timeout={PATIENCE_S:.0f}s"
"""The same for kubectl."""


def _say_nothing() -> str:
    return "it did not come to that"


class Deadline:
    """The end of somebody's patience."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._ends_at = time.monotonic() + patience_s

    @property
    def timeout_s(self) -> float:
        """What is left, for calls that take a timeout and mean "for ever" by none."""
        return max(0.001, self._ends_at - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return time.monotonic() > self._ends_at


def wait_until(holds: Callable[[], T], describe: Callable[[], str] = _say_nothing) -> T:
    """What holds, once it does."""
    deadline = Deadline()
    while not (found := holds()):
        assert not deadline.has_passed, describe()
        time.sleep(LOOK_S)
    return found


async def wait_in_loop(holds: Callable[[], T], describe: Callable[[], str] = _say_nothing) -> T:
    """The same in an event loop, which goes on meanwhile."""
    deadline = Deadline()
    while not (found := holds()):
        assert not deadline.has_passed, describe()
        await asyncio.sleep(LOOK_S)
    return found


async def poll(ask: Callable[[], Awaitable[T]]) -> T:
    """The first answer that says something."""
    deadline = Deadline()
    while not (found := await ask()):
        assert not deadline.has_passed, _say_nothing()
        await asyncio.sleep(LOOK_S)
    return found


def look_again() -> None:
    """Leave others a moment before the next look."""
    time.sleep(LOOK_S)


async def slow_down(delay_s: float) -> None:
    """A delay that a test makes itself, as a slow network would: nothing depends on its length."""
    await asyncio.sleep(delay_s)

"""Time as this room needs it: a number that grows, and a way to wait.

Whatever waits gets its clock from outside, so that a test can let hours pass in no time.
"""

import asyncio
from typing import Protocol


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

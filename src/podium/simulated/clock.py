"""The time of a simulated cluster: as fast as the real one, or faster.

Speed concerns how long things take, not what the calendar says: at ten times the speed a pod that
runs for a minute ends after six seconds, and the timestamps on it are those of these six seconds.
So ages that kubectl shows stay true, and whoever writes timestamps needs no second clock.

Decisions are pure: they are given a `Moment`, never a clock.
"""

import asyncio
import time
from collections.abc import Callable

from podium.kubernetes.rules.timestamps import Moment


class ClusterClock:
    """Waits in cluster seconds (a `podium.client.Clock`)."""

    def __init__(self, speed: float = 1.0, wall: Callable[[], float] = time.time) -> None:
        self.speed = speed
        self._wall = wall

    def now(self) -> float:
        return asyncio.get_running_loop().time() * self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.speed)

    def moment(self) -> Moment:
        return Moment(self.now(), self._wall(), self.speed)

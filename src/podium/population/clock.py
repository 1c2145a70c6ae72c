"""The time of a simulated cluster: as fast as the real one, or faster.

Speed concerns how long things take, not what the calendar says: at ten times the speed a pod that
runs for a minute ends after six seconds, and the timestamps on it are those of these six seconds.
So ages that kubectl shows stay true, and whoever writes timestamps needs no second clock.

Decisions are pure: they are given a `Moment`, never a clock.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from podium.api.timestamps import micro_time_text, seconds_of, time_text


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant; `now_s` counts cluster seconds, `wall_s` seconds since 1970."""

    now_s: float
    wall_s: float
    speed: float = 1.0

    @property
    def timestamp(self) -> str:
        return time_text(self.wall_s)

    @property
    def micro_timestamp(self) -> str:
        return micro_time_text(self.wall_s)

    def age_s(self, timestamp: str | None) -> float:
        """Cluster seconds since a timestamp; 0 if there is none."""
        if not timestamp:
            return 0.0
        return max(0.0, self.wall_s - seconds_of(timestamp)) * self.speed


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

"""The kinds that the server serves, looked up now and then.

New kinds appear when somebody defines them; half a minute is soon enough to notice.
"""

from typing import Final

from podium.client import Clock, KubeClient
from podium.client.discovery import Served, discover

REFRESH_S: Final = 30.0


class ServedKinds:
    def __init__(self, client: KubeClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._found: list[Served] = []
        self._at_s: float | None = None

    async def all(self) -> list[Served]:
        """Raises ApiError and Unreachable."""
        now = self._clock.now()
        if self._at_s is None or now - self._at_s >= REFRESH_S:
            self._found = await discover(self._client)
            self._at_s = now
        return self._found

"""How long to wait before trying again: longer each time, never the same for two clients.

The numbers are client-go's for reflectors: 0.8 s at first, doubling up to 30 s, each stretched by
up to as much again, and from the start after two minutes without trouble.
"""

from random import Random


class RelistBackoff:
    def __init__(
        self,
        randomness: Random,
        *,
        first_s: float = 0.8,
        longest_s: float = 30.0,
        jitter: float = 1.0,
        quiet_s: float = 120.0,
    ) -> None:
        self._randomness = randomness
        self._first_s = first_s
        self._longest_s = longest_s
        self._jitter = jitter
        self._quiet_s = quiet_s
        self._next_s = first_s
        self._last_at: float | None = None

    def next(self, now: float) -> float:
        """Seconds to wait at a time."""
        if self._last_at is not None and now - self._last_at > self._quiet_s:
            self._next_s = self._first_s
        self._last_at = now
        delay = self._next_s * (1 + self._jitter * self._randomness.random())
        self._next_s = min(self._next_s * 2, self._longest_s)
        return delay

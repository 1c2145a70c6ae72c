"""How long a key waits before its next try: client-go's rate limiters for work queues.

A limiter is asked once for each failure, and told to forget a key that has gone well.
"""

from collections.abc import Hashable
from typing import Final, Protocol

from podium.client.clock import Clock
from podium.client.rate_limit import TokenBucket

_FIRST_S: Final = 0.005
_LONGEST_S: Final = 1000.0
_QPS: Final = 10.0
_BURST: Final = 100


class RateLimiter(Protocol):
    def when(self, key: Hashable) -> float:
        """Seconds until the key may be tried again; counts as a failure."""

    def forget(self, key: Hashable) -> None: ...

    def num_requeues(self, key: Hashable) -> int:
        """How often it has failed since it was forgotten."""


class ItemExponentialFailureRateLimiter:
    """Each failure of a key doubles its pause: 5 ms, 10 ms, and so on up to 1000 s."""

    def __init__(self, first_s: float = _FIRST_S, longest_s: float = _LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._failures: dict[Hashable, int] = {}

    def when(self, key: Hashable) -> float:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        return min(self._first_s * 2.0 ** min(count, 60), self._longest_s)

    def forget(self, key: Hashable) -> None:
        self._failures.pop(key, None)

    def num_requeues(self, key: Hashable) -> int:
        return self._failures.get(key, 0)


class BucketRateLimiter:
    """All keys together: `burst` tries at once, and `qps` a second."""

    def __init__(
        self, qps: float = _QPS, burst: int = _BURST, *, clock: Clock | None = None
    ) -> None:
        self._bucket = TokenBucket(qps, burst, clock=clock)

    def when(self, key: Hashable) -> float:  # noqa: ARG002
        return self._bucket.reserve()

    def forget(self, key: Hashable) -> None:
        """A token that was taken is gone."""

    def num_requeues(self, key: Hashable) -> int:  # noqa: ARG002
        return 0


class MaxOfRateLimiter:
    """The longest pause of several limiters."""

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters = limiters

    def when(self, key: Hashable) -> float:
        return max(each.when(key) for each in self._limiters)

    def forget(self, key: Hashable) -> None:
        for each in self._limiters:
            each.forget(key)

    def num_requeues(self, key: Hashable) -> int:
        return max(each.num_requeues(key) for each in self._limiters)


def default_controller_rate_limiter(clock: Clock | None = None) -> MaxOfRateLimiter:
    """client-go's for controllers: by key, and ten tries a second for all of them."""
    return MaxOfRateLimiter(ItemExponentialFailureRateLimiter(), BucketRateLimiter(clock=clock))

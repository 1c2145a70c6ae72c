"""How long to wait: limits on how often a client asks, and pauses after failures.

An API server serves many clients, and one of them must not drown out the others. A bucket is full
at first (`burst` requests may go at once) and fills up again at `qps` tokens a second. Requests go
in the order in which they came; one that is given up while it waits takes no token, and those
behind it move up. Watches are never limited.

Each client has its own bucket, so that a burst of one (bindings) does not hold up another (the
lease). The numbers and the text about long waits are client-go's (`util/flowcontrol/throttle.go`,
`rest/request.go`).

How long a key waits before its next try: client-go's rate limiters for work queues. A limiter is
asked once for each failure, and told to forget a key that has gone well.

How long to wait before trying again: longer each time, never the same for two clients. The numbers
are client-go's for reflectors: 0.8 s at first, doubling up to 30 s, each stretched by up to as much
again, and from the start after two minutes without trouble.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from random import Random
from typing import Final, Protocol

from podium.client.clock import Clock, LoopClock
from podium.client.transport import Reply, Request, Stream, Transport

_LOG: Final = logging.getLogger("podium.client")
_LONG_WAIT_S: Final = 0.05
_QPS: Final = 5.0
_BURST: Final = 10


def log_wait(request: Request, waited_s: float) -> None:
    _LOG.debug(
        "Waited before sending request: delay=%.3fs "
        "reason=client-side throttling, not priority and fairness verb=%s URL=%s",
        waited_s,
        request.method,
        request.target,
    )


class TokenBucket:
    """`burst` tokens at first, `qps` new ones a second, never more than `burst`.

    A negative `qps` is no limit. Without either, client-go's own defaults hold: 5 and 10.

    What is kept is only the time at which the bucket is full again: each token taken moves it on by
    1/qps, and a token is there as long as it is no more than burst/qps ahead. With qps 2 and
    burst 3, requests that all come at 0 s go at 0, 0, 0, 0.5, 1, 1.5 s.
    """

    def __init__(self, qps: float, burst: int, *, clock: Clock | None = None) -> None:
        self.qps = qps or _QPS
        self.burst = burst if qps or burst else _BURST
        if self.qps > 0 and self.burst <= 0:
            raise ValueError(f"burst is {burst}, and must be greater than 0 when qps is")
        self._clock = clock or LoopClock()
        self._full_at: float | None = None
        self._turn = asyncio.Lock()
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many requests wait for their token."""
        return self._waiting

    async def take(self) -> float:
        """Wait for a token and take it; how many seconds that took."""
        if self.qps < 0:
            return 0.0
        begun = self._clock.now()
        if not self._waiting and self._has_token(begun):
            return 0.0
        self._waiting += 1
        try:
            # The lock hands over in the order of arrival, past those who have left.
            async with self._turn:
                await self._take_next()
        finally:
            self._waiting -= 1
        return self._clock.now() - begun

    def reserve(self) -> float:
        """Take the next token before it is there; after how many seconds it is."""
        if self.qps < 0:
            return 0.0
        now = self._clock.now()
        self._full_at = self._full_with_one_less(now)
        return max(0.0, self._full_at - self.burst / self.qps - now)

    def _has_token(self, now: float) -> bool:
        """Take a token if there is one."""
        full_at = self._full_with_one_less(now)
        if full_at - self.burst / self.qps > now:
            return False
        self._full_at = full_at
        return True

    async def _take_next(self) -> None:
        now = self._clock.now()
        full_at = self._full_with_one_less(now)
        wait_s = full_at - self.burst / self.qps - now
        if wait_s > 0:
            await self._clock.sleep(wait_s)
        self._full_at = full_at

    def _full_with_one_less(self, now: float) -> float:
        return (now if self._full_at is None else max(self._full_at, now)) + 1 / self.qps


class LimitedTransport:
    """Another transport, for which single requests wait for a token.

    The time limit of a request begins when it goes out: a backlog is no reason to give up. Whoever
    cannot wait puts a limit of his own around both.
    """

    def __init__(
        self,
        transport: Transport,
        bucket: TokenBucket,
        *,
        on_wait: Callable[[Request, float], None] = lambda _request, _seconds: None,
        on_long_wait: Callable[[Request, float], None] = log_wait,
    ) -> None:
        """`on_wait` hears how long each request waited, before it goes; `on_long_wait` of those
        that waited for more than 50 ms."""
        self.bucket = bucket
        self._transport = transport
        self._on_wait = on_wait
        self._on_long_wait = on_long_wait

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        waited_s = await self.bucket.take()
        self._on_wait(request, waited_s)
        if waited_s > _LONG_WAIT_S:
            self._on_long_wait(request, waited_s)
        return await self._transport.send(request, timeout_s=timeout_s)

    def stream(self, request: Request, *, timeout_s: float) -> AbstractAsyncContextManager[Stream]:
        return self._transport.stream(request, timeout_s=timeout_s)

    async def close(self) -> None:
        await self._transport.close()


_FIRST_S: Final = 0.005
_LONGEST_S: Final = 1000.0
_KEYS_PER_S: Final = 10.0
_KEYS_AT_ONCE: Final = 100


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
        self, qps: float = _KEYS_PER_S, burst: int = _KEYS_AT_ONCE, *, clock: Clock | None = None
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

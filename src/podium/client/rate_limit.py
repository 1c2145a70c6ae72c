"""Limits on how often a client asks: client-go's token bucket, laid around a transport.

An API server serves many clients, and one of them must not drown out the others. A bucket is full
at first (`burst` requests may go at once) and fills up again at `qps` tokens a second. Requests go
in the order in which they came; one that is given up while it waits takes no token, and those
behind it move up. Watches are never limited.

Each client has its own bucket, so that a burst of one (bindings) does not hold up another (the
lease). The numbers and the text about long waits are client-go's (`util/flowcontrol/throttle.go`,
`rest/request.go`).
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final

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

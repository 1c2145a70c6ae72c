"""Requests to the API server as metrics see them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.live.virtual_loop import run_virtually

from podium.client import LimitedTransport, TokenBucket, Unreachable
from podium.client.transport import Reply, Request, Stream
from podium.live.exposition import Exposition
from podium.live.metered_transport import MeteredTransport, RequestMetrics
from podium.testing import FakeClock

URL = "https://10.0.0.1:6443"
GET = Request("GET", "/api/v1/pods")


class Slow:
    """A server that takes its time."""

    def __init__(self, clock: FakeClock, status: int = 200) -> None:
        self._clock = clock
        self._status = status
        self.closed = False
        self.left = False

    async def send(self, request: Request, *, timeout_s: float) -> Reply:
        self._clock.advance(0.3)
        if not self._status:
            raise Unreachable("nobody listens there")
        return Reply(self._status, {}, b"")

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout_s: float) -> AsyncIterator[Stream]:
        self._clock.advance(0.3)
        if not self._status:
            raise Unreachable("nobody listens there")
        try:
            yield Stream(self._status, {}, _nothing())
        finally:
            self.left = True

    async def close(self) -> None:
        self.closed = True


async def _nothing() -> AsyncIterator[bytes]:
    pieces: tuple[bytes, ...] = ()
    for piece in pieces:
        yield piece


def metered(status: int = 200) -> tuple[MeteredTransport, Slow, Exposition]:
    clock = FakeClock()
    shown, server = Exposition(process=False), Slow(clock, status)
    return MeteredTransport(server, RequestMetrics(shown), URL, clock), server, shown


def counted(shown: Exposition) -> list[str]:
    lines = shown.text().decode().splitlines()
    return [line for line in lines if line.startswith("rest_client") and "bucket" not in line]


def test_an_answer_counts_with_its_status_and_its_time() -> None:
    transport, _, shown = metered(404)
    assert asyncio.run(transport.send(GET, timeout_s=1)).status == 404
    assert counted(shown) == [
        'rest_client_requests_total{code="404",host="10.0.0.1:6443",method="GET"} 1.0',
        'rest_client_request_duration_seconds_sum{host="10.0.0.1:6443",verb="GET"} 0.3',
        'rest_client_request_duration_seconds_count{host="10.0.0.1:6443",verb="GET"} 1.0',
    ]


def test_no_answer_counts_as_an_error() -> None:
    transport, _, shown = metered(0)
    with pytest.raises(Unreachable):
        asyncio.run(transport.send(GET, timeout_s=1))
    assert 'code="<error>"' in counted(shown)[0]


def test_a_stream_counts_when_it_begins() -> None:
    transport, server, shown = metered()

    async def watch() -> list[str]:
        async with transport.stream(GET, timeout_s=1) as stream:
            assert stream.status == 200
            assert not server.left
            return counted(shown)

    assert len(asyncio.run(watch())) == 3
    assert server.left


def test_a_reader_that_breaks_leaves_its_stream() -> None:
    transport, server, _ = metered()

    async def watch() -> None:
        async with transport.stream(GET, timeout_s=1):
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        asyncio.run(watch())
    assert server.left


def test_a_stream_that_does_not_begin_counts_as_an_error() -> None:
    transport, _, shown = metered(0)

    async def watch() -> None:
        async with transport.stream(GET, timeout_s=1):
            pass

    with pytest.raises(Unreachable):
        asyncio.run(watch())
    assert 'code="<error>"' in counted(shown)[0]


def test_waits_for_the_rate_limiter_are_counted_apart() -> None:
    async def main() -> list[str]:
        shown = Exposition(process=False)
        server = Slow(FakeClock())
        metered = MeteredTransport(server, RequestMetrics(shown), URL)
        bucket = TokenBucket(qps=0.5, burst=1)
        limited = LimitedTransport(metered, bucket, on_wait=metered.note_wait)
        for _ in range(3):
            await limited.send(GET, timeout_s=1)
        async with limited.stream(GET, timeout_s=1):
            pass
        return [line for line in counted(shown) if "rate_limiter" in line]

    labels = '{host="10.0.0.1:6443",verb="GET"}'
    assert run_virtually(main()) == [
        f"rest_client_rate_limiter_duration_seconds_sum{labels} 4.0",
        f"rest_client_rate_limiter_duration_seconds_count{labels} 3.0",
    ]


def test_closing_closes_what_is_behind() -> None:
    transport, server, _ = metered()
    asyncio.run(transport.close())
    assert server.closed

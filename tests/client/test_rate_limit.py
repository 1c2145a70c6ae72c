"""The token bucket: when requests go, in which order, and what becomes of those that leave."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.scripted_server import ScriptedServer, reply
from support.live.virtual_loop import run_virtually, sleep_virtually, timeout_virtually

from podium.client import KubeClient, Selection
from podium.client.rate_limit import LimitedTransport, TokenBucket
from podium.client.resources import PODS
from podium.client.transport import Request, Transport


async def times_of(bucket: TokenBucket, arrivals: list[float]) -> list[float]:
    """When requests that arrive at these times go."""
    loop = asyncio.get_running_loop()

    async def ask(at: float) -> float:
        await sleep_virtually(at)
        await bucket.take()
        return loop.time()

    return await asyncio.gather(*map(ask, arrivals))


def test_a_burst_goes_at_once_and_the_rest_at_the_rate() -> None:
    times = run_virtually(times_of(TokenBucket(2, 3), [0] * 6))
    assert times == [0, 0, 0, 0.5, 1, 1.5]


def test_tokens_come_back_up_to_the_burst() -> None:
    times = run_virtually(times_of(TokenBucket(2, 3), [0] * 3 + [0.6] * 2 + [100] * 4))
    assert sorted(times) == pytest.approx([0, 0, 0, 0.6, 1, 100, 100, 100, 100.5])


def test_a_negative_rate_is_no_limit() -> None:
    assert run_virtually(times_of(TokenBucket(-1, 0), [0] * 1000)) == [0] * 1000


def test_without_numbers_the_defaults_of_client_go_hold() -> None:
    bucket = TokenBucket(0, 0)
    assert (bucket.qps, bucket.burst) == (5, 10)
    assert run_virtually(times_of(bucket, [0] * 12))[9:] == pytest.approx([0, 0.2, 0.4])


@pytest.mark.parametrize(("qps", "burst"), [(50, 0), (50, -1), (0, -1)])
def test_a_rate_needs_a_burst(qps: float, burst: int) -> None:
    with pytest.raises(ValueError, match="burst"):
        TokenBucket(qps, burst)


def test_requests_go_in_the_order_in_which_they_came() -> None:
    async def main() -> list[int]:
        bucket = TokenBucket(10, 1)
        gone: list[int] = []

        async def ask(number: int) -> None:
            await bucket.take()
            gone.append(number)

        tasks = [asyncio.create_task(ask(number)) for number in range(50)]
        await sleep_virtually(2.05)
        late = asyncio.create_task(ask(50))
        await asyncio.gather(*tasks, late)
        return gone

    assert run_virtually(main()) == list(range(51))


def test_whoever_leaves_gives_the_place_to_those_behind() -> None:
    async def main() -> None:
        bucket = TokenBucket(1, 1)
        loop = asyncio.get_running_loop()
        gone: dict[int, float] = {}

        async def ask(number: int) -> None:
            await bucket.take()
            gone[number] = loop.time()

        tasks = [asyncio.create_task(ask(number)) for number in range(6)]
        await sleep_virtually(0.5)
        assert bucket.waiting == 5
        # The one whose token comes next, and one in the middle.
        tasks[1].cancel()
        tasks[3].cancel()
        await asyncio.sleep(0)
        assert bucket.waiting == 3
        await asyncio.wait(tasks)
        assert gone == {0: 0, 2: 1, 4: 2, 5: 3}
        assert bucket.waiting == 0

    run_virtually(main())


def test_a_wait_is_told_once_it_is_over() -> None:
    async def main() -> tuple[float, float]:
        bucket = TokenBucket(4, 1)
        return await bucket.take(), await bucket.take()

    assert run_virtually(main()) == (0, 0.25)


moments = st.integers(0, 3000).map(lambda ms: ms / 1000)
requests = st.lists(st.tuples(moments, st.none() | moments), max_size=40)


@given(st.sampled_from([1, 3, 10, 50.5]), st.integers(1, 10), requests)
def test_no_stretch_of_time_has_more_than_its_share_and_no_token_is_lost(
    qps: float, burst: int, requests: list[tuple[float, float | None]]
) -> None:
    """Requests arrive at some time, and some are given up after another."""
    gone: list[float] = []

    async def main() -> list[float]:
        bucket = TokenBucket(qps, burst)
        loop = asyncio.get_running_loop()

        async def ask(at: float, patience_s: float | None) -> None:
            await sleep_virtually(at)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(patience_s):
                    await bucket.take()
                    gone.append(loop.time())

        await asyncio.gather(*(ask(*request) for request in requests))
        assert bucket.waiting == 0
        # All who are left have gone: after a while the bucket is full again.
        await sleep_virtually(burst / qps)
        begun = loop.time()
        return [at - begun for at in await times_of(bucket, [0.0] * (burst + 1))]

    afterwards = run_virtually(main())
    assert afterwards == pytest.approx([0.0] * burst + [1 / qps], abs=1e-6)
    assert gone == sorted(gone)
    for first in range(len(gone)):
        for last in range(first, len(gone)):
            allowed = burst + qps * (gone[last] - gone[first])
            assert last - first + 1 <= allowed + 1e-6
    patient = sum(patience is None for _, patience in requests)
    assert patient <= len(gone) <= len(requests)


# --- around a transport -------------------------------------------------------------------------


def limited(server: Transport, qps: float, burst: int) -> tuple[KubeClient, list[float]]:
    waits: list[float] = []

    def on_long_wait(request: Request, waited_s: float) -> None:
        assert request.method == "GET"
        waits.append(waited_s)

    bucket = TokenBucket(qps, burst)
    return KubeClient(LimitedTransport(server, bucket, on_long_wait=on_long_wait)), waits


def test_requests_wait_for_a_token_and_long_waits_are_told_of() -> None:
    async def main() -> None:
        server = ScriptedServer(*[reply({})] * 4)
        client, waits = limited(server, 25, 1)
        await asyncio.gather(*(client.get(PODS, str(number), "ns") for number in range(4)))
        assert asyncio.get_running_loop().time() == pytest.approx(0.12)
        # 40 ms are not worth a word.
        assert waits == pytest.approx([0.08, 0.12])

    run_virtually(main())


def test_a_long_wait_is_logged_in_the_words_of_client_go(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        transport = LimitedTransport(ScriptedServer(*[reply({})] * 2), TokenBucket(2, 1))
        for _ in range(2):
            await transport.send(Request("GET", "/api", (("a", "b"),)), timeout_s=1)

    with caplog.at_level(logging.DEBUG, "podium.client"):
        run_virtually(main())
    (said,) = caplog.messages
    assert said == (
        "Waited before sending request: delay=0.500s "
        "reason=client-side throttling, not priority and fairness verb=GET URL=/api?a=b"
    )


def test_watches_are_never_limited() -> None:
    async def main() -> None:
        server = ScriptedServer(reply({}))
        client, _ = limited(server, 0.001, 1)
        await client.get(PODS, "web", "ns")
        for _ in range(5):
            async with client.watch(PODS, Selection(), ()):
                pass
        assert asyncio.get_running_loop().time() == 0
        assert len(server.watches) == 5

    run_virtually(main())


def test_a_wait_does_not_count_as_time_without_an_answer() -> None:
    async def main() -> None:
        server = ScriptedServer(*[reply({})] * 3)
        client, _ = limited(server, 0.01, 1)
        for _ in range(3):
            await client.get(PODS, "web", "ns")
        assert asyncio.get_running_loop().time() == pytest.approx(200)

    run_virtually(main())


def test_a_request_that_is_given_up_while_it_waits_is_not_sent() -> None:
    async def main() -> None:
        server = ScriptedServer(*[reply({})] * 2)
        client, _ = limited(server, 1, 1)
        await client.get(PODS, "first", "ns")
        with pytest.raises(TimeoutError):
            async with timeout_virtually(0.5):
                await client.get(PODS, "second", "ns")
        await client.get(PODS, "third", "ns")
        assert [request.path.rpartition("/")[2] for request in server.requests] == [
            "first",
            "third",
        ]
        assert asyncio.get_running_loop().time() == 1

    run_virtually(main())


def test_closing_goes_through() -> None:
    class Closing(ScriptedServer):
        is_closed = False

        async def close(self) -> None:
            self.is_closed = True

    server = Closing()

    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[LimitedTransport]:
        transport = LimitedTransport(server, TokenBucket(1, 1))
        yield transport
        await transport.close()

    async def main() -> None:
        async with opened():
            assert not server.is_closed

    run_virtually(main())
    assert server.is_closed

"""Keys that are looked at, again after failures, each by one worker at a time."""

import asyncio
import logging
from typing import Any

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import (
    BucketRateLimiter,
    ControlLoop,
    ItemExponentialFailureRateLimiter,
    MaxOfRateLimiter,
    RateLimitingQueue,
    Unreachable,
    default_controller_rate_limiter,
)
from podium.client.api_errors import ApiStatus, error_of_status


def test_failures_are_tried_again_and_stop_no_other_key(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        tried: list[str] = []

        async def reconcile(key: str) -> float | None:
            tried.append(key)
            if key == "down" and tried.count(key) < 3:
                raise Unreachable("nobody there")
            if key == "bug" and tried.count(key) < 2:
                raise ValueError("a bug")
            return None

        loop = ControlLoop("test", reconcile)
        for key in ("down", "bug", "fine"):
            loop.queue.add(key)
        running = asyncio.ensure_future(loop.run())
        await sleep_virtually(1)
        assert sorted(tried) == ["bug"] * 2 + ["down"] * 3 + ["fine"]
        assert loop.queue.num_requeues("down") == 0
        loop.queue.shut_down()
        await running

    with caplog.at_level(logging.ERROR, "podium.client"):
        run_virtually(main())
    assert "test: bug: this is a bug" in caplog.text


def test_a_refusal_that_lasts_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        count = 0

        async def reconcile(_: str) -> float | None:
            nonlocal count
            count += 1
            if 20 < count < 30:
                raise error_of_status(ApiStatus(message="no", reason="Invalid", code=422))
            told = f'pods "web-{count}" is forbidden'
            raise error_of_status(ApiStatus(message=told, reason="Forbidden", code=403))

        loop = ControlLoop("test", reconcile)
        loop.queue.add("a")
        running = asyncio.ensure_future(loop.run())
        await sleep_virtually(20_000)
        running.cancel()

    with caplog.at_level(logging.WARNING, "podium.client"):
        run_virtually(main())
    assert caplog.messages == [
        'test: a: pods "web-6" is forbidden; again in 0.16 s',
        "test: a: no; again in 1000 s",
        'test: a: pods "web-30" is forbidden; again in 1000 s',
    ]


def test_a_key_is_looked_at_again_when_it_said_and_never_twice_at_a_time() -> None:
    async def main() -> None:
        times: list[float] = []
        clock = asyncio.get_running_loop().time

        async def reconcile(_: str) -> float | None:
            times.append(clock())
            loop.queue.add("a")
            await sleep_virtually(1)
            return 60 if len(times) < 3 else None

        loop = ControlLoop("test", reconcile, workers=4)
        loop.queue.add("a")
        running = asyncio.ensure_future(loop.run())
        await sleep_virtually(2.5)
        assert times == [0, 1, 2]
        running.cancel()

    run_virtually(main())


def test_what_is_ready_is_handed_out_before_a_queue_is_shut_down() -> None:
    async def main() -> None:
        done: list[Any] = []

        async def reconcile(key: str) -> float | None:
            done.append(key)
            return None

        loop = ControlLoop("test", reconcile, workers=2)
        loop.queue.add("a")
        loop.queue.add_after("later", 60)
        loop.queue.shut_down()
        loop.queue.add("late")
        await loop.run()
        assert done == ["a"]

    run_virtually(main())


def test_limiters_count_by_key_and_for_all_keys_together() -> None:
    async def main() -> None:
        by_key = ItemExponentialFailureRateLimiter(1, 8)
        assert [by_key.when("a") for _ in range(5)] == [1, 2, 4, 8, 8]
        bucket = BucketRateLimiter(2, 3)
        assert [bucket.when(key) for key in "abcde"] == [0, 0, 0, 0.5, 1]
        both = MaxOfRateLimiter(ItemExponentialFailureRateLimiter(), BucketRateLimiter(1, 1))
        assert [both.when("x"), both.when("y")] == [0.005, 1]
        assert both.num_requeues("x") == 1
        both.forget("x")
        assert both.num_requeues("x") == 0
        queue: RateLimitingQueue[str] = RateLimitingQueue(default_controller_rate_limiter())
        pauses = [queue.add_rate_limited(str(number)) for number in range(102)]
        assert pauses[:100] == [0.005] * 100
        assert pauses[101] == pytest.approx(0.2)

    run_virtually(main())

"""Keys that want to be looked at."""

import asyncio
from typing import Any

from support.live.virtual_loop import run_virtually, sleep_virtually

from podium.client import RateLimitingQueue


async def taken(queue: RateLimitingQueue[Any], within_s: float = 0.001) -> Any:
    try:
        async with asyncio.timeout(within_s):
            return await queue.get()
    except TimeoutError:
        return None


def test_a_key_that_waits_is_not_added_twice_and_one_at_work_comes_again() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        for key in ("a", "b", "a"):
            queue.add(key)
        assert [await taken(queue), await taken(queue), await taken(queue)] == ["a", "b", None]
        queue.add("a")
        assert await taken(queue) is None
        queue.done("a")
        assert await taken(queue) == "a"
        queue.done("a")
        assert await taken(queue) is None

    run_virtually(main())


def test_keys_come_when_they_are_due_and_the_earliest_wish_counts() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        queue.add_after("late", 60)
        queue.add_after("soon", 5)
        queue.add_after("late", 20)
        queue.add_after("late", 90)
        times = [(await queue.get(), round(loop.time(), 3)) for _ in range(2)]
        assert times == [("soon", 5), ("late", 20)]
        assert await taken(queue, 1000) is None

    run_virtually(main())


def test_a_wait_is_never_so_short_that_time_stands_still() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        queue.add("a")
        for _ in range(1000):
            key = await queue.get()
            queue.add_after(key, 1e-15)
            queue.done(key)
        assert loop.time() > 0.9

    run_virtually(main())


def test_a_new_key_wakes_who_waits_for_a_later_one() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        queue.add_after("late", 60)
        loop.call_later(3, queue.add, "now")
        assert (await queue.get(), loop.time()) == ("now", 3)

    run_virtually(main())


def test_failures_make_the_pauses_grow_and_success_ends_that() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        queue.add("a")
        pauses = []
        for _ in range(20):
            await queue.get()
            pauses.append(queue.add_rate_limited("a"))
            queue.done("a")
        assert pauses[:4] == [0.005, 0.01, 0.02, 0.04]
        assert pauses[-1] == 1000
        assert queue.num_requeues("a") == 20
        queue.forget("a")
        assert queue.num_requeues("a") == 0
        assert queue.add_rate_limited("a") == 0.005

    run_virtually(main())


def test_several_workers_share_the_keys() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[Any] = RateLimitingQueue()
        seen: list[object] = []

        async def work() -> None:
            while True:
                key = await queue.get()
                await sleep_virtually(1)
                seen.append(key)
                queue.done(key)

        workers = [asyncio.ensure_future(work()) for _ in range(4)]
        for number in range(20):
            queue.add(number)
        await sleep_virtually(5.5)
        assert sorted(seen, key=str) == sorted(range(20), key=str)
        for worker in workers:
            worker.cancel()

    run_virtually(main())

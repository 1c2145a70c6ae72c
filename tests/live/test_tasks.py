"""Parts of a process: what ends one, and who hears of it."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from typing import Any

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually
from support.waiting import PATIENCE_S

from podium.live.tasks import (
    run_until_stopped,
    running_part,
    stop_on_signal,
    wait_while_running,
)


class Broke(Exception):
    """What a part of these tests ends with."""


async def breaks() -> None:
    await sleep_virtually(1)
    raise Broke


async def lasts() -> None:
    await asyncio.Event().wait()


def raised_by(main: Coroutine[Any, Any, None], problem: type[Exception]) -> None:
    with pytest.raises(problem):
        run_virtually(main)


def test_a_part_ends_with_its_context() -> None:
    async def main() -> None:
        async with running_part(lasts()) as part:
            assert not part.done()
        assert part.cancelled()

    run_virtually(main())


def test_what_breaks_a_part_is_raised_to_whoever_waits_beside_it() -> None:
    async def main() -> None:
        async with running_part(breaks()) as part:
            await wait_while_running(lasts(), part)

    raised_by(main(), Broke)


def test_a_part_that_just_ends_is_an_error_too() -> None:
    async def main() -> None:
        async with running_part(sleep_virtually(1)) as part:
            await wait_while_running(lasts(), part)

    raised_by(main(), RuntimeError)


def test_what_is_waited_for_is_given_back() -> None:
    async def main() -> None:
        async with running_part(lasts()) as part:
            assert await wait_while_running(sleep_virtually(1, "done"), part) == "done"

    run_virtually(main())


def test_work_that_is_stopped_is_brought_to_its_end() -> None:
    ended = []

    async def work() -> None:
        try:
            await lasts()
        finally:
            ended.append("work")

    async def main() -> None:
        stopping = asyncio.Event()
        asyncio.get_running_loop().call_later(5, stopping.set)
        await run_until_stopped(work(), stopping)

    run_virtually(main())
    assert ended == ["work"]


def test_what_goes_wrong_on_the_way_out_is_raised() -> None:
    async def work() -> None:
        try:
            await lasts()
        finally:
            raise Broke

    async def main() -> None:
        stopping = asyncio.Event()
        asyncio.get_running_loop().call_later(1, stopping.set)
        await run_until_stopped(work(), stopping)

    raised_by(main(), Broke)


def test_work_that_breaks_is_not_waited_with() -> None:
    async def main() -> None:
        await run_until_stopped(breaks(), asyncio.Event())

    raised_by(main(), Broke)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops(number: signal.Signals) -> None:
    async def main() -> None:
        stopping = stop_on_signal()
        os.kill(os.getpid(), number)
        async with asyncio.timeout(PATIENCE_S):
            await run_until_stopped(lasts(), stopping)

    asyncio.run(main())

"""Work in the loop of another thread: cancelled from here, and ended from there."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from podium.commands.processes.other_loop import LoopEnded, run_in


@pytest.fixture
def other() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize("raises", [False, True])
def test_who_is_cancelled_waits_for_the_work_and_nothing_is_logged(
    other: asyncio.AbstractEventLoop, *, raises: bool
) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")
            if raises:
                raise ValueError("on the way out")

    async def scenario() -> None:
        complaints: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: complaints.append(told))
        begun = asyncio.Event()
        here = asyncio.get_running_loop()

        async def begin() -> None:
            here.call_soon_threadsafe(begun.set)
            await work()

        running = asyncio.create_task(run_in(other, begin))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (ended, complaints) == (["work"], [])

    asyncio.run(scenario())


def test_a_loop_that_is_closed_has_ended() -> None:
    loop = asyncio.new_event_loop()
    loop.close()

    async def work() -> None:
        raise AssertionError("nobody runs it")

    with pytest.raises(LoopEnded):
        asyncio.run(run_in(loop, work))

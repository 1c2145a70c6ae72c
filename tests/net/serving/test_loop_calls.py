"""Calls into the loop of another thread: bounded, and never carried out late."""

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from support.waiting import PATIENCE_S

from podium.net.serving.loop_calls import LoopBusy, LoopCalls


class OtherLoop:
    """A loop in a thread, which can be held up."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._release = threading.Event()

    def hold(self) -> None:
        self._release.clear()
        held = threading.Event()

        def wait() -> None:
            held.set()
            self._release.wait(PATIENCE_S)

        self.loop.call_soon_threadsafe(wait)
        held.wait(PATIENCE_S)

    async def release(self) -> None:
        """Until it has done what it was given before."""
        self._release.set()
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.loop))
        await asyncio.sleep(0)

    def end(self) -> None:
        self._release.set()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def other() -> Iterator[OtherLoop]:
    made = OtherLoop()
    yield made
    made.end()


def test_a_call_is_answered_by_the_other_loop(other: OtherLoop) -> None:
    calls = LoopCalls(other.loop)

    async def there() -> asyncio.AbstractEventLoop:
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    async def ask() -> None:
        assert await calls.call(asyncio.get_running_loop) is other.loop
        assert await calls.call(there) is other.loop
        with pytest.raises(KeyError, match="missing"):
            await calls.call(partial(dict[str, str]().__getitem__, "missing"))

    asyncio.run(ask())


def test_a_loop_that_is_held_up_is_given_up_and_asked_again_when_it_answers(
    other: OtherLoop,
) -> None:
    calls = LoopCalls(other.loop, bound_s=0.05)
    done: list[str] = []

    async def ask() -> None:
        other.hold()
        for name in ("first", "second"):
            with pytest.raises(LoopBusy, match="the scheduler is busy for"):
                await calls.call(partial(done.append, name))
        await other.release()
        assert done == [], "a call that was given up was carried out"
        await LoopCalls(other.loop, PATIENCE_S).call(lambda: done.append("third"))
        assert done == ["third"]

    asyncio.run(ask())


def test_once_it_does_not_answer_nobody_waits_again(other: OtherLoop) -> None:
    calls = LoopCalls(other.loop, bound_s=0.05)

    async def ask() -> None:
        other.hold()
        with pytest.raises(LoopBusy):
            await calls.call(lambda: None)
        asking = [asyncio.ensure_future(calls.call(lambda: None)) for _ in range(100)]
        await asyncio.sleep(0)
        assert all(isinstance(each.exception(), LoopBusy) for each in asking)
        await other.release()

    asyncio.run(ask())


def test_a_call_that_has_begun_is_cancelled_with_its_caller(other: OtherLoop) -> None:
    calls = LoopCalls(other.loop, PATIENCE_S)
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def ask() -> None:
        asking = asyncio.ensure_future(calls.call(wait))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert await asyncio.to_thread(ended.wait, PATIENCE_S)

    asyncio.run(ask())


def test_a_loop_that_is_closed_answers_nothing() -> None:
    loop = asyncio.new_event_loop()
    loop.close()

    async def ask() -> None:
        with pytest.raises(LoopBusy):
            await LoopCalls(loop).call(lambda: None)

    asyncio.run(ask())

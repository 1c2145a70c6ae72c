"""Tasks end alike on every release of Python: one plain error, and timeouts during clean-up."""

import asyncio

import pytest
from support.live.virtual_loop import run_virtually, sleep_virtually, timeout_virtually

from podium.client import Unreachable
from podium.client.clock import run_in_own_task, unwrap_errors
from podium.golang.errors import InputError


async def _fail(problem: Exception) -> None:
    raise problem


async def _fail_together(*problems: Exception) -> None:
    with unwrap_errors(Unreachable, InputError):
        async with asyncio.TaskGroup() as group:
            for problem in problems:
                group.create_task(_fail(problem))


def test_an_expected_error_of_a_task_is_raised_as_it_is() -> None:
    with pytest.raises(Unreachable, match="down"):
        run_virtually(_fail_together(Unreachable("down")))


def test_an_expected_error_of_nested_groups_is_raised_as_it_is() -> None:
    async def nested() -> None:
        with unwrap_errors(Unreachable):
            async with asyncio.TaskGroup() as outer, asyncio.TaskGroup() as inner:
                outer.create_task(asyncio.sleep(0))
                inner.create_task(_fail(Unreachable("down")))

    with pytest.raises(Unreachable, match="down"):
        run_virtually(nested())


def test_the_first_of_several_expected_errors_is_raised() -> None:
    with pytest.raises(InputError, match="odd"):
        run_virtually(_fail_together(InputError("odd"), Unreachable("down")))


def test_an_unexpected_error_is_not_lost_beside_an_expected_one() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        run_virtually(_fail_together(InputError("odd"), LookupError("a bug")))
    assert {type(each) for each in caught.value.exceptions} == {InputError, LookupError}


def test_a_timeout_is_one_while_a_cancelled_task_cleans_up() -> None:
    ended: list[str] = []

    async def say_goodbye() -> None:
        try:
            async with timeout_virtually(1):
                await sleep_virtually(10)
        except TimeoutError:
            ended.append("not in time")

    async def work() -> None:
        try:
            await sleep_virtually(100)
        finally:
            await run_in_own_task(say_goodbye())
            ended.append("cleaned up")

    async def main() -> None:
        working = asyncio.create_task(work())
        await sleep_virtually(1)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    run_virtually(main())
    assert ended == ["not in time", "cleaned up"]

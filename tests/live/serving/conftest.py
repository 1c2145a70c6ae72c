"""Everything on a socket is tried in each kind of event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop
from support.waiting import PATIENCE_S

LOOPS: list[Callable[[], asyncio.AbstractEventLoop]] = [
    asyncio.new_event_loop,
    uvloop.new_event_loop,
]


@pytest.fixture(params=LOOPS, ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Awaitable[Any]], Any]:
    """Runs a coroutine in each kind of event loop."""

    def run(main: Any) -> Any:
        with asyncio.Runner(loop_factory=request.param) as runner:
            return runner.run(asyncio.wait_for(main, PATIENCE_S))

    return run

"""Sources of plugins, fetched in the background for as long as the scheduler watches.

Each source has a task of its own, so that a slow one holds up no other and no cycle waits for any.
A fetch ends within the source's time; after a failure the next one comes later and later. The log
says when a source fails and when it works again, not how often it was tried.
"""

import asyncio
import logging
from collections.abc import Callable
from random import Random
from typing import Final

from podium.client import Clock
from podium.client.backoff import RelistBackoff
from podium.scheduler.engine import Engine
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.sources import SourceColumn
from podium.user_code.guarded_calls import fetch_guarded

_LOG: Final = logging.getLogger("podium.live")
_JITTER: Final = 0.1
"""Of the time between two fetches: schedulers that start together do not ask together for ever."""
_LONGEST_BACKOFF_S: Final = 60.0
_LAST_WORDS_S: Final = 2.0
_MAX_PROBLEM: Final = 512
"""Characters of what a failed fetch says of itself."""


class SourceRefreshing:
    def __init__(
        self, engine: Engine, *, clock: Clock, randomness: Random, stir: Callable[[], None]
    ) -> None:
        """`stir` is called when the engine has heard something."""
        self._engine = engine
        self._clock = clock
        self._randomness = randomness
        self._stir = stir
        self._tasks: list[asyncio.Task[None]] = []
        self._asked: dict[str, asyncio.Event] = {}

    def begin(self) -> None:
        loop = asyncio.get_running_loop()
        for column in self._engine.sources:
            self._asked[column.name] = asyncio.Event()
            refreshing = self._refresh(column)
            task = loop.create_task(refreshing, name=f"source {column.name}")
            self._tasks.append(task)

    async def end(self) -> None:
        """Stop; a fetch that does not let itself be stopped is left behind."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_WORDS_S)

    async def asked_once(self) -> None:
        """Return when every source has answered or failed for the first time."""
        for asked in self._asked.values():
            await asked.wait()

    async def _refresh(self, column: SourceColumn) -> None:
        source = column.source
        first_s = min(1.0, source.refresh_every_s)
        longest_s = max(_LONGEST_BACKOFF_S, source.refresh_every_s)
        backoff = RelistBackoff(self._randomness, first_s=first_s, longest_s=longest_s)
        told = ""
        while True:
            problem = await self._fetch(column)
            self._asked[column.name].set()
            if problem and not told:
                _LOG.warning("source %s cannot be fetched: %s", source.name, problem)
            elif problem and problem != told:
                _LOG.warning("source %s still cannot be fetched: %s", source.name, problem)
            elif told and not problem:
                _LOG.info("source %s is fetched again", source.name)
            told = problem
            if problem:
                wait_s = backoff.next(self._clock.now())
            else:
                wait_s = source.refresh_every_s * (1 - _JITTER * self._randomness.random())
            await self._clock.sleep(wait_s)

    async def _fetch(self, column: SourceColumn) -> str:
        """Ask once; what went wrong, or nothing."""
        source, sources = column.source, self._engine.sources
        try:
            async with asyncio.timeout(source.timeout_s):
                value = await fetch_guarded(source)
            sources.put(source.name, source.checked(value), self._engine.clock())
        except TimeoutError as late:
            problem = str(late) or f"no answer within {source.timeout_s:g} s"
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            problem = "the fetch was cancelled"
        except Exception as broken:
            problem = describe(broken)
        else:
            self._stir()
            return ""
        problem = problem[:_MAX_PROBLEM]
        sources.fail(source.name, problem)
        return problem

"""What a simulation asks outside of the engine: extenders, and the sources of plugins.

Extenders of a configuration, for whoever runs an engine offline: they are really asked.

Sources of plugins in a simulation: fetched before it begins, and again as virtual time passes. The
world outside does not know of virtual time, so a source says at two virtual times what it says at
one real one, unless it is a file that changes. Nothing runs in the background: the simulation
stands still while a source is asked. One that fails again and again is not asked any more, so that
a run takes no longer than a few timeouts more than it would.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from podium.kubernetes.kinds.node import Node
from podium.scheduler.engine import Engine
from podium.scheduler.framework.asking import Asker
from podium.scheduler.framework.faults import describe
from podium.scheduler.framework.sources import SourceColumn
from podium.user_code.guarded_calls import fetch_guarded


@contextmanager
def asker_of(engine: Engine) -> Iterator[Asker | None]:
    """Somebody who asks the engine's extenders; None if it has none.

    Raises ConfigurationError if certificates cannot be used.
    """
    extenders = engine.configuration.extenders
    if not extenders:
        yield None
        return
    from podium.client.extenders.client import BlockingExtenderClient
    from podium.client.extenders.objects import TypedObjects

    nodes = engine.cluster.nodes

    def node(name: str) -> Node:
        if not nodes.is_present(name):
            raise KeyError(name)
        return nodes.node(nodes.row(name))

    with BlockingExtenderClient(extenders, TypedObjects(node)) as client:
        yield client.ask


MAX_FAILURES: Final = 3
"""In a row, of one source."""


class SourceFetching:
    def __init__(self, engine: Engine, notes: list[str]) -> None:
        """`notes` take a line about each source that fails."""
        self._engine = engine
        self._notes = notes
        self._due = {column.name: engine.clock() for column in engine.sources}
        self._failures: dict[str, int] = {}

    def fetch_due(self) -> None:
        """Ask the sources whose time has come."""
        if not self._due:
            return
        now = self._engine.clock()
        for column in self._engine.sources:
            due = self._due.get(column.name)
            if due is not None and due <= now:
                self._fetch(column, now)

    def _fetch(self, column: SourceColumn, now: float) -> None:
        import asyncio  # few simulations have sources

        source, name = column.source, column.name
        self._due[name] = now + source.refresh_every_s
        try:
            value = asyncio.run(_within(source.timeout_s, column))
            self._engine.sources.put(name, value, now)
            self._failures[name] = 0
        except TimeoutError as late:
            self._note_failure(name, str(late) or f"no answer within {source.timeout_s:g} s")
        except Exception as problem:
            self._note_failure(name, describe(problem))

    def _note_failure(self, name: str, problem: str) -> None:
        if self._engine.sources.column(name).problem != problem:
            self._notes.append(f"source {name} cannot be fetched: {problem}")
        self._engine.sources.fail(name, problem)
        self._failures[name] = self._failures.get(name, 0) + 1
        if self._failures[name] >= MAX_FAILURES:
            del self._due[name]
            self._notes.append(f"source {name} failed {MAX_FAILURES} times and is not asked again")


async def _within(seconds: float, column: SourceColumn) -> object:
    import asyncio

    async with asyncio.timeout(seconds):
        return await fetch_guarded(column.source)

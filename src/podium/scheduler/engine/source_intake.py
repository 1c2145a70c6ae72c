"""Answers of sources in: what a driver has fetched becomes a column, and a wake-up.

Like every other event, an answer that comes in the middle of a cycle takes effect when the cycle is
over, so that all plugins of one attempt read the same numbers.
"""

from collections.abc import Iterator

from podium.scheduler.engine.state import EngineState
from podium.scheduler.engine.transitions import transition
from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.sources import SourceColumn, Sources

SOURCE_UPDATED = ClusterEvent(Resource.SOURCE, Action.UPDATE)


class SourceIntake:
    def __init__(self, state: EngineState, sources: Sources) -> None:
        self.transitions = state.transitions
        self._state = state
        self._sources = sources

    @transition
    def put(self, name: str, value: object, at: float) -> None:
        """A source has answered, at a time by the engine's clock. Raises SourceError for a name
        that nobody declared, and WrongAnswer for a value that means nothing."""
        column = self._sources.column(name)
        if column.keep(value, at):
            for queued in self._state.queue.happened(SOURCE_UPDATED, None, column):
                self._state.note_woken(queued, str(SOURCE_UPDATED), name)

    @transition
    def fail(self, name: str, problem: str) -> None:
        """A source could not be fetched; what it said before stays until it is too old."""
        self._sources.column(name).problem = problem

    def column(self, name: str) -> SourceColumn:
        return self._sources.column(name)

    def __iter__(self) -> Iterator[SourceColumn]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

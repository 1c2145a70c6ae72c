"""The log of scheduling: kube-scheduler's lines, at its levels, about what the engine does.

Each kind of line is an observer of its own with the verbosity from which on it is written. Below
that it does not observe at all, so that a quiet log costs nothing; when the verbosity changes,
observers come and go. The texts, keys and levels are those of Kubernetes 1.36.4
(`pkg/scheduler`), so that what reads its log reads this one; docs/log.md lists what is different.
"""

from random import Random
from typing import Final

from podium.live.scheduling_log.attempts import (
    AttemptErrors,
    Attempts,
    AttemptsAhead,
    FailedSearches,
    IgnoredBinders,
    IgnoredExtenders,
    IgnoredPriorities,
    OutcomeLines,
    PostFilterErrors,
    PostFilterStatuses,
    PreFilterStatuses,
    RejectedPods,
    ScoreLines,
    SlowCycles,
    StatusUpdates,
)
from podium.live.scheduling_log.binding_lines import (
    BindAttempts,
    BindingErrors,
    BoundPods,
    FailedBindings,
    FinishedBindings,
    GroupAttempts,
    GroupMembers,
    GroupOutcomes,
    HopelessPreemptions,
    IneligiblePreemptors,
    PermitWaits,
    PreemptionErrors,
    PreemptionLines,
    RejectedBindings,
)
from podium.live.scheduling_log.line_writer import LineWriter, LogOfLines
from podium.live.scheduling_log.queue_moves import (
    ArrivalLines,
    EventsInFlight,
    GatedPods,
    GateErrors,
    IgnoredEvents,
    NodeTreeChanges,
    QueueMoves,
    ReturnedPods,
    Updates,
)
from podium.scheduler.engine import Engine

_WRITERS: Final[tuple[type[LineWriter], ...]] = (
    # Those that hear of the same thing write in this order.
    ArrivalLines,
    Updates,
    NodeTreeChanges,
    GateErrors,
    GatedPods,
    AttemptsAhead,
    GroupAttempts,
    Attempts,
    GroupMembers,
    IgnoredExtenders,
    PreFilterStatuses,
    IgnoredPriorities,
    ScoreLines,
    SlowCycles,
    FailedSearches,
    IneligiblePreemptors,
    HopelessPreemptions,
    PreemptionLines,
    PreemptionErrors,
    PostFilterStatuses,
    RejectedPods,
    PermitWaits,
    IgnoredBinders,
    BindAttempts,
    RejectedBindings,
    BindingErrors,
    FailedBindings,
    FinishedBindings,
    BoundPods,
    PostFilterErrors,
    AttemptErrors,
    OutcomeLines,
    EventsInFlight,
    QueueMoves,
    ReturnedPods,
    IgnoredEvents,
    StatusUpdates,
    GroupOutcomes,
)


class SchedulingLog:
    """Writes what an engine does; how much of it follows the verbosity."""

    def __init__(self, engine: Engine, log: LogOfLines, randomness: Random) -> None:
        self._observers = engine.observers
        wanted = (writer for writer in _WRITERS if writer.has_work(engine))
        self._writers = [writer(engine, log, randomness) for writer in wanted]
        self._installed: list[LineWriter] = []

    def set_verbosity(self, verbosity: int) -> None:
        """Observe for the lines of this verbosity, and for no others."""
        for writer in self._installed:
            self._observers.remove(writer)
        self._installed = [writer for writer in self._writers if writer.level <= verbosity]
        for writer in self._installed:
            self._observers.add(writer)

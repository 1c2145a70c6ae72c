"""What comes of a run: figures, where each pod went, and what to know about its input.

Contract: `RunOutcome` is written as JSON and read again where runs are kept or come from other
processes, and stays equal.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podium.simulator.completeness import MissingKind
from podium.simulator.recorded_messages import RecordedMessages, compare_messages
from podium.simulator.report import SimulationReport
from podium.what_if.run_metrics import waiting_time


@dataclass(frozen=True, slots=True)
class PodPlace:
    """What has come of one pod. Places are alike however long the pod waited."""

    pod: str
    outcome: str
    node: str
    waiting_s: float | None = field(default=None, compare=False)
    """None for pods that are not placed."""


@dataclass(frozen=True, slots=True)
class InputReview:
    """What a run's report says beside its answer."""

    notes: tuple[str, ...] = ()
    missing_kinds: tuple[MissingKind, ...] = ()
    messages: RecordedMessages = field(default_factory=RecordedMessages)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """`crashes` are pods with their tracebacks; `review` is there for runs whose pods come in the
    order of the input."""

    metrics: dict[str, int | float]
    places: tuple[PodPlace, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    review: InputReview | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One input and one configuration, by their numbers, with one seed."""

    configuration: int
    seed: int
    metrics: Mapping[str, float]
    places: tuple[PodPlace, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    input: int = 0

    def without_places(self) -> "MeasuredRun":
        """For who holds many."""
        return dataclasses.replace(self, places=())


def list_metrics(runs: Sequence[MeasuredRun]) -> list[str]:
    """Names of all metrics, in order."""
    longest = max((list(run.metrics) for run in runs), key=len, default=[])
    return [*longest, *sorted({n for run in runs for n in run.metrics} - {*longest})]


def places_of(report: SimulationReport) -> tuple[PodPlace, ...]:
    return tuple(
        PodPlace(result.key, result.outcome.value, result.node, waiting_time(report, result))
        for result in report.pods
    )


def review_of(report: SimulationReport) -> InputReview:
    return InputReview(report.notes, report.missing_kinds, compare_messages(report.pods))

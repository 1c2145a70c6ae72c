"""What comes of a run: figures, where each pod went, and what to know about its input.

Contract: `RunOutcome` is written as JSON and read again where runs are kept or come from other
processes, and stays equal.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podium.offline.simulate.completeness import MissingKind
from podium.offline.simulate.report import (
    PodResult,
    RecordedMessages,
    SimulationReport,
    compare_messages,
)
from podium.offline.what_if.run_metrics import waiting_time
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.load import Load


@dataclass(frozen=True, slots=True)
class PodPlace:
    """What has come of one pod. Places are alike however long the pod waited, and `why`: what it
    was told, or what put its node first."""

    pod: str
    outcome: str
    node: str
    waiting_s: float | None = field(default=None, compare=False)
    """None for pods that are not placed."""
    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ResourceLoad:
    """What each node has of a resource, and what pods request of it before a run and after it."""

    name: str
    allocatable: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NodeLoads:
    """How full nodes are; all tuples of resources are in the order of `nodes`."""

    nodes: tuple[str, ...]
    resources: tuple[ResourceLoad, ...]


@dataclass(frozen=True, slots=True)
class InputReview:
    """What a run's report says beside its answer."""

    notes: tuple[str, ...] = ()
    missing_kinds: tuple[MissingKind, ...] = ()
    messages: RecordedMessages = field(default_factory=RecordedMessages)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """`crashes` are pods with their tracebacks, `waits` the waiting times at `WAIT_PERCENTILES`;
    `review` and `loads` are there for runs whose pods come in the order of the input."""

    metrics: dict[str, int | float]
    places: tuple[PodPlace, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    review: InputReview | None = None
    waits: tuple[float, ...] = ()
    loads: NodeLoads | None = None


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One input and one configuration, by their numbers, with one seed."""

    configuration: int
    seed: int
    metrics: Mapping[str, float]
    places: tuple[PodPlace, ...] = ()
    crashes: tuple[tuple[str, str], ...] = ()
    input: int = 0
    waits: tuple[float, ...] = ()
    loads: NodeLoads | None = None

    def without_places(self) -> "MeasuredRun":
        """For who holds many."""
        return dataclasses.replace(self, places=(), loads=None)


def list_metrics(runs: Sequence[MeasuredRun]) -> list[str]:
    """Names of all metrics, in order."""
    longest = max((list(run.metrics) for run in runs), key=len, default=[])
    return [*longest, *sorted({n for run in runs for n in run.metrics} - {*longest})]


def places_of(report: SimulationReport) -> tuple[PodPlace, ...]:
    return tuple(
        PodPlace(
            result.key,
            result.outcome.value,
            result.node,
            waiting_time(report, result),
            _why(result),
        )
        for result in report.pods
    )


def _why(result: PodResult) -> str:
    """Briefly, from what is kept of each pod's last attempt."""
    digest = result.digest
    if not result.placed:
        return result.message
    if digest.runner_up:
        return f"{digest.decided_by} puts it {digest.lead:,} ahead of {digest.runner_up}"
    if digest.tied_nodes > 1:
        return f"one of {digest.tied_nodes:,} equally good nodes"
    return "the only node that fits" if digest.feasible_nodes == 1 else ""


def loads_of(report: SimulationReport) -> NodeLoads:
    """Of the resources that every node has, and of those that somebody requests."""
    before, after = report.utilisation.before, report.utilisation.after
    return NodeLoads(
        after.nodes,
        tuple(
            ResourceLoad(
                name,
                _amounts(after, name, after.allocatable),
                _amounts(before, name, before.requested),
                _amounts(after, name, after.requested),
            )
            for name in report.utilisation.resources
        ),
    )


def _amounts(load: Load, name: str, of: Ints) -> tuple[int, ...]:
    if name not in load.resources:
        return (0,) * len(load.nodes)
    return tuple(of[load.resources.index(name)].tolist())


def review_of(report: SimulationReport) -> InputReview:
    return InputReview(report.notes, report.missing_kinds, compare_messages(report.pods))

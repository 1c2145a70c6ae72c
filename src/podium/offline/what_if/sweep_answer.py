"""What many inputs, configurations and seeds come to: the document of a sweep.

A matrix of runs in figures: each metric of each input and configuration, over seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Final

from podium.golang.document_structs import Document, DocumentPart, Notes
from podium.offline.simulate.reviewed_document import ComparedMessages, IncompleteKind
from podium.offline.simulate.timed_report import find_percentile
from podium.offline.what_if.comparison_answer import TypicalRequests
from podium.offline.what_if.measured_runs import MeasuredRun, list_metrics


class SweepInput(DocumentPart, frozen=True):
    """A cluster with its workload, and what to know about it."""

    name: str
    """The files of the input, as they were given."""
    typical_pod: TypicalRequests | None
    """The pod by which fragmentation is judged; null for a scenario."""
    incomplete: tuple[IncompleteKind, ...]
    """Kinds that the input lacks and that matter: the answer may be wrong."""
    recorded_messages: ComparedMessages
    """Messages that the cluster's scheduler has left on pods, compared with those of this run."""
    notes: Notes


class MetricSpread(DocumentPart, frozen=True):
    """One metric of one input and configuration."""

    name: str
    """The name of the metric."""
    mean: float
    """Its mean over seeds."""
    lowest: float
    """Its lowest value."""
    p5: float
    """5 of 100 runs have this value or a lower one."""
    p50: float
    """Half of the runs have this value or a lower one."""
    p95: float
    """95 of 100 runs have this value or a lower one."""
    highest: float
    """Its highest value."""


class SweepCell(DocumentPart, frozen=True):
    """One input with one configuration."""

    input: str
    """The name of the input."""
    configuration: str
    """The file, or `default`."""
    metrics: tuple[MetricSpread, ...]
    """Each metric over all seeds."""


class SweepRun(DocumentPart, frozen=True):
    """One run by itself."""

    key: str
    """Stands for everything that the run's result follows from."""
    input: str
    """The name of the input."""
    configuration: str
    """The name of the configuration."""
    seed: int
    """The seed of the run."""
    metrics: Mapping[str, float]
    """Metrics of this run by name."""


class SweepDocument(Document, frozen=True):
    """What `podium sweep` prints: inputs by configurations by seeds."""

    KIND: ClassVar[str] = "Sweep"

    seeds: tuple[int, ...]
    """One run of each input and configuration for each of them. The first has pods in the order of
    the input."""
    inputs: tuple[SweepInput, ...]
    """Clusters with their workloads, and what to know about each."""
    cells: tuple[SweepCell, ...]
    """Each input with each configuration."""
    runs: tuple[SweepRun, ...]
    """Every run by itself."""


PERCENTILES: Final = (5, 50, 95)


@dataclass(frozen=True, slots=True)
class SpreadOverSeeds:
    """`percentiles` are values that are there, in the order of PERCENTILES."""

    metric: str
    mean: float
    lowest: float
    percentiles: tuple[float, ...]
    highest: float


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One input with one configuration, by their numbers."""

    input: int
    configuration: int
    spreads: tuple[SpreadOverSeeds, ...]


def summarise_cells(runs: Sequence[MeasuredRun]) -> list[MatrixCell]:
    """In order of inputs, then of configurations. A metric that only some runs of an input have is
    0 in the others."""
    by_cell: dict[tuple[int, int], list[MeasuredRun]] = {}
    for run in runs:
        by_cell.setdefault((run.input, run.configuration), []).append(run)
    metrics = {
        number: list_metrics([run for run in runs if run.input == number])
        for number in {run.input for run in runs}
    }
    return [
        MatrixCell(number, configuration, tuple(_spreads(found, metrics[number])))
        for (number, configuration), found in sorted(by_cell.items())
    ]


def _spreads(runs: Sequence[MeasuredRun], metrics: Sequence[str]) -> Iterator[SpreadOverSeeds]:
    for name in metrics:
        values = [run.metrics.get(name, 0.0) for run in runs]
        shares = tuple(find_percentile(values, each) for each in PERCENTILES)
        yield SpreadOverSeeds(name, fmean(values), min(values), shares, max(values))

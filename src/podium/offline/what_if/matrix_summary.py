"""A matrix of runs in figures: each metric of each input and configuration, over seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from podium.offline.simulate.timed_report import find_percentile
from podium.offline.what_if.measured_runs import MeasuredRun, list_metrics

PERCENTILES: Final = (5, 50, 95)


@dataclass(frozen=True, slots=True)
class MetricSpread:
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
    spreads: tuple[MetricSpread, ...]


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


def _spreads(runs: Sequence[MeasuredRun], metrics: Sequence[str]) -> Iterator[MetricSpread]:
    for name in metrics:
        values = [run.metrics.get(name, 0.0) for run in runs]
        shares = tuple(find_percentile(values, each) for each in PERCENTILES)
        yield MetricSpread(name, fmean(values), min(values), shares, max(values))

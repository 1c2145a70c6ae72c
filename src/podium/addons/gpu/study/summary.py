"""What many runs say together: means over seeds, their spread, and differences of pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from podium.addons.gpu.study.results import RunResult
from podium.golang.document_structs import Count, DocumentPart

SHOWN_PERCENT = (50, 80, 90, 100, 110, 120, 130)


@dataclass(frozen=True, slots=True)
class Cell:
    mean: float
    deviation: float | None
    """Of the sample; None for one seed."""


class SummaryCell(DocumentPart, frozen=True):
    """A figure at one percentage of demand."""

    arrived_percent: Count
    """GPU that was asked for so far, % of the cluster's."""
    mean: float
    """Over seeds."""
    deviation: float | None
    """Standard deviation of the sample; null for one seed."""


@dataclass(frozen=True, slots=True)
class PolicySummary:
    trace: str
    policy: str
    seeds: tuple[int, ...]
    placed_part: float
    allocation: dict[int, Cell]
    fragmentation_ratio: dict[int, Cell]
    allocation_gain: dict[int, Cell]
    """Over the policy compared with, seed by seed; empty without one."""
    curve: tuple[float | None, ...]
    """The mean fragmentation ratio at each percentage."""


def summarize(
    results: Sequence[RunResult], baseline: str, shown: Sequence[int] = SHOWN_PERCENT
) -> list[PolicySummary]:
    """One for each trace and policy, in the order in which they come."""
    groups: dict[tuple[str, str], list[RunResult]] = {}
    for run in results:
        groups.setdefault((run.trace, run.policy), []).append(run)
    return [
        _summarize_policy(
            sorted(runs, key=lambda run: run.seed), groups.get((trace, baseline)), shown
        )
        for (trace, _), runs in groups.items()
    ]


def _summarize_policy(
    runs: Sequence[RunResult], baseline: Sequence[RunResult] | None, shown: Sequence[int]
) -> PolicySummary:
    others = {run.seed: run for run in baseline or ()}
    pairs = [(run, others[run.seed]) for run in runs if run.seed in others]
    own = others.get(runs[0].seed) is runs[0]
    return PolicySummary(
        runs[0].trace,
        runs[0].policy,
        tuple(run.seed for run in runs),
        sum(run.placed for run in runs) / sum(run.pods for run in runs),
        _cells([run.allocation_percent for run in runs], shown),
        _cells([run.fragmentation_ratio_percent for run in runs], shown),
        {} if own else _gains(pairs, shown),
        tuple(
            _mean([run.fragmentation_ratio_percent[percent] for run in runs])
            for percent in range(len(runs[0].fragmentation_ratio_percent))
        ),
    )


def _cells(columns: Sequence[Sequence[float | None]], shown: Sequence[int]) -> dict[int, Cell]:
    cells = {}
    for percent in shown:
        values = [value for column in columns if (value := column[percent]) is not None]
        if values:
            cells[percent] = _cell(values)
    return cells


def _gains(pairs: Sequence[tuple[RunResult, RunResult]], shown: Sequence[int]) -> dict[int, Cell]:
    differences = [
        [
            None if a is None or b is None else a - b
            for a, b in zip(run.allocation_percent, other.allocation_percent, strict=True)
        ]
        for run, other in pairs
    ]
    return _cells(differences, shown)


def _cell(values: Sequence[float]) -> Cell:
    return Cell(fmean(values), stdev(values) if len(values) > 1 else None)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def list_cells(cells: Mapping[int, Cell]) -> tuple[SummaryCell, ...]:
    """Cells for programs, by the percentage of demand."""
    return tuple(
        SummaryCell(
            percent,
            round(cell.mean, 4),
            None if cell.deviation is None else round(cell.deviation, 4),
        )
        for percent, cell in cells.items()
    )

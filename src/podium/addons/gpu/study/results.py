"""Results of runs: what a run is judged by, the folder they are in, what many say together.

`runs.jsonl` has a line for each run that has ended. A line stands for its run as long as traces,
policy and settings are what they were, which a digest tells; a line that was cut off when a machine
went down counts as none. `cells.csv` is for other programs: a row for each run and percentage.

What a run is judged by: allocation and fragmentation at each percent of demand that has arrived. A
cell is the mean over all arrivals whose demand so far rounds to its percentage; where there are
none, over those that round to a neighbour of it.

Many runs say together: means over seeds, their spread, and differences of pairs.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import msgspec
import numpy as np

from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.study.numpy_engine import NO_NODE, Placements
from podium.addons.gpu.study.traces import Trace
from podium.golang.document_structs import Count, DocumentPart
from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_file

COLUMNS = 131
"""0 to 130 % of the cluster's GPUs asked for."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """A value for each percentage of demand; NaN where nothing arrived near it."""

    allocation: Floats
    """% of the cluster's GPUs."""
    fragmentation_ratio: Floats
    """% of idle GPU."""
    fragmentation_amount: Floats
    """% of the cluster's GPUs."""


def measure(trace: Trace, stream: Ints, placements: Placements) -> Metrics:
    capacity = trace.nodes.gpu_milli
    demand = trace.pods.demand_milli[stream]
    arrived = np.cumsum(demand) / capacity * 100
    used = np.cumsum(np.where(placements.rows != NO_NODE, demand, 0))
    fragments = placements.fragments_milli
    idle = capacity - used
    ratio = np.where(idle > 0, 100 * fragments / np.maximum(idle, 1), 0.0)
    columns = np.rint(arrived).astype(np.int64)
    amount = _average_columns(columns, fragments.round(2)) / capacity * 100
    return Metrics(
        _average_columns(columns, (used / capacity * 100).round(2)).round(2),
        _average_columns(columns, ratio.round(2)),
        amount.round(2),
    )


def _average_columns(columns: Ints, values: Floats) -> Floats:
    inside = columns < COLUMNS + 1
    count: Floats = np.bincount(columns[inside], minlength=COLUMNS + 1).astype(np.float64)
    total = np.bincount(columns[inside], values[inside], minlength=COLUMNS + 1).astype(np.float64)
    near_count, near_total = _with_neighbours(count), _with_neighbours(total)
    chosen_count = np.where(count > 0, count, near_count)[:COLUMNS]
    chosen_total = np.where(count > 0, total, near_total)[:COLUMNS]
    cells: Floats = np.full(COLUMNS, np.nan)
    np.divide(chosen_total, chosen_count, out=cells, where=chosen_count > 0)
    return cells


def _with_neighbours(values: Floats) -> Floats:
    around = np.pad(values, 1)
    together: Floats = around[:-2] + around[1:-1] + around[2:]
    return together


RUNS = "runs.jsonl"
CELLS = "cells.csv"


RunKey = tuple[str, str, int, str]
"""Trace, policy, seed and digest."""


class RunResult(DocumentPart, frozen=True, forbid_unknown_fields=False):
    """One run; cells are at 0 to 130 % of demand, null where nothing arrived near it."""

    trace: str
    """The name of the file with its pods."""
    policy: str
    """Its name, of a user's policy the function's."""
    seed: Count
    """Decides the order of pods and of nodes."""
    digest: str
    """Stands for the files, the policy's code and the demand."""
    pods: Count
    """Pods that were offered."""
    placed: Count
    """Pods that found a node."""
    allocation_percent: list[float | None]
    """GPU in use, % of the cluster's."""
    fragmentation_ratio_percent: list[float | None]
    """GPU that typical pods cannot use, % of what is idle."""
    fragmentation_amount_percent: list[float | None]
    """GPU that typical pods cannot use, % of the cluster's."""

    @property
    def key(self) -> RunKey:
        return (self.trace, self.policy, self.seed, self.digest)


def make_result(
    trace: str, policy: str, seed: int, digest: str, placed: int, pods: int, found: Metrics
) -> RunResult:
    return RunResult(
        trace,
        policy,
        seed,
        digest,
        pods,
        placed,
        _number_cells(found.allocation.tolist()),
        _number_cells(found.fragmentation_ratio.round(6).tolist()),
        _number_cells(found.fragmentation_amount.tolist()),
    )


class ResultFolder:
    """Where results are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise _unwritable(path, problem) from None

    def read(self) -> list[RunResult]:
        try:
            lines = read_file(self.path / RUNS, MAX_CLUSTER_BYTES).split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise InputError(f"cannot be read: {reason}", source=str(self.path / RUNS)) from None
        results = []
        for line in lines:
            try:
                results.append(msgspec.json.decode(line, type=RunResult))
            except msgspec.DecodeError:
                continue
        return results

    def add(self, results: Iterable[RunResult]) -> None:
        text = b"".join(b"\n" + msgspec.json.encode(result) for result in results)
        try:
            with (self.path / RUNS).open("ab") as file:
                file.write(text)
        except OSError as problem:
            raise _unwritable(self.path / RUNS, problem) from None

    def write_cells(self, results: Sequence[RunResult]) -> None:
        try:
            (self.path / CELLS).write_text(cells_csv(results))
        except OSError as problem:
            raise _unwritable(self.path / CELLS, problem) from None


def cells_csv(results: Sequence[RunResult]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ("trace", "policy", "seed", "arrived", "allocation", "frag_ratio", "frag_amount")
    )
    for run in results:
        columns = (
            run.allocation_percent,
            run.fragmentation_ratio_percent,
            run.fragmentation_amount_percent,
        )
        for percent, cells in enumerate(zip(*columns, strict=True)):
            if cells[0] is not None:
                writer.writerow((run.trace, run.policy, run.seed, percent, *cells))
    return text.getvalue()


def _number_cells(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _unwritable(path: Path, problem: OSError) -> InputError:
    reason = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be written: {reason}", source=str(path))


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
        _spread_columns([run.allocation_percent for run in runs], shown),
        _spread_columns([run.fragmentation_ratio_percent for run in runs], shown),
        {} if own else _gains(pairs, shown),
        tuple(
            _mean([run.fragmentation_ratio_percent[percent] for run in runs])
            for percent in range(len(runs[0].fragmentation_ratio_percent))
        ),
    )


def _spread_columns(
    columns: Sequence[Sequence[float | None]], shown: Sequence[int]
) -> dict[int, Cell]:
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
    return _spread_columns(differences, shown)


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

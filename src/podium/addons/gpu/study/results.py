"""Results of runs: kept in a folder while a study goes on, so that it can be resumed.

`runs.jsonl` has a line for each run that has ended. A line stands for its run as long as traces,
policy and settings are what they were, which a digest tells; a line that was cut off when a machine
went down counts as none. `cells.csv` is for other programs: a row for each run and percentage.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from podium.addons.gpu.study.metrics import Metrics
from podium.golang.document_structs import Count, DocumentPart
from podium.golang.errors import InputError
from podium.net.files.bounded_files import MAX_CLUSTER_BYTES, read_file

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
        _cells(found.allocation.tolist()),
        _cells(found.fragmentation_ratio.round(6).tolist()),
        _cells(found.fragmentation_amount.tolist()),
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


def _cells(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def _unwritable(path: Path, problem: OSError) -> InputError:
    reason = (problem.strerror or str(problem)).lower()
    return InputError(f"cannot be written: {reason}", source=str(path))

"""Runs as tables for other programs: `runs` has a row for each run, `pods` one for each pod of it.

Pods are written run by run and not held. Which metrics there are is known after the last run, so
the rows of `runs`, which are few, wait for it.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from podium.offline.sweeps.result_tables import Column, Row, Table, TableFormat, open_table
from podium.offline.what_if.measured_runs import MeasuredRun, list_metrics
from podium.offline.what_if.run_matrix import EndedRun, RunMatrix

_RUN: Final = (
    Column("run", "int64"),
    Column("input", "string"),
    Column("configuration", "string"),
    Column("seed", "int64"),
)
RUN_COLUMNS: Final = (*_RUN, Column("key", "string"))
POD_COLUMNS: Final = (
    *_RUN,
    Column("namespace", "string"),
    Column("pod", "string"),
    Column("outcome", "string"),
    Column("node", "string"),
    Column("waiting_s", "double"),
)


class RunTables:
    """Takes runs in their order."""

    def __init__(self, matrix: RunMatrix, pods: Sequence[Table]) -> None:
        self._inputs = [each.name for each in matrix.inputs]
        self._configurations = [each.name for each in matrix.configurations]
        self._pods = pods
        self._runs: list[tuple[str, MeasuredRun]] = []

    def add(self, ended: EndedRun) -> None:
        run = ended.measured
        row = self._row(len(self._runs), run)
        self._runs.append((ended.key, run.without_places()))
        for table in self._pods:
            table.append(
                (*row, *_split(place.pod), place.outcome, place.node or None, place.waiting_s)
                for place in run.places
            )

    def run_columns(self) -> tuple[Column, ...]:
        metrics = list_metrics([run for _, run in self._runs])
        return (*RUN_COLUMNS, *(Column(name, "double") for name in metrics))

    def run_rows(self) -> Iterator[Row]:
        """A metric that no run of an input has is not there; one that some have is 0 elsewhere."""
        metrics = list_metrics([run for _, run in self._runs])
        known = {(run.input, name) for _, run in self._runs for name in run.metrics}
        for number, (key, run) in enumerate(self._runs):
            values = (
                run.metrics.get(name, 0.0) if (run.input, name) in known else None
                for name in metrics
            )
            yield (*self._row(number, run), key, *values)

    def _row(self, number: int, run: MeasuredRun) -> tuple[int, str, str, int]:
        configuration = self._configurations[run.configuration]
        return (number, self._inputs[run.input], configuration, run.seed)


@contextmanager
def open_run_tables(
    matrix: RunMatrix, wanted: Sequence[tuple[Path, TableFormat]]
) -> Iterator[RunTables]:
    """Tables in directories, which are whole when the context ends. Raises InputError."""
    with ExitStack() as stack:
        pods = [
            stack.enter_context(open_table(directory, "pods", POD_COLUMNS, form))
            for directory, form in wanted
        ]
        tables = RunTables(matrix, pods)
        yield tables
        for directory, form in wanted:
            with open_table(directory, "runs", tables.run_columns(), form) as runs:
                runs.append(tables.run_rows())


def _split(pod: str) -> tuple[str, str]:
    namespace, _, name = pod.partition("/")
    return namespace, name

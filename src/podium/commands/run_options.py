"""Options of commands that make many runs: where they are made, kept and written to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

from cyclopts import Parameter

from podium.commands.options import progress_bar
from podium.commands.printing import print_lines
from podium.commands.same_command import HowOptions
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.offline.sweeps.execution import RunsFailed
    from podium.offline.sweeps.executors import Executor
    from podium.offline.sweeps.result_tables import TableFormat


_MAX_TOLD: Final = 20

Jobs = Annotated[
    int,
    Parameter(
        name=["--jobs"], metavar="N", help="Processes that share the runs; 0 for one a core."
    ),
]
Parquet = Annotated[
    Path | None,
    Parameter(name=["--parquet"], metavar="DIR", help="Write runs.parquet and pods.parquet there."),
]
Csv = Annotated[
    Path | None,
    Parameter(name=["--csv"], metavar="DIR", help="The same tables as CSV."),
]


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class DaskOptions(HowOptions):
    dask: Annotated[
        str | None,
        Parameter(
            name=["--dask"],
            metavar="ADDRESS",
            help="Make the runs on the workers of a Dask cluster: tcp://HOST:8786, "
            "tls://HOST:8786, file:SCHEDULER.json, or local:N for N workers on this machine.",
        ),
    ] = None
    tls_ca: Annotated[
        str,
        Parameter(
            name=["--dask-tls-ca"],
            metavar="FILE",
            show_default=False,
            help="The CA of a Dask cluster.",
        ),
    ] = ""
    tls_cert: Annotated[
        str,
        Parameter(
            name=["--dask-tls-cert"],
            metavar="FILE",
            show_default=False,
            help="The certificate to show to a Dask cluster.",
        ),
    ] = ""
    tls_key: Annotated[
        str,
        Parameter(
            name=["--dask-tls-key"],
            metavar="FILE",
            show_default=False,
            help="The key of that certificate.",
        ),
    ] = ""

    def make_executor(self, jobs: int) -> Executor:
        """Raises InputError."""
        from podium.offline.sweeps.dask_executor import DaskAddress, DaskExecutor
        from podium.offline.sweeps.executors import LocalProcesses

        if self.dask is not None:
            return DaskExecutor(DaskAddress(self.dask, self.tls_ca, self.tls_cert, self.tls_key))
        if self.tls_ca or self.tls_cert or self.tls_key:
            raise InputError("certificates are for a Dask cluster", remedy="--dask tls://HOST:8786")
        if jobs < 0:
            raise InputError("--jobs must be at least 1, or 0 for all cores")
        return LocalProcesses(jobs)


NO_DASK: Final = DaskOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class RunOptions(HowOptions):
    dask: DaskOptions = NO_DASK
    resume: Annotated[
        Path | None,
        Parameter(
            name=["--resume"],
            metavar="DIR",
            help="Keep the result of every run in this directory, and make no run again whose "
            "result is there. Other input makes other runs.",
        ),
    ] = None
    parquet: Parquet = None
    csv: Csv = None

    @property
    def tables(self) -> list[tuple[Path, TableFormat]]:
        """Where tables are to be written. Raises InputError."""
        return list_tables(self.parquet, self.csv)


NO_RUN_OPTIONS: Final = RunOptions()


def list_tables(parquet: Path | None, csv: Path | None) -> list[tuple[Path, TableFormat]]:
    """Raises InputError for Parquet without pyarrow."""
    from podium.offline.sweeps.result_tables import require_format

    found: list[tuple[Path, TableFormat]] = []
    if parquet is not None:
        require_format("parquet")
        found.append((parquet, "parquet"))
    if csv is not None:
        found.append((csv, "csv"))
    return found


@contextmanager
def follow_runs(total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is told how many runs have ended. Runs that failed are told with their keys, then
    the first error is raised, as if there were no other."""
    from podium.offline.sweeps.execution import RunsFailed

    try:
        with progress_bar("runs", total, rate="runs/s") as progress:
            task = progress.task_ids[0]

            def on_ended(ended: int) -> None:
                if ended > 1 and not progress.tasks[0].completed:
                    # These had a result: they say nothing of how fast runs are.
                    progress.reset(task, completed=ended)
                else:
                    progress.advance(task, ended)

            yield on_ended
    except RunsFailed as problem:
        _raise_first(problem)


def _raise_first(problem: RunsFailed) -> NoReturn:
    failed = problem.failed
    lines = [f"podium: {each}" for each in failed[:_MAX_TOLD]]
    if len(failed) > _MAX_TOLD:
        lines.append(f"podium: and {len(failed) - _MAX_TOLD} more")
    print_lines(("; ".join(line.splitlines()) for line in lines), error=True)
    print_lines([f"podium: {problem}"], error=True)
    raise failed[0].error

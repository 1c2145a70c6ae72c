"""How far a measurement has come, on standard error.

A terminal gets a bar that leaves nothing behind; a log gets a line for every run that has ended,
since a long table may take minutes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, TaskID, TimeElapsedColumn
from rich.progress import Progress as Bars

from podium.bench.results import Figures
from podium.commands.console import Console, DescriptionColumn


class RunsProgress:
    """Runs of several workloads, one after the other."""

    def __init__(self, console: Console, bars: Bars, task: TaskID) -> None:
        self._console = console
        self._bars = bars
        self._task = task
        self._ended = 0

    def at(self, pods: int, done: int) -> None:
        """So many pods of the run at hand are done."""
        self._bars.update(self._task, completed=self._ended + done / max(1, pods))

    def end_run(self, what: str, figures: Figures) -> None:
        """Count a run, with a line about it in a log."""
        self._ended += 1
        text = f"{what}: {figures.pods_per_s:,.0f} pods/s"
        self._bars.update(self._task, completed=self._ended, description=text)
        if not self._console.is_terminal:
            self._console.print(text, soft_wrap=True)


@contextmanager
def runs_progress(runs: int) -> Iterator[RunsProgress]:
    console = Console(stderr=True)
    with _bars(console) as bars:
        task = bars.add_task("measuring", total=runs)
        yield RunsProgress(console, bars, task)


@contextmanager
def file_progress(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar for the pods of one workload file."""
    with _bars(Console(stderr=True)) as bars:
        task = bars.add_task(name, total=total)
        yield lambda done: bars.update(task, completed=done)


def _bars(console: Console) -> Bars:
    columns = (DescriptionColumn(), BarColumn(), TimeElapsedColumn())
    return Bars(*columns, console=console, transient=True, disable=not console.is_terminal)

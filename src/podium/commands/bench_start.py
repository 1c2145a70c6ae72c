"""`podium bench start`: what it costs to start."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.start_run import StartFigures


def start(
    *,
    repeat: Annotated[int, Parameter(help="Runs of each command, in turns.")] = 10,
) -> int:
    """Start commands in processes of their own, and print what that takes.

    Help, mistakes, a simulation of three pods, and `podium run` up to its first list of objects.
    Machines are noisy: the table shows the least, the median and the most of all runs, of processor
    time, which other programs disturb least, and of what somebody waits.

    Examples:

        podium bench start
        podium bench start --repeat 3
    """
    from podium.bench.start_run import (
        RUN,
        STARTS,
        measure_first_list,
        measure_start,
        start_folder,
    )

    if repeat < 1:
        raise InputError("--repeat must be at least 1")
    loads = [os.getloadavg()[0]]
    runs: dict[str, list[StartFigures]] = {}
    with start_folder() as folder:
        for _ in range(repeat):
            for words in STARTS:
                shown = " ".join(words)
                runs.setdefault(shown, []).append(measure_start(words, folder))
            first_list = f"{RUN[0]}, to its first list"
            runs.setdefault(first_list, []).append(measure_first_list(folder))
            loads.append(os.getloadavg()[0])
    _show(runs, loads, repeat)
    return OK


def _show(runs: dict[str, list[StartFigures]], loads: list[float], repeat: int) -> None:
    from statistics import median

    from rich import box
    from rich.table import Table

    from podium.commands.tables import Screen, count

    screen = Screen()
    screen.print_heading("Starting podium", f"{count(repeat, 'run')} of each command, in turns")
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", padding=(0, 1)
    )
    table.add_column("", no_wrap=True)
    for heading in ("CPU s", "median", "most", "wall s", "median", "most"):
        table.add_column(heading, justify="right", no_wrap=True)
    for shown, figures in runs.items():
        columns = ([each.cpu_s for each in figures], [each.wall_s for each in figures])
        cells = (f(column) for column in columns for f in (min, median, max))
        table.add_row(shown, *(f"{cell:.2f}" for cell in cells))
    screen.print(table)
    screen.print(
        f"{os.cpu_count()} processors, one-minute load from {min(loads):.2f} to {max(loads):.2f}",
        style="dim",
    )

"""Results of a study as tables for other programs: `runs`, and `cells` as `cells.csv` has them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from podium.addons.gpu.study.results import RunResult
from podium.offline.sweeps.result_tables import Column, TableFormat, open_table

_RUN: Final = (
    Column("run", "int64"),
    Column("trace", "string"),
    Column("policy", "string"),
    Column("seed", "int64"),
)
RUN_COLUMNS: Final = (
    *_RUN,
    Column("digest", "string"),
    Column("pods", "int64"),
    Column("placed", "int64"),
)
CELL_COLUMNS: Final = (
    *_RUN,
    Column("arrived_percent", "int64"),
    Column("allocation_percent", "double"),
    Column("fragmentation_ratio_percent", "double"),
    Column("fragmentation_amount_percent", "double"),
)


def write_tables(results: Sequence[RunResult], directory: Path, form: TableFormat) -> None:
    """Raises InputError."""
    named = [((number, run.trace, run.policy, run.seed), run) for number, run in enumerate(results)]
    with open_table(directory, "runs", RUN_COLUMNS, form) as table:
        table.append((*name, run.digest, run.pods, run.placed) for name, run in named)
    with open_table(directory, "cells", CELL_COLUMNS, form) as table:
        for name, run in named:
            columns = (
                run.allocation_percent,
                run.fragmentation_ratio_percent,
                run.fragmentation_amount_percent,
            )
            table.append(
                (*name, percent, *cells)
                for percent, cells in enumerate(zip(*columns, strict=True))
                if cells[0] is not None
            )

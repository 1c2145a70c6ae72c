"""The bound beside the policies of a study: worked out, shown and as plain data."""

from collections.abc import Mapping, Sequence

from podium.addons.gpu.study.batch import TraceFiles
from podium.addons.gpu.study.traces import read_trace
from podium.addons.gpu.study.workloads import bound_percent
from podium.commands.tables import Screen, count

Bounds = Mapping[str, Mapping[int, float]]
"""Trace -> % asked for -> % that can be allocated at most."""


def find_bounds(
    traces: Sequence[TraceFiles], seeds: Sequence[int], demand: int, shown: Sequence[int]
) -> Bounds:
    """Raises InputError where the solver is not installed."""
    return {
        files.name: bound_percent(
            read_trace(files.name, files.nodes, files.pods), seeds, demand, shown
        )
        for files in traces
    }


def show_bounds(bounds: Bounds, seeds: int, screen: Screen) -> None:
    told = f"no policy allocates more: mean over {count(seeds, 'seed')}, % of capacity"
    for trace, cells in bounds.items():
        screen.heading(trace, told)
        headings = [str(percent) for percent in cells]
        table = screen.table("", *headings, right=headings)
        table.add_row("bound", *(f"{bound:.2f}" for bound in cells.values()))
        screen.print(table)


def bounds_document(bounds: Bounds) -> list[dict[str, object]]:
    return [
        {
            "trace": trace,
            "allocationPercent": [
                {"arrivedPercent": percent, "mean": round(bound, 4)}
                for percent, bound in cells.items()
            ],
        }
        for trace, cells in bounds.items()
    ]

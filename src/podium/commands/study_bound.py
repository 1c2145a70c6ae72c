"""The bound beside the policies of a study: worked out and shown."""

from collections.abc import Sequence

from podium.addons.gpu.study.batch import TraceFiles
from podium.addons.gpu.study.study_answer import Bounds
from podium.addons.gpu.study.traces import read_trace
from podium.addons.gpu.study.workloads import bound_percent
from podium.commands.tables import Screen, count


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

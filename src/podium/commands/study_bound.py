"""What no policy can allocate more of: the bound beside the policies of a study, found and shown.

For each percentage of demand the pods that have arrived by then are placed by a linear program, all
at once and cut up at will (`podium.offline.optimum.gpu_bound`). A run's cell is a mean over
arrivals up to then, so it is at most this.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean

import numpy as np

from podium.addons.gpu.study.study_answer import Bounds
from podium.addons.gpu.study.traces import Trace, read_trace
from podium.addons.gpu.study.workloads import StudyWorkload, make_workload, model_masks
from podium.commands.study_runs import TraceFiles
from podium.commands.tables import Screen, count
from podium.offline.optimum.gpu_bound import GPUPodKind, NodeGroup, bound_allocation


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
        screen.print_heading(trace, told)
        headings = [str(percent) for percent in cells]
        table = screen.table("", *headings, right=headings)
        table.add_row("bound", *(f"{bound:.2f}" for bound in cells.values()))
        screen.print(table)


def bound_percent(
    trace: Trace, seeds: Sequence[int], demand_percent: int, shown: Sequence[int]
) -> dict[int, float]:
    """% of the cluster's GPUs that can be allocated at most by % of them asked for: the mean over
    seeds. Raises InputError without a solver."""
    found: dict[int, list[float]] = {percent: [] for percent in shown}
    for seed in seeds:
        workload = make_workload(trace, seed, demand_percent / 100)
        for percent, bound in bound_workload(workload, shown).items():
            found[percent].append(bound)
    return {percent: fmean(bounds) for percent, bounds in found.items() if bounds}


def bound_workload(workload: StudyWorkload, shown: Sequence[int]) -> dict[int, float]:
    """The same for one order of arrivals."""
    trace, stream = workload.trace, workload.stream
    capacity = trace.nodes.gpu_milli
    arrived = np.cumsum(trace.pods.demand_milli[stream]) / capacity * 100
    columns = np.rint(arrived).astype(np.int64)
    groups = node_groups(trace)
    found = {}
    for percent in shown:
        # Where nothing rounds to a percentage its neighbours stand for it.
        last = percent if (columns == percent).any() else percent + 1
        count = int(np.searchsorted(columns, last, side="right"))
        kinds = _pod_kinds(trace, tuple(stream[:count].tolist()))
        found[percent] = 100 * bound_allocation(groups, kinds) / capacity
    return found


@lru_cache(maxsize=16)
def node_groups(trace: Trace) -> tuple[NodeGroup, ...]:
    nodes = trace.nodes
    rows = zip(nodes.cpu_milli.tolist(), nodes.gpus.tolist(), nodes.model_bit.tolist(), strict=True)
    return tuple(
        NodeGroup(count, cpu, gpus, model)
        for (cpu, gpus, model), count in Counter(rows).items()
        if gpus
    )


def _pod_kinds(trace: Trace, rows: tuple[int, ...]) -> list[GPUPodKind]:
    pods, masks = trace.pods, model_masks(trace)
    counts = Counter(
        (int(pods.cpu_milli[r]), int(pods.gpus[r]), int(pods.gpu_milli[r]), int(masks[r]))
        for r in rows
    )
    return [GPUPodKind(count, *kind) for kind, count in counts.items()]

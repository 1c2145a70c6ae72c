"""`podium bench`: how fast the engine decides on this machine."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from cyclopts import App, Parameter
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from podium.api.errors import InputError
from podium.bench.engine_run import Figures, Workload, measure, read_workload, workload_of
from podium.bench.workloads import WORKLOADS, make_workload
from podium.cli.exit_codes import OK

bench = App(name="bench", help="Measure how fast Podium decides.")

WorkloadName = Literal["basic", "spread", "affinity", "anti-affinity", "mixed"]


@bench.command
def engine(
    *,
    file: Annotated[
        Path | None,
        Parameter(help="A workload: JSON with nodes, init (bound pods) and pods (pending)."),
    ] = None,
    workload: Annotated[
        list[WorkloadName] | None, Parameter(help="Made workloads to run; all by default.")
    ] = None,
    nodes: Annotated[int, Parameter(help="Nodes of a made workload.")] = 5000,
    pods: Annotated[int, Parameter(help="Pending pods of a made workload.")] = 1000,
    percentage: Annotated[
        int, Parameter(help="percentageOfNodesToScore; 100 scores every node.")
    ] = 100,
    repeat: Annotated[int, Parameter(help="Runs of each workload; the fastest is shown.")] = 3,
    json: Annotated[bool, Parameter(help="Print JSON instead of a table.")] = False,
) -> int:
    """Schedule pods one after another, in-process, and print pods per second.

    Loading is not counted. The table shows the fastest run, and how far the slowest was from it:
    machines are noisy, so compare ratios of one run rather than figures of two.

    Examples:

        podium bench engine --workload basic --nodes 5000
        podium bench engine --file workload.json --json
    """
    if percentage < 0 or percentage > 100:
        raise InputError("--percentage must lie between 0 and 100")
    if min(nodes, pods, repeat) < 1:
        raise InputError("--nodes, --pods and --repeat must be at least 1")
    jobs = _jobs(file, workload, nodes, pods)
    found: dict[str, list[Figures]] = {}
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for name, job in jobs:
            task = progress.add_task(name, total=len(job.pods) * repeat)
            for round_ in range(repeat):
                report = _reporter(progress, task, round_ * len(job.pods))
                figures = measure(job, percentage=percentage, progress=report)
                found.setdefault(name, []).append(figures)
    if json:
        _print_json(found, single=file is not None)
    else:
        _print_table(found, percentage)
    return OK


def _reporter(progress: Progress, task: TaskID, done: int) -> Callable[[int], None]:
    return lambda index: progress.update(task, completed=done + index)


def _jobs(
    file: Path | None, names: list[WorkloadName] | None, nodes: int, pods: int
) -> list[tuple[str, Workload]]:
    if file is not None:
        try:
            data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        except OSError as problem:
            raise InputError(f"cannot be read: {problem.strerror}", source=str(file)) from problem
        return [(file.name, read_workload(data, str(file)))]
    chosen: list[str] = list(names or WORKLOADS)
    return [(name, workload_of(make_workload(name, nodes, pods))) for name in chosen]


def _best(runs: list[Figures]) -> Figures:
    return max(runs, key=lambda run: run.pods_per_s)


def _print_json(found: dict[str, list[Figures]], *, single: bool) -> None:
    results = []
    for name, runs in found.items():
        rates = [run.pods_per_s for run in runs]
        built = msgspec.to_builtins(_best(runs))
        results.append({"workload": name, **built, "runs": rates})
    value = results[0] if single else results
    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _print_table(found: dict[str, list[Figures]], percentage: int) -> None:
    table = Table(title=f"Pods per second, {percentage} % of nodes scored")
    table.add_column("workload")
    headings = ("nodes", "pods", "bound", "pods/s", "slowest", "p50 ms", "p99 ms", "RSS MB")
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, runs in found.items():
        best, worst = _best(runs), min(run.pods_per_s for run in runs)
        table.add_row(
            name,
            f"{best.nodes:,}",
            f"{best.pods:,}",
            f"{best.bound:,}",
            f"{best.pods_per_s:,.0f}",
            f"{worst:,.0f}",
            f"{best.p50_ms:.3f}",
            f"{best.p99_ms:.3f}",
            f"{best.peak_rss_mb:.0f}",
        )
    console = Console()
    console.print(table)
    load = next(iter(found.values()))[-1].load
    console.print(f"load of the machine: {load}", highlight=False)

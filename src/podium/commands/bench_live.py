"""`podium bench live`: how fast a scheduler process binds pods in a cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import NO, OK
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.live_run import LiveOrder
    from podium.bench.results import Figures, LiveComparison, LiveResult, Ratio
    from podium.commands.bench_progress import RunsProgress


WorkloadName = Literal["basic", "spread", "affinity", "anti-affinity", "mixed"]
OURS = "podium"


def live(
    *,
    nodes: Annotated[int, Parameter(help="Nodes of the cluster.")] = 1000,
    init: Annotated[int | None, Parameter(help="Pods that are there before.")] = None,
    pods: Annotated[int, Parameter(help="Pods that are measured.")] = 2000,
    workload: Annotated[
        list[WorkloadName] | None, Parameter(negative="", help="Which pods come; basic by default.")
    ] = None,
    scheduler: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            metavar="COMMAND",
            help="Another scheduler to measure in the same way: its command line, with {config} or"
            " {kubeconfig} where the name of that file belongs. May be repeated.",
        ),
    ] = None,
    connections: Annotated[int, Parameter(help="Connections that pods come over.")] = 16,
    tls: Annotated[
        bool, Parameter(negative="", help="All clients of the API server use TLS.")
    ] = False,
    runs: Annotated[int, Parameter(name=["--runs", "--repeat"], help="Runs of each.")] = 3,
    output: Annotated[Literal["table", "json"], Parameter(help="The form of the answer.")] = (
        "table"
    ),
) -> int:
    """Bind pods in a cluster on this machine and print how fast that went.

    `podium apiserver`, the scheduler and the load are three processes. Nodes are objects without
    kubelets. Each run has a new cluster and a new scheduler, and the schedulers take turns. The
    clock runs from the first creation to the last binding; the scheduler's processor time is
    counted until it has nothing left to do. Its limits on requests are out of the way.

    The API server has its part in every figure, so compare ratios of one run, and the processor
    time of the scheduler, which other programs disturb least.

    Examples:

        podium bench live
        podium bench live --nodes 5000 --pods 5000 --workload spread --output json
        podium bench live --scheduler 'kube-scheduler --config {config} --secure-port=0'

    The exit code is 1 if pods were not bound.
    """
    from podium.bench.live_run import LiveOrder, live_plan
    from podium.bench.results import LiveBenchmark, SchedulerFigures
    from podium.commands.bench_progress import runs_progress
    from podium.commands.documents import print_struct

    if min(nodes, pods, connections, runs) < 1 or (init is not None and init < 0):
        raise InputError("all numbers must be at least 1, and --init 0")
    commands = _commands(scheduler or ())
    orders = [
        LiveOrder(
            workload=name,
            plan=live_plan(name, nodes, init, pods),
            command=command,
            connections=connections,
            tls=tls,
        )
        for name in workload or ("basic",)
        for command in commands.values()
    ]
    with _ended_politely(), runs_progress(len(orders) * runs) as progress:
        results = _measure_runs(orders, list(commands), runs, progress)
    comparisons = _compare_schedulers(results)
    if output == "json":
        figures = tuple(map(SchedulerFigures.of, results))
        print_struct(LiveBenchmark(figures, tuple(comparisons)), "json")
    else:
        _show(results, comparisons, tls=tls)
    return NO if any(run.failed for result in results for run in result.runs) else OK


def _commands(written: tuple[str, ...] | list[str]) -> dict[str, tuple[str, ...]]:
    """Commands by the names of their programs, numbered where two have the same."""
    from podium.bench.scheduler_process import OWN_COMMAND, command_of

    commands = {OURS: OWN_COMMAND}
    for line in written:
        command = command_of(line)
        name, number = Path(command[0]).name, 2
        while name in commands:
            name, number = f"{Path(command[0]).name} ({number})", number + 1
        commands[name] = command
    return commands


def _measure_runs(
    orders: list[LiveOrder], names: list[str], runs: int, progress: RunsProgress
) -> list[LiveResult]:
    """One run after the other: every scheduler of a workload, then the next round."""
    from podium.bench.cases import full_name
    from podium.bench.live_run import measure_live
    from podium.bench.results import LiveResult

    figures: dict[int, list[Figures]] = {place: [] for place in range(len(orders))}
    schedulers = [names[place % len(names)] for place in range(len(orders))]
    for first in range(0, len(orders), len(names)):
        for number in range(runs):
            for place in range(first, first + len(names)):
                order = orders[place]
                run = measure_live(order, partial(progress.at, order.plan.pods))
                figures[place].append(run)
                progress.end_run(f"{order.workload}, {schedulers[place]}, run {number + 1}", run)
    return [
        LiveResult(
            workload=order.workload,
            case=full_name(order.workload),
            runs=tuple(figures[place]),
            scheduler=schedulers[place],
        )
        for place, order in enumerate(orders)
    ]


def _compare_schedulers(results: list[LiveResult]) -> list[LiveComparison]:
    from podium.bench.results import compare_live

    ours = {result.workload: result for result in results if result.scheduler == OURS}
    return [
        compare_live(ours[result.workload], result)
        for result in results
        if result.scheduler != OURS
    ]


@contextmanager
def _ended_politely() -> Iterator[None]:
    """A request to end is taken as Ctrl-C is, so that no process is left behind."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# --- telling ----------------------------------------------------------------------------------


def _show(results: list[LiveResult], comparisons: list[LiveComparison], *, tls: bool) -> None:
    from podium.commands.bench_view import short
    from podium.commands.tables import Screen

    screen = Screen()
    best = results[0].best
    several = len(results[0].runs)
    over = "TLS" if tls else "plain HTTP"
    screen.print_heading(
        "Pods bound per second",
        f"{best.nodes:,} nodes, {best.pods:,} pods, over {over}, "
        + ("1 run" if several == 1 else f"the best of {several} runs"),
    )
    numbers = ("pods/s", "slowest", "spread", "CPU ms", "p50 ms", "p99 ms", "RSS MB")
    table = screen.table("workload", "scheduler", *numbers, right=numbers)
    for result in results:
        best = result.best
        table.add_row(
            result.workload,
            result.scheduler,
            f"{best.pods_per_s:,.0f}",
            f"{result.slowest:,.0f}",
            f"{100 * result.spread:.0f} %",
            short(result.cpu_ms),
            short(best.p50_ms),
            short(best.p99_ms),
            f"{best.peak_rss_mb:,.0f}",
        )
    screen.print(table)
    loads = [run.load for result in results for run in result.runs]
    screen.print(
        f"{os.cpu_count()} processors, one-minute load from {min(loads)} to {max(loads)};"
        " `CPU ms` is the scheduler's processor time per pod",
        style="dim",
    )
    for each in comparisons:
        screen.print(
            f"{each.workload}: {each.scheduler} binds {_format_ratio(each.pods_per_s)} times as"
            f" many pods a second as {each.to}, with {_format_ratio(each.cpu)} of its processor"
            " time per pod"
        )
    for result in results:
        lost = sum(run.failed for run in result.runs)
        if lost:
            text = f"{result.workload}: {result.scheduler} left {lost:,} pods without a node"
            screen.print(text, style="yellow")


def _format_ratio(ratio: Ratio) -> str:
    if ratio.lowest == ratio.highest:
        return f"{ratio.best:.2f}"
    return f"{ratio.best:.2f} ({ratio.lowest:.2f} to {ratio.highest:.2f})"

"""`podium bench apiserver`: what the embedded API server can take."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import NO, OK
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.apiserver_run import ApiFigures, LoadPlan


MeasureName = Literal["create", "create-durable", "watch", "objects", "hostile"]


def apiserver(
    *,
    measure: Annotated[
        list[MeasureName] | None,
        Parameter(negative="", help="What to measure; everything by default."),
    ] = None,
    pods: Annotated[int, Parameter(help="Pods that a run creates.")] = 10_000,
    connections: Annotated[int, Parameter(help="Connections that they come over.")] = 32,
    watchers: Annotated[int, Parameter(help="Watchers of pods.")] = 50,
    events_per_s: Annotated[int, Parameter(help="Events each second for every watcher.")] = 500,
    seconds: Annotated[int, Parameter(help="How long watchers watch.")] = 10,
    objects: Annotated[int, Parameter(help="Pods that memory is measured with.")] = 100_000,
    tls: Annotated[
        bool, Parameter(negative="", help="Over TLS and with a token, as is the default.")
    ] = False,
    repeat: Annotated[int, Parameter(help="Runs of each measurement.")] = 3,
    json: Annotated[bool, Parameter(negative="", help="Print JSON instead of a table.")] = False,
) -> int:
    """Load `podium apiserver`, which runs in another process, and print what it takes.

    Creations come over all connections at once, each as soon as the one before it is answered, and
    go the whole way: decoding, defaults, validation, admission, managed fields, store, answer. With
    `create-durable` the answer waits for the disk. Watched events come at a steady rate, and their
    times are those from a creation to its event. Memory is measured once, with many pods. Hostile
    requests are as hard to serve as what fits into one request can be; they come one at a time.

    Machines are noisy: the table shows the fastest run and how far the slowest stayed behind it,
    and the server's processor time per request, which other programs disturb least.

    Examples:

        podium bench apiserver
        podium bench apiserver --measure create --pods 50000 --tls
        podium bench apiserver --json > before.json

    The exit code is 1 if a watcher lost an event.
    """
    from podium.bench.apiserver_run import MEASURES, ApiFigures, LoadPlan
    from podium.commands.documents import print_struct
    from podium.net.files.versioned_documents import DocumentList

    if min(pods, connections, watchers, events_per_s, seconds, objects, repeat) < 1:
        raise InputError("all numbers must be at least 1")
    plan = LoadPlan(
        pods=pods,
        connections=connections,
        watchers=watchers,
        events_per_s=events_per_s,
        seconds=seconds,
        objects=objects,
        tls=tls,
    )
    runs: list[list[ApiFigures]] = []
    for name in measure or MEASURES:
        times = 1 if name == "objects" else repeat
        runs += map(list, zip(*(MEASURES[name](plan) for _ in range(times)), strict=True))
    if json:
        figures = [each for several in runs for each in several]
        print_struct(DocumentList(ApiFigures, figures), "json")
    else:
        _show(runs, plan)
    return NO if any(each.lost for several in runs for each in several) else OK


_HEADINGS = (
    *("each s", "slowest", "spread", "CPU ms", "at most"),
    *("cores", "p50 ms", "p99 ms", "RSS MB"),
)


def _show(runs: list[list[ApiFigures]], plan: LoadPlan) -> None:
    from rich import box
    from rich.table import Table

    from podium.commands.bench_view import short
    from podium.commands.tables import Screen

    screen = Screen()
    over = "TLS" if plan.tls else "plain HTTP"
    several = max(map(len, runs))
    screen.print_heading(
        "podium apiserver", f"over {over}, {plan.connections} connections, best of {several}"
    )
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim", padding=(0, 1)
    )
    table.add_column("", no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for each in runs:
        best = max(each, key=lambda run: run.per_s)
        slowest = min(run.per_s for run in each)
        table.add_row(
            best.measure,
            f"{best.per_s:,.0f}",
            f"{slowest:,.0f}",
            f"{100 * (best.per_s - slowest) / best.per_s:.0f} %",
            short(min(run.cpu_ms for run in each)),
            short(max(run.cpu_ms for run in each)),
            f"{best.cores:.2f}",
            short(best.p50_ms),
            short(best.p99_ms),
            f"{best.rss_mb:,.0f}",
        )
    screen.print(table)
    loads = [run.load for each in runs for run in each]
    screen.print(
        f"{os.cpu_count()} processors, one-minute load from {min(loads)} to {max(loads)};"
        " `CPU ms` is the server's processor time per request, the least and the most of all runs",
        style="dim",
    )
    for watched in (run for each in runs for run in each if run.watchers):
        lost = f"{watched.lost:,} events lost" if watched.lost else "no event lost"
        screen.print(
            f"{watched.watchers} watchers, {watched.requests:,} events: {lost}", style="dim"
        )

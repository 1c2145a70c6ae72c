"""`podium bench extender`: what asking an extender costs a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.extender_run import ExtenderFigures


def extender(
    *,
    nodes: Annotated[int, Parameter(help="Nodes of each call.")] = 1000,
    pods: Annotated[int, Parameter(help="Pods, one after the other.")] = 300,
    whole_nodes: Annotated[
        bool, Parameter(negative=(), help="Send node objects instead of names.")
    ] = False,
    repeat: Annotated[int, Parameter(help="Runs; the best counts.")] = 3,
    json: Annotated[bool, Parameter(negative=(), help="Print JSON.")] = False,
) -> int:
    """Ask an extender that takes no time of its own, over HTTP on the loopback.

    Examples:

        podium bench extender
        podium bench extender --nodes 5000 --whole-nodes
    """
    from podium.bench.extender_run import ExtenderFigures, measure_extender
    from podium.commands.documents import print_struct
    from podium.net.files.versioned_documents import DocumentList

    if min(nodes, pods, repeat) < 1:
        raise InputError("--nodes, --pods and --repeat must be at least 1")
    runs = [
        measure_extender(nodes=nodes, pods=pods, whole_nodes=whole_nodes) for _ in range(repeat)
    ]
    if json:
        print_struct(DocumentList(ExtenderFigures, runs), "json")
    else:
        _show(runs)
    return OK


def _show(runs: list[ExtenderFigures]) -> None:
    from podium.commands.tables import Screen

    best = min(runs, key=lambda run: run.p50_ms)
    slowest = max(run.p50_ms for run in runs)
    sent = "node objects" if best.whole_nodes else "names"
    loads = [run.load for run in runs]
    screen = Screen()
    screen.print_heading(
        "An extender's cost per pod",
        f"filter and prioritize, {sent} of {best.nodes:,} nodes, the best of {len(runs)} runs",
    )
    screen.print(
        f"p50 {best.p50_ms:.2f} ms (slowest run {slowest:.2f}), p99 {best.p99_ms:.2f} ms,"
        f" mean {best.mean_ms:.2f} ms; {best.cpu_ms:.2f} ms of the scheduler's CPU time"
    )
    screen.print(
        f"{best.pods:,} pods a run, one-minute load from {min(loads)} to {max(loads)}", style="dim"
    )

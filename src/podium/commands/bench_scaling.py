"""`podium bench scaling`: how cost grows with nodes, pods, signatures, selectors and
domains, and what a whole cluster takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from podium.commands.exit_codes import OK
from podium.commands.printing import print_lines, write_output
from podium.golang.errors import InputError

if TYPE_CHECKING:
    from podium.bench.child import Order
    from podium.bench.results import Figures


AxisName = Literal["nodes", "init", "signatures", "selectors", "domains", "clusters"]


def scaling(
    *,
    axis: Annotated[
        list[AxisName] | None,
        Parameter(negative="", help="What to vary; everything, one after the other, by default."),
    ] = None,
    most: Annotated[
        int | None, Parameter(help="Leave out values above this one, for a quick look.")
    ] = None,
    repeat: Annotated[int, Parameter(help="Runs of each measurement.")] = 2,
    write: Annotated[
        Path | None, Parameter(help="Put the tables into a document, in the place marked for them.")
    ] = None,
) -> int:
    """Vary one quantity after the other and print the cost of a pod as Markdown tables.

    Examples:

        podium bench scaling --axis signatures
        podium bench scaling --write docs/scaling.md
    """
    from podium.bench.child import MeasuringError, measure_apart
    from podium.bench.scaling import AXES, format_markdown, measure_axis, orders_of, with_block
    from podium.commands.bench_progress import runs_progress

    if repeat < 1:
        raise InputError("--repeat must be at least 1")
    text = _document(write) if write is not None else ""
    chosen = [entry for entry in AXES if axis is None or entry.name in axis]
    if most is not None:
        chosen = [entry.up_to(most) for entry in chosen]
    with runs_progress(orders_of(chosen) * repeat) as progress:

        def measure(order: Order) -> Figures:
            report = measure_apart(order, lambda done: progress.at(order.plan.pods, done))
            if report.figures is None:
                raise MeasuringError(f"{order.case} has no figures")
            progress.end_run(_describe_order(order), report.figures)
            return report.figures

        found = [(entry, measure_axis(entry, measure, repeat)) for entry in chosen]
    block = format_markdown(found, repeat)
    if write is not None:
        write_output(write, with_block(text, block, str(write)))
    else:
        print_lines(block.split("\n"))
    return OK


def _describe_order(order: Order) -> str:
    plan = order.plan
    return (
        f"{order.case}, {plan.nodes:,} nodes, {plan.init:,} pods on them, {plan.signatures:,}"
        f" signatures, {plan.selectors:,} selectors, {plan.domains:,} domains"
    )


def _document(path: Path) -> str:
    """A document's text, once it is sure that it has a place for tables."""
    from podium.bench.scaling import with_block
    from podium.net.files.bounded_files import read_input

    text = read_input(str(path)).decode(errors="replace")
    with_block(text, "", str(path))
    return text

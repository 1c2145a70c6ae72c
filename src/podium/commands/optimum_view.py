"""The best placement beside the scheduler's on a screen: figures, who differs, what is proven."""

from podium.commands.console import Text
from podium.commands.tables import Screen, amount, count
from podium.kubernetes.rules.requests import PODS
from podium.offline.what_if.optimum_answer import MeasuredGap, OptimumAnswer

MAX_ROWS = 25


def show_optimum(answer: OptimumAnswer, screen: Screen, *, show_all: bool) -> None:
    pods, nodes = count(answer.pods, "pending pod"), count(answer.nodes, "node")
    screen.heading("Scheduler and optimum", f"{pods} on {nodes}")
    columns = ("SCHEDULER", "OPTIMUM", "BOUND")
    table = screen.table("", *columns, right=columns)
    for each in answer.measures:
        figures = (_figure(value) for value in (each.scheduler, each.optimum, each.bound))
        table.add_row(each.name, *figures)
    for served in answer.resources:
        if served.resource != PODS:
            table.add_row(
                f"{served.resource} of {amount(served.resource, served.asked)}",
                amount(served.resource, served.scheduler),
                amount(served.resource, served.optimum),
                "",
            )
    screen.print(table)
    _show_different(answer, screen, show_all=show_all)
    screen.print()
    sign, style = (
        (screen.signs.yes, "green") if answer.is_scheduler_best else (screen.signs.no, "red")
    )
    screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {_sentence(answer)}")))
    for remark in _remarks(answer):
        screen.print(f"{screen.signs.nothing} {remark}")


def _show_different(answer: OptimumAnswer, screen: Screen, *, show_all: bool) -> None:
    if not answer.different:
        return
    screen.heading("Placed differently", count(len(answer.different), "pod"))
    table = screen.table("POD", "SCHEDULER", "OPTIMUM", whole=("POD",))
    nothing = screen.signs.nothing
    for each in answer.different if show_all else answer.different[:MAX_ROWS]:
        table.add_row(each.pod, each.scheduler or nothing, each.optimum or nothing)
    screen.print(table)
    left = len(answer.different) - MAX_ROWS
    if left > 0 and not show_all:
        screen.print(f"and {count(left, 'more pod')}; --all lists each")


def _sentence(answer: OptimumAnswer) -> str:
    better = next((each for each in answer.measures if each.gap > 0), None)
    open_gap = next((each for each in answer.measures if not each.is_proven), None)
    if better is not None:
        told = (
            f"{better.name}: {_figure(better.scheduler)} by the scheduler, "
            f"{_figure(better.optimum)} at best known"
        )
        return told + (", proven" if open_gap is None else f", {_possible(open_gap)}")
    if answer.is_scheduler_best:
        return "no placement is better than the scheduler's" + (
            ", proven" if open_gap is None else ""
        )
    if open_gap is None:
        return "no better placement is known"
    return f"no better placement is known; {_possible(open_gap)}"


def _possible(each: MeasuredGap) -> str:
    direction = "more" if each.is_maximised else "less"
    return f"{each.name}: {direction} than {_figure(each.bound)} is not possible"


def _remarks(answer: OptimumAnswer) -> list[str]:
    told = []
    if answer.timed_out:
        told.append(f"the solver stopped at its time limit of {answer.time_limit_s:g} s")
    if not answer.is_checked:
        why = f" ({answer.refusal})" if answer.refusal else ""
        told.append(
            f"the solver's placement did not pass the scheduler's filters{why}: a bound only"
        )
    if answer.ignored:
        told.append(f"the bound ignores: {', '.join(answer.ignored)}")
    if answer.evictions:
        evicted = count(answer.evictions, "pod")
        told.append(f"the scheduler evicted {evicted}, the optimum evicts none")
    if answer.left_out:
        told.append(f"left out: {', '.join(answer.left_out)}")
    return told


def _figure(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")

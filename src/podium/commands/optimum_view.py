"""The best placement beside the scheduler's: on a screen figures, who differs and what is proven,
and as a report for browsers.

Contract of the report: bounded. Lists end where they are too long for a page, and how many there
are is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from podium.commands.answering import MAX_ROWS, Report, bound_lists
from podium.commands.console import Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.tables import Screen, amount, count
from podium.kubernetes.rules.requests import PODS
from podium.offline.simulate.report import SimulationReport
from podium.offline.what_if.optimum_answer import MeasuredGap, OptimumAnswer

MAX_SHOWN: Final = 25
"""Pods in a table."""


@dataclass(frozen=True)
class OptimumView(ReviewedAnswer):
    """`nodes` is how many the cluster has."""

    answer: OptimumAnswer
    review: SimulationReport
    notes: Sequence[str]
    has_crashed: bool
    nodes: int

    @property
    def is_yes(self) -> bool:
        return self.answer.scheduler_is_best

    def answer_document(self) -> OptimumAnswer:
        return self.answer

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        answer = self.answer
        pods, nodes = count(answer.pods.pending, "pending pod"), count(self.nodes, "node")
        screen.print_heading("Scheduler and optimum", f"{pods} on {nodes}")
        _show_figures(answer, screen)
        _show_different(answer, screen, show_all=show_all)
        screen.print()
        sign, style = (screen.signs.yes, "green") if self.is_yes else (screen.signs.no, "red")
        screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {_sentence(answer)}")))
        for remark in _remarks(answer):
            screen.print(f"{screen.signs.nothing} {remark}")

    def report(self, document: OptimumAnswer) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import OPTIMUM

        different = len(document.different)
        facts = [
            Fact.count(self.nodes, "node"),
            Fact.count(document.pods.pending, "pending pod"),
            Fact(f"{different:,}", "placed differently", not document.scheduler_is_best),
        ]
        bounded, totals = bound_lists(document, {"different": MAX_ROWS, "placement": MAX_ROWS})
        return Report(facts, {"optimum": bounded}, OPTIMUM, totals)


def _show_figures(answer: OptimumAnswer, screen: Screen) -> None:
    columns = ("SCHEDULER", "OPTIMUM", "BOUND")
    table = screen.table("", *columns, right=columns)
    for each in answer.measures:
        figures = (_figure(value) for value in (each.scheduler, each.optimum, each.bound))
        table.add_row(each.name, *figures)
    for resource, served in answer.resources.items():
        if resource != PODS:
            table.add_row(
                f"{resource} of {amount(resource, served.asked)}",
                amount(resource, served.scheduler),
                amount(resource, served.optimum),
                "",
            )
    screen.print(table)


def _show_different(answer: OptimumAnswer, screen: Screen, *, show_all: bool) -> None:
    if not answer.different:
        return
    screen.print_heading("Placed differently", count(len(answer.different), "pod"))
    table = screen.table("POD", "SCHEDULER", "OPTIMUM", whole=("POD",))
    nothing = screen.signs.nothing
    for each in answer.different if show_all else answer.different[:MAX_SHOWN]:
        table.add_row(each.pod, each.scheduler or nothing, each.optimum or nothing)
    screen.print(table)
    left = len(answer.different) - MAX_SHOWN
    if left > 0 and not show_all:
        screen.print(f"and {count(left, 'more pod')}; --all lists each")


def _sentence(answer: OptimumAnswer) -> str:
    better = next((each for each in answer.measures if each.gap > 0), None)
    open_gap = next((each for each in answer.measures if not each.proven), None)
    if better is not None:
        told = (
            f"{better.name}: {_figure(better.scheduler)} by the scheduler, "
            f"{_figure(better.optimum)} at best known"
        )
        return told + (", proven" if open_gap is None else f", {_possible(open_gap)}")
    if answer.scheduler_is_best:
        return "no placement is better than the scheduler's" + (
            ", proven" if open_gap is None else ""
        )
    if open_gap is None:
        return "no better placement is known"
    return f"no better placement is known; {_possible(open_gap)}"


def _possible(each: MeasuredGap) -> str:
    return f"{each.name}: {each.better} than {_figure(each.bound)} is not possible"


def _remarks(answer: OptimumAnswer) -> list[str]:
    told = []
    if answer.timed_out:
        told.append(f"the solver stopped at its time limit of {answer.time_limit_s:g} s")
    if not answer.checked:
        why = f" ({answer.refusal})" if answer.refusal else ""
        told.append(
            f"the solver's placement did not pass the scheduler's filters{why}: a bound only"
        )
    if answer.bound_ignores:
        told.append(f"the bound ignores: {', '.join(answer.bound_ignores)}")
    if answer.pods.evicted_by_scheduler:
        evicted = count(answer.pods.evicted_by_scheduler, "pod")
        told.append(f"the scheduler evicted {evicted}, the optimum evicts none")
    if answer.pods.left_out:
        told.append(f"left out: {', '.join(answer.pods.left_out)}")
    return told


def _figure(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")

"""Moves that reach a goal: on a screen with their commands, and as a report for browsers.

Contract of the report: bounded. Lists end where they are too long for a page, and how many there
are is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from podium.commands.answering import MAX_ROWS, Report, bound_lists
from podium.commands.console import Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.printing import print_lines
from podium.commands.tables import Screen, count
from podium.offline.simulate.report import SimulationReport
from podium.offline.what_if.rebalance_answer import GoalMeasure, RebalanceAnswer, RebalanceMove
from podium.offline.what_if.rebalance_goals import FreeNodes

MAX_KEPT: Final = 15
MAX_NAMES: Final = 5
MAX_STEPS: Final = 1_000
"""In a report."""


@dataclass(frozen=True)
class RebalanceView(ReviewedAnswer):
    answer: RebalanceAnswer
    review: SimulationReport
    notes: Sequence[str]
    has_crashed: bool

    @property
    def is_yes(self) -> bool:
        return self.answer.reached

    def answer_document(self) -> RebalanceAnswer:
        return self.answer

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        show_rebalance(self.answer, screen, show_all=show_all)

    def report(self, document: RebalanceAnswer) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import REBALANCE

        reached = "reached" if document.reached else "not reached"
        facts = [
            Fact("goal", reached, not document.reached),
            Fact.count(len(document.steps), "move"),
        ]
        bounded, totals = bound_lists(document, {"steps": MAX_STEPS, "kept": MAX_ROWS})
        # Those of the steps, which the view shows with them, are kept once.
        bounded = replace(bounded, commands=document.commands[:1])
        return Report(facts, {"rebalance": bounded}, REBALANCE, totals)


def show_rebalance(answer: RebalanceAnswer, screen: Screen, *, show_all: bool) -> None:
    measure = answer.measure
    if answer.steps:
        _show_steps(answer, screen)
        screen.print_heading(
            "Commands", "in this order; each waits for what the next one builds on"
        )
        screen.console.file.flush()
        # As they are, however long: a shell does not take lines that a table has broken.
        print_lines(answer.commands)
    if answer.kept and (show_all or not answer.reached):
        screen.print_heading("Not moved", count(len(answer.kept), "pod"))
        table = screen.table("POD", "NODE", "WHY", whole=("POD",))
        for kept in answer.kept if show_all else answer.kept[:MAX_KEPT]:
            table.add_row(kept.pod, kept.node, kept.why)
        screen.print(table)
        left = len(answer.kept) - MAX_KEPT
        if left > 0 and not show_all:
            screen.print(f"and {count(left, 'more pod')}; --all lists each")
    screen.print()
    sign, style = (screen.signs.yes, "green") if answer.reached else (screen.signs.no, "red")
    before, after = _figure(measure, measure.before), _figure(measure, measure.after)
    remarks = f"{_format_wanted(measure)}{_moves(answer)}"
    told = f"{measure.name}: {before} {screen.signs.arrow} {after}{remarks}"
    screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))
    for remark in _remarks(answer):
        screen.print(f"{screen.signs.nothing} {remark}")


def _show_steps(answer: RebalanceAnswer, screen: Screen) -> None:
    screen.print_heading("Moves", count(len(answer.steps), "pod"))
    table = screen.table("STEP", "POD", "FROM", "TO", "THEN", right=("STEP",), whole=("POD",))
    for number, step in enumerate(answer.steps, 1):
        table.add_row(str(number), step.pod, step.source, step.target, _format_placed(step, screen))
    screen.print(table)


def _format_placed(step: RebalanceMove, screen: Screen) -> str:
    return ", ".join(f"{each.pod} {screen.signs.arrow} {each.node}" for each in step.placed)


def _format_wanted(measure: GoalMeasure) -> str:
    return "" if measure.wanted is None else f", wanted {_figure(measure, measure.wanted)}"


def _moves(answer: RebalanceAnswer) -> str:
    if not answer.steps:
        return "; nothing to move"
    told = f"; {count(len(answer.steps), 'move')}"
    if answer.fewest_moves is None:
        return told
    if answer.fewest_moves == len(answer.steps):
        return f"{told}, the fewest that do"
    return f"{told}; at least {answer.fewest_moves} are needed"


def _remarks(answer: RebalanceAnswer) -> list[str]:
    measure, told = answer.measure, []
    if not answer.reached and not measure.allows_wanted:
        told.append(f"{measure.better} than {_figure(measure, measure.bound)} no moves can reach")
    if measure.name == FreeNodes.name and answer.reached and not answer.steps:
        told.append("these are empty already, and count")
    if answer.left_out:
        told.append(f"left out, since no pod here may use them: {_name_nodes(answer.left_out)}")
    if answer.given_up and not answer.reached:
        told.append(
            f"{count(len(answer.given_up), 'plan')} given up, as the scheduler does otherwise: "
            f"{answer.given_up[0]}"
        )
    if answer.cordoned and answer.steps:
        told.append(f"left cordoned: {', '.join(answer.cordoned)}")
    if answer.timed_out:
        told.append(f"the solver stopped at its time limit of {answer.time_limit_s:g} s")
    return told


def _name_nodes(names: Sequence[str]) -> str:
    first = ", ".join(names[:MAX_NAMES])
    left = len(names) - MAX_NAMES
    return first if left <= 0 else f"{first} and {count(left, 'more node')}"


def _figure(measure: GoalMeasure, value: float) -> str:
    if measure.name.startswith("skew"):
        return f"{100 * value:.1f}".removesuffix(".0") + "%"
    return f"{value:,.0f}"

"""How moves that reach a goal look, on a terminal and as a document."""

from collections.abc import Iterable, Sequence
from typing import Any

from podium.commands.console import Text
from podium.commands.printing import print_lines
from podium.commands.tables import Screen, count
from podium.offline.what_if.rebalance_answer import GoalState, MoveStep, RebalanceAnswer
from podium.offline.what_if.rebalance_goals import FreeNodes

MAX_KEPT = 15
MAX_NAMES = 5


def show_rebalance(answer: RebalanceAnswer, screen: Screen, *, show_all: bool) -> None:
    state = answer.state
    if answer.steps:
        _show_steps(answer, screen)
        screen.heading("Commands", "in this order; each waits for what the next one builds on")
        screen.console.file.flush()
        # As they are, however long: a shell does not take lines that a table has broken.
        print_lines(answer.commands)
    if answer.kept and (show_all or not answer.is_reached):
        screen.heading("Not moved", count(len(answer.kept), "pod"))
        table = screen.table("POD", "NODE", "WHY", whole=("POD",))
        for kept in answer.kept if show_all else answer.kept[:MAX_KEPT]:
            table.add_row(kept.pod, kept.node, kept.why)
        screen.print(table)
        left = len(answer.kept) - MAX_KEPT
        if left > 0 and not show_all:
            screen.print(f"and {count(left, 'more pod')}; --all lists each")
    screen.print()
    sign, style = (screen.signs.yes, "green") if answer.is_reached else (screen.signs.no, "red")
    before, after = _figure(state, state.before), _figure(state, state.after)
    told = f"{state.name}: {before} {screen.signs.arrow} {after}{_wanted(state)}{_moves(answer)}"
    screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))
    for remark in _remarks(answer):
        screen.print(f"{screen.signs.nothing} {remark}")


def _show_steps(answer: RebalanceAnswer, screen: Screen) -> None:
    screen.heading("Moves", count(len(answer.steps), "pod"))
    table = screen.table("STEP", "POD", "FROM", "TO", "THEN", right=("STEP",), whole=("POD",))
    for number, step in enumerate(answer.steps, 1):
        table.add_row(str(number), step.pod, step.source, step.target, _placed(step, screen))
    screen.print(table)


def _placed(step: MoveStep, screen: Screen) -> str:
    return ", ".join(f"{pod} {screen.signs.arrow} {node}" for pod, node in step.placed)


def _wanted(state: GoalState) -> str:
    return "" if state.wanted is None else f", wanted {_figure(state, state.wanted)}"


def _moves(answer: RebalanceAnswer) -> str:
    if not answer.steps:
        return "; nothing to move"
    told = f"; {count(len(answer.steps), 'move')}"
    if answer.fewest is None:
        return told
    if answer.fewest == len(answer.steps):
        return f"{told}, the fewest that do"
    return f"{told}; at least {answer.fewest} are needed"


def _remarks(answer: RebalanceAnswer) -> list[str]:
    state, told = answer.state, []
    if not answer.is_reached and not state.allows_wanted:
        direction = "more" if state.is_maximised else "less"
        told.append(f"{direction} than {_figure(state, state.bound)} no moves can reach")
    if state.name == FreeNodes.name and answer.is_reached and not answer.steps:
        told.append("these are empty already, and count")
    if answer.unusable:
        told.append(f"left out, since no pod here may use them: {_name_nodes(answer.unusable)}")
    if answer.given_up and not answer.is_reached:
        told.append(
            f"{count(len(answer.given_up), 'plan')} given up, as the scheduler does otherwise: "
            f"{answer.given_up[0]}"
        )
    if answer.closed and answer.steps:
        told.append(f"left cordoned: {', '.join(answer.closed)}")
    if answer.timed_out:
        told.append(f"the solver stopped at its time limit of {answer.time_limit_s:g} s")
    return told


def _name_nodes(names: Sequence[str]) -> str:
    first = ", ".join(names[:MAX_NAMES])
    left = len(names) - MAX_NAMES
    return first if left <= 0 else f"{first} and {count(left, 'more node')}"


def _figure(state: GoalState, value: float) -> str:
    if state.name.startswith("skew"):
        return f"{100 * value:.1f}".removesuffix(".0") + "%"
    return f"{value:,.0f}"


def rebalance_document(answer: RebalanceAnswer, notes: Iterable[str]) -> dict[str, Any]:
    state = answer.state
    return {
        "goal": answer.goal,
        "reached": answer.is_reached,
        "measure": {
            "name": state.name,
            "better": "more" if state.is_maximised else "less",
            "before": state.before,
            "after": state.after,
            "wanted": state.wanted,
            "bound": state.bound,
        },
        "cordoned": list(answer.closed),
        "leftOut": list(answer.unusable),
        "steps": [
            {
                "pod": step.pod,
                "from": step.source,
                "to": step.target,
                "cordonedMeanwhile": list(step.closed),
                "places": [{"pod": pod, "node": node} for pod, node in step.placed],
                "commands": step.commands,
            }
            for step in answer.steps
        ],
        "commands": answer.commands,
        "moves": len(answer.steps),
        "fewestMoves": answer.fewest,
        "kept": [{"pod": each.pod, "node": each.node, "why": each.why} for each in answer.kept],
        "givenUp": list(answer.given_up),
        "timeLimitSeconds": answer.time_limit_s,
        "timedOut": answer.timed_out,
        "notes": list(notes),
    }

"""How `podium plugin` shows plugins: those that there are, and one that was tried."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from podium.commands.console import Text
from podium.commands.tables import Screen, count, some

if TYPE_CHECKING:
    from podium.commands.plugin_trial import PluginTrial, PodAnswer

MAX_ROWS: Final = 30
"""Of nodes of one pod on the screen; JSON has all."""


@dataclass(frozen=True, slots=True)
class KnownPlugin:
    """`origin` is who brings it; `by_default` whether the default profile runs it."""

    name: str
    origin: str
    points: Sequence[str]
    by_default: bool


def known_document(known: KnownPlugin) -> dict[str, Any]:
    return {
        "name": known.name,
        "origin": known.origin,
        "points": list(known.points),
        "enabledByDefault": known.by_default,
    }


def show_known(screen: Screen, known: Iterable[KnownPlugin]) -> None:
    table = screen.table("Plugin", "From", "On", "Runs at", whole=("Plugin",))
    for each in known:
        on = screen.signs.yes if each.by_default else ""
        table.add_row(each.name, each.origin, on, ", ".join(each.points))
    screen.print(table)


def trial_document(trial: "PluginTrial") -> dict[str, Any]:
    return {
        "plugin": trial.name,
        "points": list(trial.points),
        "broken": [{"promise": each.promise, "text": each.text} for each in trial.broken],
        "madeUpSources": list(trial.made_up),
        "pods": [
            {
                "name": answer.pod,
                "remark": answer.remark,
                "nodes": [
                    {
                        "name": node.node,
                        "reason": node.reason,
                        "rawScore": node.raw,
                        "score": node.score,
                    }
                    for node in answer.nodes
                ],
            }
            for answer in trial.answers
        ],
    }


def show_trial(screen: Screen, trial: "PluginTrial") -> None:
    screen.print(Text(f"{trial.name}  runs at {', '.join(trial.points)}", style="bold"))
    if trial.broken:
        screen.print()
        told = count(len(trial.broken), "promise")
        screen.print(Text(f"{screen.signs.no} {told} broken", style="red"))
        for broken in trial.broken:
            screen.print(f"  {broken.promise}")
            screen.print(Text(f"    {screen.signs.arrow} {broken.text}", style="dim"))
    else:
        screen.print(Text(f"{screen.signs.yes} keeps its promises, as far as tried", style="green"))
    if not {"filter", "score"} & {*trial.points}:
        screen.notes(["it neither filters nor scores, so there is nothing to show of single nodes"])
        return
    for answer in trial.answers:
        _show_answer(screen, answer)
    if trial.made_up:
        screen.notes([f"numbers of {some(trial.made_up)} are made up: no source was asked"])


def _show_answer(screen: Screen, answer: "PodAnswer") -> None:
    screen.heading(f"Pod {answer.pod}", answer.remark)
    if not answer.nodes:
        return
    table = screen.table("Node", "Fits", "Raw", "Score", "Why not", right=("Raw", "Score"))
    for node in answer.nodes[:MAX_ROWS]:
        fits = screen.signs.no if node.reason else screen.signs.yes
        raw, score = ("" if n is None else str(n) for n in (node.raw, node.score))
        table.add_row(node.node, fits, raw, score, node.reason)
    screen.print(table)
    left = len(answer.nodes) - MAX_ROWS
    if left > 0:
        screen.print(Text(f"and {count(left, 'node')} more", style="dim"))

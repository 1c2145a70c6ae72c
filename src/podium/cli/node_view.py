"""One node in full: what every filter and every score plugin said about a pod on it."""

from rich.text import Text

from podium.cli.tables import Screen
from podium.engine.decision import NodeScore
from podium.simulator.explanation import Explanation


def scored(score: NodeScore, screen: Screen) -> str:
    """`raw → normalised → weighted`"""
    arrow = screen.signs.arrow
    return f"{score.raw} {arrow} {score.normalized} {arrow} {score.weighted}"


def show_node(explanation: Explanation, name: str, screen: Screen) -> None:
    entry, rejection = explanation.ranked_node(name), explanation.rejection(name)
    if entry is not None:
        chosen = " and is chosen" if name == explanation.decision.chosen else ""
        rank = f", rank {entry.rank} of {explanation.feasible_count:,}"
        total = "" if entry.total is None else f" with {entry.total} points"
        screen.heading(f"Node {name}", f"fits{rank}{total}{chosen}")
    else:
        why = rejection.message if rejection else "not looked at"
        screen.heading(f"Node {name}", f"does not fit: {why}")
    _show_filters(explanation, name, screen)
    if entry is not None and entry.total is not None:
        _show_scores(explanation, name, screen)


def _show_filters(explanation: Explanation, name: str, screen: Screen) -> None:
    objections, decisive = explanation.objections(name), explanation.rejection(name)
    asked = explanation.examination.plugins
    if decisive is not None and decisive.plugin not in asked:
        screen.print(f"{screen.signs.no} {decisive.plugin}: {decisive.message}")
    table = screen.table("FILTER", "", "REASON", fold=("REASON",))
    for plugin in asked:
        status = objections.get(plugin)
        if status is None:
            table.add_row(plugin, Text(screen.signs.yes, style="green"), "")
            continue
        also = "" if decisive is not None and decisive.plugin == plugin else " (rejects it too)"
        sign = Text(screen.signs.no, style="red")
        table.add_row(plugin, sign, f"{status.message}{also}")
    for plugin in explanation.examination.skipped:
        sign = Text(screen.signs.nothing, style="dim")
        table.add_row(plugin, sign, Text("nothing to check for this pod", style="dim"))
    screen.print(table)


def _show_scores(explanation: Explanation, name: str, screen: Screen) -> None:
    entry = explanation.ranked_node(name)
    if entry is None:
        return
    screen.print()
    numbers = ("RAW", "NORMALISED", "WEIGHT", "WEIGHTED")
    table = screen.table("SCORE", *numbers, right=numbers)
    for plugin, weight in explanation.weights.items():
        score = entry.scores[plugin]
        table.add_row(
            plugin, str(score.raw), str(score.normalized), f"x{weight}", str(score.weighted)
        )
    for plugin in sorted(explanation.decision.pre_score_skipped):
        table.add_row(Text(plugin, style="dim"), *([screen.signs.nothing] * 4))
    table.add_section()
    table.add_row("total", "", "", "", str(entry.total), style="bold")
    screen.print(table)

"""One node in full: what every filter and every score plugin said about a pod on it."""

from podium.commands.console import Text
from podium.commands.tables import Screen, amount
from podium.scheduler.engine.decision import NodeScore
from podium.scheduler.explain.explanation import Explanation, room_for


def format_score(score: NodeScore, screen: Screen) -> str:
    """`raw → normalised → weighted`"""
    arrow = screen.signs.arrow
    return f"{score.raw} {arrow} {score.normalized} {arrow} {score.weighted}"


def show_node(explanation: Explanation, name: str, screen: Screen) -> None:
    entry, rejection = explanation.ranked_node(name), explanation.rejection(name)
    if entry is not None:
        chosen = " and is chosen" if name == explanation.decision.chosen else ""
        rank = f", rank {entry.rank} of {explanation.feasible_count:,}"
        total = "" if entry.total is None else f" with {entry.total} points"
        screen.print_heading(f"Node {name}", f"fits{rank}{total}{chosen}")
    else:
        why = rejection.message if rejection else "not looked at"
        screen.print_heading(f"Node {name}", f"does not fit: {why}")
    _show_filters(explanation, name, screen)
    _show_room(explanation, name, screen)
    if entry is not None and entry.total is not None:
        _show_scores(explanation, name, screen)


def _show_filters(explanation: Explanation, name: str, screen: Screen) -> None:
    objections, decisive = explanation.objections(name), explanation.rejection(name)
    asked = explanation.examination.plugins
    table = screen.table("FILTER", "", "REASON", "WHAT IS WRONG", whole=("FILTER", ""))
    if decisive is not None and decisive.plugin not in asked:
        sign = Text(screen.signs.no, style="red")
        causes = (c.sentence for c in explanation.causes if c.plugin == decisive.plugin)
        who = decisive.plugin or screen.signs.nothing
        table.add_row(who, sign, decisive.message, next(causes, ""))
    for plugin in asked:
        status = objections.get(plugin)
        if status is None:
            table.add_row(plugin, Text(screen.signs.yes, style="green"), "", "")
            continue
        details = "; ".join(explanation.details(plugin, name))
        also = "" if decisive is not None and decisive.plugin == plugin else " (rejects it too)"
        table.add_row(plugin, Text(screen.signs.no, style="red"), status.message + also, details)
    screen.print(table)
    if explanation.examination.skipped:
        skipped = ", ".join(explanation.examination.skipped)
        screen.print(f"nothing to check for: {skipped}", style="dim")


def _show_room(explanation: Explanation, name: str, screen: Screen) -> None:
    screen.print()
    numbers = ("ASKED FOR", "FREE", "ALLOCATABLE")
    table = screen.table("RESOURCE", *numbers, right=numbers)
    for room in room_for(explanation.decision.pod, name, explanation.examination.load):
        cells = [amount(room.resource, n) for n in (room.asked, room.free, room.allocatable)]
        table.add_row(room.resource, *cells, style="red" if room.missing else None)
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

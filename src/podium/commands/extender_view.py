"""Which extenders were asked about a pod and what they said, on a screen."""

from podium.commands.tables import Screen, count
from podium.scheduler.engine.decision import Consulted, Decision


def show_consulted(decision: Decision, screen: Screen) -> None:
    """A line for each time that one was asked."""
    if not decision.consulted:
        return
    screen.heading("Extenders", "in the order in which they were asked")
    table = screen.table("EXTENDER", "VERB", "ASKED ABOUT", "ANSWER", whole=("EXTENDER", "VERB"))
    for line in decision.consulted:
        style = None if not line.problem else ("yellow" if line.ignored else "red")
        asked = count(line.asked, "node")
        table.add_row(line.url_prefix, line.verb, asked, _answer(line), style=style)
    screen.print(table)


def _answer(line: Consulted) -> str:
    if line.problem:
        return f"failed, which was ignored: {line.problem}" if line.ignored else line.problem
    return count(line.kept, "node")

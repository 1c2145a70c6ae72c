"""`podium rebalance --html`: the moves that reach a goal, with their commands, for browsers.

Contract: bounded. Lists end where they are too long for a page, and how many there are is told.
"""

from collections.abc import Mapping
from typing import Any, Final

from podium.commands.html_report import MAX_ROWS, bound_lists
from podium.net.files.versioned_documents import add_version
from podium.offline.what_if.rebalance_answer import RebalanceAnswer

MAX_STEPS: Final = 1_000


def rebalance_report(fields: Mapping[str, Any], answer: RebalanceAnswer, command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import REBALANCE

    reached = "reached" if answer.is_reached else "not reached"
    facts = [Fact("goal", reached, not answer.is_reached), Fact.count(len(answer.steps), "move")]
    bounded, totals = bound_lists(fields, {"steps": MAX_STEPS, "kept": MAX_ROWS})
    # Those of the steps, which the view shows with them, are kept once.
    bounded["commands"] = fields["commands"][:1]
    documents = {
        "overview": report_overview(command, facts, totals=totals),
        "rebalance": add_version("Rebalance", bounded),
    }
    return make_report_file(documents, REBALANCE)

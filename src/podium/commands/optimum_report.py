"""`podium optimum --html`: the scheduler's placement beside the best one, for browsers.

Contract: bounded. Lists end where they are too long for a page, and how many there are is told.
"""

from collections.abc import Mapping
from typing import Any

from podium.commands.html_report import MAX_ROWS, bound_lists
from podium.net.files.versioned_documents import add_version
from podium.offline.what_if.optimum_answer import OptimumAnswer


def optimum_report(fields: Mapping[str, Any], answer: OptimumAnswer, command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import OPTIMUM

    facts = [
        Fact.count(answer.nodes, "node"),
        Fact.count(answer.pods, "pending pod"),
        Fact(f"{len(answer.different):,}", "placed differently", not answer.is_scheduler_best),
    ]
    bounded, totals = bound_lists(fields, {"different": MAX_ROWS, "placement": MAX_ROWS})
    documents = {
        "overview": report_overview(command, facts, totals=totals),
        "optimum": add_version("Optimum", bounded),
    }
    return make_report_file(documents, OPTIMUM)

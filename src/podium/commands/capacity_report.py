"""`podium capacity --html`: how many more of a pod fit, node by node, as one file for browsers."""

from collections.abc import Mapping
from typing import Any

from podium.net.files.versioned_documents import add_version
from podium.offline.what_if.capacity_answer import CapacityAnswer


def capacity_report(fields: Mapping[str, Any], answer: CapacityAnswer, command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import CAPACITY

    fits = sum(room.fits for room in answer.alone)
    facts = [Fact.count(max(len(room.nodes) for room in answer.alone), "node")]
    if len(answer.alone) == 1:
        facts.append(Fact(f"{fits:,}", "more fit", not answer.is_enough))
    else:
        facts.append(Fact.count(len(answer.alone), "template", bad=not answer.is_enough))
    documents = {
        "overview": report_overview(command, facts),
        "capacity": add_version("Capacity", fields),
    }
    return make_report_file(documents, CAPACITY)

"""`podium replay --html`: a recording decided anew, or its decisions checked, for browsers.

Contract: bounded. Of pods and decisions those are kept that differ, and how many there are is told.
"""

from collections.abc import Mapping
from typing import Any

from podium.commands.html_report import MAX_ROWS, bound_fields
from podium.net.files.versioned_documents import add_version
from podium.offline.traces.decision_check import Verdict
from podium.offline.traces.replay_report import Outcome


def replay_report(fields: Mapping[str, Any], command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import REPLAY

    outcomes = fields["outcomes"]
    lost, moved = outcomes[Outcome.ONLY_RECORDED], outcomes[Outcome.MOVED]
    facts = [
        Fact.count(len(fields["pods"]), "pod"),
        Fact(f"{moved:,}", "moved"),
        Fact(f"{lost:,}", "lost", bool(lost)),
    ]
    different = [
        each for each in fields["pods"] if each["outcome"] not in (Outcome.SAME, Outcome.PENDING)
    ]
    different.sort(key=lambda each: each["outcome"] != Outcome.ONLY_RECORDED)
    bounded, totals = bound_fields({**fields, "pods": different}, {"pods": MAX_ROWS})
    documents = {
        "overview": report_overview(command, facts, totals=totals),
        "replay": add_version("Replay", bounded),
    }
    return make_report_file(documents, REPLAY)


def replay_check_report(fields: Mapping[str, Any], command: str) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview
    from podium.web.report_views import REPLAY_CHECK

    decisions = fields["decisions"]
    different = [each for each in decisions if each["verdict"] != Verdict.SAME]
    facts = [
        Fact.count(len(decisions), "decision"),
        Fact(f"{len(different):,}", "otherwise here", bool(different)),
    ]
    bounded, totals = bound_fields({**fields, "decisions": different}, {"decisions": MAX_ROWS})
    documents = {
        "overview": report_overview(command, facts, totals=totals),
        "replay-check": add_version("ReplayCheck", bounded),
    }
    return make_report_file(documents, REPLAY_CHECK)

"""`podium what-if --html`: a cluster before changes and after them as one file for browsers.

Contract: bounded. Lists of pods and details of failures end where they are too long for a page;
those that a cluster does not survive are kept first, and how many there are is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from podium.commands.what_if_document import consequences_document
from podium.commands.what_if_view import tell_losses
from podium.net.files.versioned_documents import add_version
from podium.offline.what_if.answer import WhatIfAnswer
from podium.offline.what_if.consequences import Consequences
from podium.offline.what_if.failures import Failure

if TYPE_CHECKING:  # the page is loaded for a report only
    from podium.web.cluster_snapshot import ClusterSnapshot
    from podium.web.report_file import ReportView

MAX_PODS: Final = 20_000
"""In one list."""
MAX_DETAIL: Final = 40_000
"""Pods in the details of all failures."""
_LISTS: Final = ("moved", "stranded", "kept", "gone", "preempted")


def what_if_report(
    fields: Mapping[str, Any],
    answer: WhatIfAnswer,
    before: "ClusterSnapshot",
    after: "ClusterSnapshot",
    command: str,
) -> bytes:
    """`fields` are those of the document that the command prints."""
    from podium.web.report_file import Fact, make_report_file, report_overview

    found = answer.consequences
    lost = len(found.stranded) + len(found.gone)
    facts = [
        Fact(f"{len(answer.before.nodes):,}", "nodes before"),
        Fact(f"{len(answer.after.nodes):,}", "after"),
        Fact(f"{sum(bool(each.before) for each in found.moved):,}", "moved"),
        Fact(f"{lost:,}", "lost", bool(lost)),
    ]
    totals = {name: len(getattr(found, name)) for name in _LISTS}
    bounded = {
        **fields,
        **{name: fields[name][:MAX_PODS] for name in _LISTS},
        "nodes": [],
        "nodeFailures": None,
        "zoneFailures": None,
    }
    touched = list(_touched(found))
    documents = {
        "overview": report_overview(command, facts, totals=totals, phases=["before", "after"]),
        "what-if": add_version("WhatIf", bounded),
        **dict(before.documents("before/", touched)),
        **dict(after.documents("", touched)),
        **_failures("node", answer.nodes),
        **_failures("zone", answer.zones),
    }
    return make_report_file(documents, _views(answer))


def _views(answer: WhatIfAnswer) -> "Iterator[ReportView]":
    from podium.web.report_views import CONSEQUENCES, NODE_FAILURES, ZONE_FAILURES

    if answer.consequences.changes:
        yield CONSEQUENCES
    if answer.nodes is not None:
        yield NODE_FAILURES
    if answer.zones is not None:
        yield ZONE_FAILURES


def _touched(found: Consequences) -> Iterator[str]:
    """Nodes that somebody leaves, comes to or stays on though he was to go."""
    for moved in found.moved:
        yield from (moved.before, moved.after)
    yield from (each.before for each in found.stranded)
    yield from (each.before for each in found.gone)
    for kept in found.kept:
        yield kept.node


def _failures(what: str, failures: Sequence[Failure] | None) -> dict[str, Any]:
    if failures is None:
        return {}
    worst = sorted(failures, key=lambda each: (-each.lost, each.what))
    rows = [_row(each) for each in worst]
    documents = {f"{what}-failures": add_version("FailuresView", {"failures": rows})}
    left = MAX_DETAIL
    for each in worst:
        left -= each.lost + len(each.consequences.moved)
        if left < 0:
            break
        fields = {"name": each.what, **consequences_document(each.consequences)}
        documents[f"{what}-failures/{each.what}"] = add_version("FailureView", fields)
    return documents


def _row(each: Failure) -> dict[str, Any]:
    found = each.consequences
    return {
        "name": each.what,
        "nodes": each.nodes,
        "pods": each.pods,
        "survived": each.is_survived,
        "moved": len(found.moved),
        "stranded": len(found.stranded),
        "gone": len(found.gone),
        "preempted": len(found.preempted),
        "who": tell_losses(each),
    }

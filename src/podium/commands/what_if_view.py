"""What changes would do: on a screen who moves, who cannot, and how full the cluster is then; and
as a report for browsers, with the cluster before the changes and after them.

Contract of the report: bounded. Lists of pods and details of failures end where they are too long
for a page; those that a cluster does not survive are kept first, and how many there are is told.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from podium.commands.answering import Report, bound_lists
from podium.commands.console import Text, stack_lines
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.tables import Screen, count, percent, some
from podium.golang.document_structs import Document
from podium.offline.simulate.report import SimulationReport
from podium.offline.what_if.answer import (
    FailureRow,
    FailuresView,
    FailureView,
    WhatIfAnswer,
    WhatIfDocument,
    total_use,
)
from podium.offline.what_if.consequences import Consequences, StrandedPod
from podium.offline.what_if.failures import Failure

if TYPE_CHECKING:  # the page is loaded for a report only
    from podium.web.cluster_snapshot import ClusterSnapshot
    from podium.web.report_file import ReportView

MAX_ROWS: Final = 25
MAX_FAILURES: Final = 15
MAX_PODS: Final = 20_000
"""In one list of a report."""
MAX_DETAIL: Final = 40_000
"""Pods in the details of all failures of a report."""
_LISTS: Final = ("moved", "stranded", "kept", "gone", "preempted")


@dataclass(frozen=True)
class WhatIfView(ReviewedAnswer):
    """`snapshots` are the cluster before the changes and after them, if a report is wanted."""

    answer: WhatIfAnswer
    review: SimulationReport
    notes: Sequence[str]
    has_crashed: bool
    snapshots: "Sequence[ClusterSnapshot]" = ()

    @property
    def is_yes(self) -> bool:
        return self.answer.is_survived

    def answer_document(self) -> WhatIfDocument:
        return self.answer.document()

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:  # noqa: ARG002
        answer, found = self.answer, self.answer.consequences
        if found.changes:
            _show_moved(found, screen, show_all=show_all)
            _show_stranded(found.stranded, screen, show_all=show_all)
            _show_others(found, screen, show_all=show_all)
            _show_use(answer, screen)
        for title, failures in (("node", answer.nodes), ("zone", answer.zones)):
            if failures is not None:
                _show_failures(title, failures, screen, show_all=show_all)
        screen.print()
        for told, survived in _sentences(answer):
            sign, style = (screen.signs.yes, "green") if survived else (screen.signs.no, "red")
            screen.print(Text.assemble((sign, f"bold {style}"), Text(f" {told}")))

    def report(self, document: WhatIfDocument) -> Report:
        from podium.web.report_file import Fact

        answer, found = self.answer, self.answer.consequences
        lost = len(found.stranded) + len(found.gone)
        facts = [
            Fact(f"{len(answer.before.nodes):,}", "nodes before"),
            Fact(f"{len(answer.after.nodes):,}", "after"),
            Fact(f"{sum(bool(each.before) for each in found.moved):,}", "moved"),
            Fact(f"{lost:,}", "lost", bool(lost)),
        ]
        bounded, totals = bound_lists(document, dict.fromkeys(_LISTS, MAX_PODS))
        touched = list(_find_touched_nodes(found))
        before, after = self.snapshots
        documents = {
            "what-if": replace(bounded, nodes=(), node_failures=None, zone_failures=None),
            **dict(before.documents("before/", touched)),
            **dict(after.documents("", touched)),
            **_failure_documents("node", answer.nodes),
            **_failure_documents("zone", answer.zones),
        }
        return Report(facts, documents, _views(answer), totals, phases=("before", "after"))


# --- the changes ------------------------------------------------------------------------------


def _show_moved(found: Consequences, screen: Screen, *, show_all: bool) -> None:
    if not found.moved:
        return
    if len(found.moved) > MAX_ROWS and not show_all:
        screen.print_heading("Moved", f"{count(len(found.moved), 'pod')}; --all lists each of them")
        table = screen.table("NODE", "GO", "COME", right=("GO", "COME"))
        leaving = Counter(each.before for each in found.moved if each.before)
        coming = Counter(each.after for each in found.moved)
        nodes = sorted({*leaving, *coming}, key=lambda name: (-leaving[name] - coming[name], name))
        for name in nodes[:MAX_ROWS]:
            table.add_row(name, f"{leaving[name]:,}", f"{coming[name]:,}")
        screen.print(table)
        if len(nodes) > MAX_ROWS:
            screen.print(f"and {count(len(nodes) - MAX_ROWS, 'more node')}")
        return
    screen.print_heading("Moved", count(len(found.moved), "pod"))
    table = screen.table("POD", "FROM", "TO", whole=("POD",))
    for each in found.moved:
        table.add_row(each.pod, each.before or screen.signs.nothing, each.after)
    screen.print(table)


def _show_stranded(stranded: Sequence[StrandedPod], screen: Screen, *, show_all: bool) -> None:
    if not stranded:
        return
    screen.print_heading("No node fits", count(len(stranded), "pod"))
    groups: dict[str, list[StrandedPod]] = {}
    for each in stranded:
        told = each.causes[0].sentence if each.causes else each.message
        groups.setdefault(told, []).append(each)
    table = screen.table("POD", "WHY")
    shown = sorted(groups.items(), key=lambda group: -len(group[1]))
    for told, members in shown if show_all else shown[:MAX_ROWS]:
        names = [each.pod for each in members]
        lines = [told]
        if members[0].message and members[0].message != told:
            lines.append(members[0].message)
        listed = ", ".join(names) if show_all else some(names)
        table.add_row(listed, stack_lines((lines[0], *(Text(e, style="dim") for e in lines[1:]))))
    screen.print(table)


def _show_others(found: Consequences, screen: Screen, *, show_all: bool) -> None:
    most = None if show_all else MAX_ROWS
    if found.kept:
        screen.print_heading("Not evicted", count(len(found.kept), "pod"))
        table = screen.table("POD", "NODE", "WHY", whole=("POD",))
        for each in found.kept[:most]:
            table.add_row(each.pod, each.node, each.why)
        screen.print(table)
    if found.gone:
        screen.print_heading(
            "Gone for good", f"{count(len(found.gone), 'pod')} without a controller"
        )
        table = screen.table("POD", "WAS ON", whole=("POD",))
        for lost in found.gone[:most]:
            table.add_row(lost.pod, lost.before)
        screen.print(table)
    if found.preempted:
        screen.print_heading("Preempted", f"{count(len(found.preempted), 'pod')}, to make room")
        table = screen.table("POD", "NODE", "FOR", whole=("POD",))
        for victim in found.preempted[:most]:
            table.add_row(victim.pod, victim.node, victim.by)
        screen.print(table)


def _show_use(answer: WhatIfAnswer, screen: Screen) -> None:
    screen.print_heading(
        "All nodes", f"requested of allocatable, before {screen.signs.arrow} after"
    )
    table = screen.table("", "BEFORE", "AFTER", right=("BEFORE", "AFTER"))
    table.add_row("nodes", f"{len(answer.before.nodes):,}", f"{len(answer.after.nodes):,}")
    for resource, total in total_use(answer.before, answer.after).items():
        before = _share(total.requested_before, total.allocatable_before)
        after = _share(total.requested_after, total.allocatable_after)
        table.add_row(resource, before, after)
    screen.print(table)


def _share(requested: int, allocatable: int) -> str:
    return percent(requested / allocatable) if allocatable else "-"


# --- failures ---------------------------------------------------------------------------------


def _show_failures(what: str, failures: list[Failure], screen: Screen, *, show_all: bool) -> None:
    shown = failures if show_all else [each for each in failures if not each.is_survived]
    survived = sum(each.is_survived for each in failures)
    screen.print_heading(
        f"Each {what} failing by itself",
        f"{survived:,} of {len(failures):,} survived"
        + ("; here are the others, --all lists each" if shown and not show_all else ""),
    )
    if not shown:
        return
    table = screen.table(
        what.upper(),
        "PODS",
        "MOVED",
        "NO NODE",
        "GONE",
        "WHO, AND WHY",
        right=("PODS", "MOVED", "NO NODE", "GONE"),
        whole=(what.upper(),),
    )
    worst = sorted(shown, key=lambda each: (-each.lost, each.what))
    for each in worst if show_all else worst[:MAX_FAILURES]:
        found = each.consequences
        table.add_row(
            each.what,
            f"{each.pods:,}",
            f"{len(found.moved):,}",
            f"{len(found.stranded):,}",
            f"{len(found.gone):,}",
            tell_losses(each),
        )
    screen.print(table)
    left = len(worst) - MAX_FAILURES
    if left > 0 and not show_all:
        screen.print(f"and {left:,} more")


def tell_losses(each: Failure) -> str:
    """Who is lost with a failure, and why."""
    groups: dict[str, list[str]] = {}
    for lost in each.consequences.stranded:
        reasons, _, _ = lost.message.partition(". ")  # what preemption says follows
        groups.setdefault(reasons, []).append(lost.pod)
    for gone in each.consequences.gone:
        groups.setdefault("no controller makes it again", []).append(gone.pod)
    return "; ".join(f"{some(pods)}: {why}" for why, pods in groups.items())


def _sentences(answer: WhatIfAnswer) -> list[tuple[str, bool]]:
    found, told = answer.consequences, []
    if found.changes:
        new = sum(not each.before for each in found.moved)
        parts = [f"{count(len(found.moved) - new, 'pod')} moved"]
        for number, words in (
            (new, "placed that had no node"),
            (len(found.stranded), "without a node"),
            (len(found.gone), "gone for good"),
            (len(found.kept), "not evicted"),
            (len(found.preempted), "preempted"),
        ):
            if number:
                parts.append(f"{number:,} {words}")
        if found.waiting_before or found.waiting_after:
            parts.append(f"{found.waiting_after:,} of {found.waiting_before:,} still waiting")
        told.append((f"{', '.join(found.changes)}: {', '.join(parts)}", found.is_survived))
    for what, failures in (("node", answer.nodes), ("zone", answer.zones)):
        if failures is not None:
            lost = [each.what for each in failures if not each.is_survived]
            of = count(len(failures), what)
            told.append(
                (f"{len(lost):,} of {of} cannot fail: {some(lost)}", False)
                if lost
                else (f"each of {of} may fail", True)
            )
    return told


# --- the report -------------------------------------------------------------------------------


def _views(answer: WhatIfAnswer) -> "Iterator[ReportView]":
    from podium.web.report_views import CONSEQUENCES, NODE_FAILURES, ZONE_FAILURES

    if answer.consequences.changes:
        yield CONSEQUENCES
    if answer.nodes is not None:
        yield NODE_FAILURES
    if answer.zones is not None:
        yield ZONE_FAILURES


def _find_touched_nodes(found: Consequences) -> Iterator[str]:
    """Nodes that somebody leaves, comes to or stays on though he was to go."""
    for moved in found.moved:
        yield from (moved.before or "", moved.after)
    yield from (each.before or "" for each in found.stranded)
    yield from (each.before for each in found.gone)
    for kept in found.kept:
        yield kept.node


def _failure_documents(what: str, failures: Sequence[Failure] | None) -> dict[str, Document]:
    if failures is None:
        return {}
    worst = sorted(failures, key=lambda each: (-each.lost, each.what))
    documents: dict[str, Document] = {
        f"{what}-failures": FailuresView(tuple(map(_failure_row, worst)))
    }
    left = MAX_DETAIL
    for each in worst:
        left -= each.lost + len(each.consequences.moved)
        if left < 0:
            break
        documents[f"{what}-failures/{each.what}"] = FailureView.of(each)
    return documents


def _failure_row(each: Failure) -> FailureRow:
    found = each.consequences
    return FailureRow(
        each.what,
        each.nodes,
        each.pods,
        each.is_survived,
        len(found.moved),
        len(found.stranded),
        len(found.gone),
        len(found.preempted),
        tell_losses(each),
    )

"""What waits, on a screen: each cause with its workloads, and below it what to do first.

A cause is a sentence, so it stands alone in its line; a table would cut it. Commands are printed as
they are, however long, so that they can be copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from podium.commands.answering import Report
from podium.commands.console import RichText, Text
from podium.commands.input_warnings import ReviewedAnswer
from podium.commands.printing import print_lines
from podium.commands.tables import Screen, count
from podium.offline.simulate.pending_pods import PendingCause, PendingPods, PendingWorkload
from podium.offline.simulate.report import SimulationReport
from podium.scheduler.explain.proposals.answer_document import PodProposal

MAX_CAUSES: Final = 20
MAX_WORKLOADS: Final = 4
MAX_IN_REPORT: Final = 200
_BLOCKED: Final = ("unschedulable", "preempted", "error", "refused")
_TITLES: Final = {
    "unschedulable": "No node fits",
    "preempted": "Placed, then preempted",
    "error": "Failed",
    "refused": "Not created",
    "gated": "Held back by a gate",
    "not-ours": "For another scheduler",
    "terminating": "On their way out",
}


@dataclass(frozen=True)
class PendingView(ReviewedAnswer):
    found: PendingPods
    review: SimulationReport
    notes: Sequence[str]
    notes_on_terminal: Sequence[str]
    has_crashed: bool

    @property
    def shown_notes(self) -> Sequence[str]:
        return self.notes_on_terminal

    @property
    def is_yes(self) -> bool:
        return self.found.nothing_waits

    def answer_document(self) -> PendingPods:
        return self.found

    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        for state, members in groupby(self.found.causes, key=lambda cause: cause.state):
            causes = list(members)
            pods = sum(cause.count for cause in causes)
            remark = count(pods, "pod") if pods else count(len(causes), "workload")
            screen.print_heading(_TITLES[state], remark)
            shown = causes if show_all else causes[:MAX_CAUSES]
            for cause in shown:
                _show_cause(cause, screen, wide=wide or show_all)
            left = causes[len(shown) :]
            if left:
                more = count(sum(cause.count for cause in left), "more pod")
                screen.print(f"and {more} for {count(len(left), 'other cause')}; --all lists them")
        screen.print()
        sign, style = (screen.signs.yes, "green") if self.is_yes else (screen.signs.no, "red")
        screen.print(Text.assemble((sign, f"bold {style}"), f" {self._summary()}"))

    def report(self, document: PendingPods) -> Report:
        from podium.web.report_file import Fact
        from podium.web.report_views import PENDING

        summary = document.summary
        facts = [
            Fact.count(summary.pending, "pending pod"),
            Fact(f"{summary.blocked:,}", "without a node", bool(summary.blocked)),
            Fact.count(summary.nodes, "node"),
        ]
        causes = tuple(
            replace(
                cause, pods=cause.pods[:MAX_IN_REPORT], workloads=cause.workloads[:MAX_IN_REPORT]
            )
            for cause in document.causes[:MAX_IN_REPORT]
        )
        return Report(facts, {"pending": replace(document, causes=causes)}, PENDING)

    def _summary(self) -> str:
        summary = self.found.summary
        head = f"{count(summary.pending, 'pending pod')} on {count(summary.nodes, 'node')}"
        parts = [
            f"{number:,} {words}"
            for number, words in (
                (summary.fitting, "get a node" if summary.fitting != 1 else "gets a node"),
                (summary.blocked, "without a node"),
                (summary.gated, "gated"),
                (summary.not_ours, "for another scheduler"),
                (summary.terminating, "terminating"),
            )
            if number
        ]
        if summary.refused:
            parts.append(f"{count(summary.refused, 'workload')} with pods that are not created")
        return f"{head}: {', '.join(parts) or 'nothing waits'}"


def _show_cause(cause: PendingCause, screen: Screen, *, wide: bool) -> None:
    is_bad = cause.state in _BLOCKED
    sign = screen.signs.no if is_bad else screen.signs.nothing
    pods = f" {count(cause.count, 'pod')}: " if cause.count else " "
    screen.print()
    head = (sign, "red" if is_bad else "dim"), (pods, "bold"), cause.sentence
    screen.print(Text.assemble(*head))
    if cause.workloads:
        screen.print(Text.assemble("  ", _name_workloads(cause.workloads, whole=wide)))
    if cause.message and cause.message != cause.sentence:
        screen.print(Text(f"  {cause.message}", style="dim"))
    if cause.first is not None:
        _show_first(cause.first, cause.workloads[0], screen)
    elif cause.tried:
        screen.print(Text("  nothing that was tried helps", style="yellow"))
    if cause.ask and (cause.first is None or wide):
        screen.console.file.flush()
        print_lines([f"  {screen.signs.arrow} {cause.ask}"])


def _name_workloads(workloads: Sequence[PendingWorkload], *, whole: bool) -> RichText:
    shown = workloads if whole else workloads[:MAX_WORKLOADS]
    named = [
        f"{each.namespace}/{each.reference}" + (f" ({each.pods:,})" if each.pods > 1 else "")
        for each in shown
    ]
    left = len(workloads) - len(shown)
    end = f" and {left:,} more" if left else ""
    return Text(f"{', '.join(named)}{end}", style="bold")


def _show_first(proposal: PodProposal, workload: PendingWorkload, screen: Screen) -> None:
    pods = proposal.pods
    gain = f"{pods.after:,} of {count(pods.wanted, 'pod')} then have a node"
    effect = gain if pods.wanted > 1 else f"goes to {proposal.node}"
    told = Text.assemble(
        (f"  {screen.signs.arrow} {proposal.sentence}", "green"),
        f" ({workload.reference}: {effect})",
    )
    screen.print(told)
    for disruption in proposal.disruptions:
        screen.print(Text.assemble("    ", (f"! {disruption}", "yellow")))
    screen.console.file.flush()
    print_lines(
        f"    {line}" if line.startswith("#") else f"    $ {line}" for line in proposal.commands
    )

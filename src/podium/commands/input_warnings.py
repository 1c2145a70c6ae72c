"""What to know before the answer: kinds that the input lacks, messages that differ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from podium.commands.answering import Answer
from podium.commands.console import Text
from podium.commands.tables import Screen, count, some
from podium.offline.simulate.read_kinds import HOW_TO_DUMP, dump_command
from podium.offline.simulate.report import SimulationReport, compare_messages
from podium.offline.simulate.reviewed_document import (
    ComparedMessages,
    DifferingMessage,
    IncompleteKind,
    ReviewedDocument,
)

if TYPE_CHECKING:
    from podium.golang.document_structs import Document
    from podium.offline.simulate.completeness import MissingKind
    from podium.offline.simulate.report import MessageDifference, RecordedMessages
    from podium.offline.what_if.measured_runs import InputReview

_MAX_DIFFERENCES = 3


def show_input_warnings(
    report: SimulationReport | InputReview, screen: Screen, *, key: str = ""
) -> None:
    """`key` leaves the messages of other pods out."""
    if report.missing_kinds:
        screen.print_heading("Incomplete input", "the answer below may be wrong")
        for missing in report.missing_kinds:
            screen.print(f"{screen.signs.no} {_sentence(missing)}", style="yellow")
            screen.print(f"  affects: {missing.effect}")
        if not all(missing.unread for missing in report.missing_kinds):
            screen.print(f"{screen.signs.arrow} {HOW_TO_DUMP}", style="dim")
    _show_differences(report, screen, key)


def _messages(report: SimulationReport | InputReview) -> RecordedMessages:
    if isinstance(report, SimulationReport):
        return compare_messages(report.pods)
    return report.messages


def _sentence(missing: MissingKind) -> str:
    objects = count(len(missing.referred_by), missing.noun)
    lacking = missing.unread or f"no {missing.kind} in the input"
    return f"{lacking}, but it matters to {objects} ({some(missing.referred_by)})"


def _show_differences(report: SimulationReport | InputReview, screen: Screen, key: str) -> None:
    found = _messages(report)
    shown = [each for each in found.differences if key in ("", each.key)]
    if not shown:
        return
    remark = "the input, the configuration or the cluster may have changed since"
    if not key:
        remark = f"{len(shown)} of {count(found.compared, 'pod')} with one; {remark}"
    screen.print_heading("Not what the cluster's scheduler said", remark)
    for different in shown[:_MAX_DIFFERENCES]:
        screen.print(Text(different.key, style="bold"))
        screen.print(f"  cluster: {different.recorded}")
        screen.print(f"  here:    {_here(different)}")
    if len(shown) > _MAX_DIFFERENCES:
        left = count(len(shown) - _MAX_DIFFERENCES, "more pod")
        screen.print(f"  and {left}; -o json has all of them")


def _here(different: MessageDifference) -> str:
    return f"goes to {different.node}" if different.node else different.computed


class ReviewedAnswer(Answer):
    """An answer about a simulated cluster: it has what to know before it, and notes after it."""

    review: SimulationReport | InputReview
    notes: Sequence[str]

    @property
    def pod_key(self) -> str:
        """The pod that it is about, if it is about one: messages of others are left out."""
        return ""

    @property
    def shown_notes(self) -> Sequence[str]:
        """Those for a terminal."""
        return self.notes

    def document(self) -> Document:
        review = review_fields(self.review, key=self.pod_key)
        return replace(self.answer_document(), notes=tuple(self.notes), **review)

    def show(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        show_input_warnings(self.review, screen, key=self.pod_key)
        self.show_answer(screen, wide=wide, show_all=show_all)
        screen.notes(self.shown_notes)

    @abstractmethod
    def answer_document(self) -> ReviewedDocument:
        """Without notes and warnings."""

    @abstractmethod
    def show_answer(self, screen: Screen, *, wide: bool, show_all: bool) -> None:
        """The same on a terminal."""


def review_fields(report: SimulationReport | InputReview, *, key: str = "") -> dict[str, Any]:
    """Everything that `show_input_warnings` shows, and more: fields of a `ReviewedDocument`."""
    found = _messages(report)
    return {
        "incomplete": tuple(
            IncompleteKind(
                missing.kind,
                _sentence(missing),
                tuple(missing.referred_by),
                missing.effect,
                None if missing.unread else dump_command(),
            )
            for missing in report.missing_kinds
        ),
        "recorded_messages": ComparedMessages(
            found.compared,
            tuple(
                DifferingMessage(
                    different.key, different.recorded, different.computed, different.node or None
                )
                for different in found.differences
                if key in ("", different.key)
            ),
        ),
    }

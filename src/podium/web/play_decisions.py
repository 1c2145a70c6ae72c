"""What the scheduler did last, in order: the list that Play shows after each step.

The list goes on when plugins are loaded anew and another engine takes over. Contract: bounded; what
is oldest is forgotten first.
"""

from collections import deque
from typing import Final

from podium.golang.document_structs import DocumentPart, Moment, PodKey, Positive
from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.decision_notices import DecisionOutcome, Notice
from podium.web.queue_document import reason_of

MAX_KEPT: Final = 200


class DecisionNotice(DocumentPart, frozen=True):
    """What became of a pod, by its place among all notices."""

    number: Positive
    """Its place among all."""
    at: Moment
    """When it was so."""
    outcome: DecisionOutcome
    pod: PodKey
    """The pod."""
    node: str | None
    """The node that it goes to, waits for or has to leave."""
    text: str
    """Why; for one that has to leave, for whom."""
    reason: str | None
    """Why it is pending, whatever the numbers."""

    @classmethod
    def of(cls, number: int, notice: Notice) -> "DecisionNotice":
        return cls(
            number=number,
            at=micro_time_text(notice.at),
            outcome=notice.outcome,
            pod=notice.pod,
            node=notice.node or None,
            text=notice.text,
            reason=reason_of(notice.text) if notice.outcome is DecisionOutcome.PENDING else None,
        )


class RecentDecisions:
    def __init__(self) -> None:
        self._kept: deque[tuple[int, Notice]] = deque(maxlen=MAX_KEPT)
        self.count = 0
        """How many there have been."""

    def note(self, notice: Notice) -> None:
        self.count += 1
        self._kept.append((self.count, notice))

    def document(self) -> tuple[DecisionNotice, ...]:
        """The newest first."""
        return tuple(DecisionNotice.of(*each) for each in reversed(self._kept))

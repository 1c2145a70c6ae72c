"""What the scheduler did last, in order: the list that Play shows after each step.

The list goes on when plugins are loaded anew and another engine takes over. Contract: bounded; what
is oldest is forgotten first.
"""

from collections import deque
from typing import Any, Final

from podium.kubernetes.rules.timestamps import micro_time_text
from podium.live.decision_notices import Notice, Outcome
from podium.web.queue_document import reason_of

MAX_KEPT: Final = 200


class RecentDecisions:
    def __init__(self) -> None:
        self._kept: deque[tuple[int, Notice]] = deque(maxlen=MAX_KEPT)
        self.count = 0
        """How many there have been."""

    def note(self, notice: Notice) -> None:
        self.count += 1
        self._kept.append((self.count, notice))

    def document(self) -> list[dict[str, Any]]:
        """The newest first; `reason` is `text` without numbers where the pod has no node."""
        return [
            {
                "number": number,
                "at": micro_time_text(notice.at),
                "outcome": str(notice.outcome),
                "pod": notice.pod,
                "node": notice.node or None,
                "text": notice.text,
                "reason": reason_of(notice.text) if notice.outcome is Outcome.PENDING else None,
            }
            for number, notice in reversed(self._kept)
        ]

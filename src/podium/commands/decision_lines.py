"""What a scheduler does, a line for each pod, for somebody who watches a terminal.

What is told of and when is decided in `podium.live.decision_notices`. An output that knows no
Unicode gets plain characters.
"""

from collections.abc import Callable
from typing import Final

from podium.commands.console import Console, Text
from podium.live.decision_notices import DecisionNotices, DecisionOutcome, Notice, time_of_day

_SIGNS: Final = {
    DecisionOutcome.BOUND: ("→", "green"),
    DecisionOutcome.PENDING: ("…", "yellow"),
    DecisionOutcome.BROKEN: ("!", "red"),
    DecisionOutcome.EVICTED: ("x", "red"),
    DecisionOutcome.WAITING: ("~", "yellow"),
}
_PLAIN: Final = {"→": "->", "…": "..."}


class DecisionLines(DecisionNotices):
    """An observer that prints, and tells others beside; `wall` gives seconds since 1970."""

    def __init__(
        self, console: Console, wall: Callable[[], float], *tell: Callable[[Notice], None]
    ) -> None:
        super().__init__(wall, self._print, *tell)
        self._console = console

    def _print(self, notice: Notice) -> None:
        sign, colour = _SIGNS[notice.outcome]
        text = notice.sentence
        if self._console.options.ascii_only:
            encoding = self._console.encoding
            sign = _PLAIN.get(sign, sign)
            text = text.encode(encoding, "replace").decode(encoding)
        time = time_of_day(notice.at)
        line = Text.assemble(
            (f"{time} ", "dim"), (f"{sign} ", colour), notice.pod, " ", (text, "dim")
        )
        self._console.print(line, soft_wrap=True)

"""What is still to happen in a timed run, the earliest first.

Events are taken from an iterator one ahead, since there may be millions of them; what follows from
them (pods finish, reactors answer) is in a heap beside it. At one moment pods finish first, so that
their room is there for whoever arrives; then come the events from outside in their order, then
those of reactors.
"""

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from podium.offline.simulate.timed_events import TimedEvent


@dataclass(frozen=True, slots=True)
class PodEnd:
    """A pod has run for as long as it was to run. The UID tells it from one that was made again."""

    at: float
    key: str
    uid: str


Due = TimedEvent | PodEnd

_ENDS, _EVENTS = 0, 1


class Agenda:
    def __init__(self, events: Iterable[TimedEvent]) -> None:
        self._events: Iterator[TimedEvent] = iter(events)
        self._next: TimedEvent | None = next(self._events, None)
        self._later: list[tuple[float, int, int, Due]] = []
        self._number = 0
        self.next_s = math.inf
        """When the next thing happens; infinite if nothing is left."""
        self._look()

    def add(self, due: Due) -> None:
        self._number += 1
        order = _ENDS if isinstance(due, PodEnd) else _EVENTS
        heapq.heappush(self._later, (due.at, order, self._number, due))
        self._look()

    def pop(self) -> Due | None:
        """What happens next. Raises ValueError if events are not in the order of their times."""
        event, later = self._next, self._later
        if later and (event is None or later[0][:2] < (event.at, _EVENTS)):
            taken = heapq.heappop(later)[3]
            self._look()
            return taken
        if event is not None:
            self._next = following = next(self._events, None)
            if following is not None and following.at < event.at:
                raise ValueError(
                    f"events are not in order: one at {following.at} s after {event.at} s"
                )
            self._look()
        return event

    def _look(self) -> None:
        first = self._later[0][0] if self._later else math.inf
        if self._next is not None and self._next.at < first:
            first = self._next.at
        self.next_s = first

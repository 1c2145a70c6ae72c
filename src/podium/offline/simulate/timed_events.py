"""What happens to a cluster in the course of a timed run, and when.

`at` is in seconds from the start of the run. Events come in the order of their times; where several
have one time, they happen in the order in which they come.

What is still to happen in a timed run, the earliest first. Events are taken from an iterator one
ahead, since there may be millions of them; what follows from them (pods finish, reactors answer) is
in a heap beside it. At one moment pods finish first, so that their room is there for whoever
arrives; then come the events from outside in their order, then those of reactors.
"""

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


@dataclass(frozen=True, slots=True)
class PodArrival:
    """A pod appears. Once it is bound it runs for `duration_s`, then it has finished and its room
    is free; None is for ever. `workload` is what it is counted under."""

    at: float
    pod: Pod
    duration_s: float | None = None
    workload: str = ""


@dataclass(frozen=True, slots=True)
class PodRemoval:
    """Somebody deletes a pod, by its key (`namespace/name`), and nobody makes it again."""

    at: float
    key: str


@dataclass(frozen=True, slots=True)
class NodePut:
    """A node arrives or changes; one that arrives gets the pods of daemon sets."""

    at: float
    node: Node


@dataclass(frozen=True, slots=True)
class NodeRemoval:
    """A node is gone and its pods are lost: controllers make theirs again, others are gone."""

    at: float
    name: str


@dataclass(frozen=True, slots=True)
class ObjectPut:
    """An object that is neither node nor pod arrives or changes."""

    at: float
    obj: KubeStruct


@dataclass(frozen=True, slots=True)
class ObjectRemoval:
    at: float
    obj: KubeStruct


TimedEvent = PodArrival | PodRemoval | NodePut | NodeRemoval | ObjectPut | ObjectRemoval


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

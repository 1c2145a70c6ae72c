"""What happened while pods were being scheduled.

An attempt takes time, and an event that arrives meanwhile may be just what the pod needs. Pods and
events share one ordered list: a failed pod looks at the events after its own marker. Without
queueing hints nobody looks at events one by one, so `MoveRequests` only keeps that there was one.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from podium.scheduler.engine.queue.queueing_hints import (
    Interests,
    QueueingStrategy,
    in_flight_strategy,
)
from podium.scheduler.framework.events import ClusterEvent, EventObject
from podium.scheduler.framework.queued import QueuedPod

POD_POPPED = "PodPopped"


class Happened(NamedTuple):
    """An event with its objects; either may be None."""

    event: ClusterEvent
    old: EventObject
    new: EventObject


class InFlight:
    def __init__(self) -> None:
        self._entries: OrderedDict[int, str | Happened] = OrderedDict()
        self._marker_of: dict[str, int] = {}
        self._next = 0

    def start(self, uid: str) -> bool:
        """Mark a pod as being tried; false if it is already."""
        if uid in self._marker_of:
            return False
        self._marker_of[uid] = self._append(uid)
        return True

    def note(self, happened: Happened) -> None:
        if self._marker_of:
            self._append(happened)

    def since(self, uid: str) -> Iterator[Happened] | None:
        """Events after a pod's marker; None if the pod has none."""
        marker = self._marker_of.get(uid)
        if marker is None:
            return None
        after = [self._entries[at] for at in takewhile(marker.__lt__, reversed(self._entries))]
        return (entry for entry in reversed(after) if isinstance(entry, Happened))

    def strategy(self, queued: QueuedPod, interests: Interests) -> QueueingStrategy:
        """What happened meanwhile, for a pod whose attempt failed."""
        return in_flight_strategy(queued, self.since(queued.info.uid), interests)

    def done(self, uid: str) -> None:
        """Remove a pod's marker, and the events that no remaining pod can want."""
        marker = self._marker_of.pop(uid, None)
        if marker is None:
            return
        del self._entries[marker]
        while self._entries and isinstance(next(iter(self._entries.values())), Happened):
            self._entries.popitem(last=False)

    def __contains__(self, uid: str) -> bool:
        return uid in self._marker_of

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._marker_of))

    def __len__(self) -> int:
        return len(self._marker_of)

    @property
    def event_count(self) -> int:
        return len(self._entries) - len(self._marker_of)

    def counts(self) -> dict[str, int]:
        """How many events of each name there are, and how many pods."""
        entries = self._entries.values()
        events = Counter(entry.event for entry in entries if isinstance(entry, Happened))
        found = Counter({POD_POPPED: len(self._marker_of)})
        for event, count in events.items():
            found[str(event)] += count
        return dict(found)

    def _append(self, entry: str | Happened) -> int:
        self._next += 1
        self._entries[self._next] = entry
        return self._next


class MoveRequests(InFlight):
    """The gate SchedulerQueueingHints is off: whatever happened since the last pod was taken, even
    if that was another pod, is a reason to try again."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = False

    def start(self, uid: str) -> bool:
        self._moved = False
        return super().start(uid)

    def note(self, happened: Happened) -> None:  # noqa: ARG002 - that there was one is enough
        self._moved = True

    def strategy(self, queued: QueuedPod, interests: Interests) -> QueueingStrategy:  # noqa: ARG002
        rejected = queued.rejectors or queued.pending
        return (
            QueueingStrategy.SKIP
            if rejected and not self._moved
            else QueueingStrategy.AFTER_BACKOFF
        )

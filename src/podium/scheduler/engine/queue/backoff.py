"""When a pod that failed is tried again: after its backoff, at a set time, or after five minutes.

1, 2, 4, 8, 10, 10... seconds with the default limits; errors and rejections count separately. Ends
fall on whole seconds, and a pod counts as waiting through the second in which its wait ends
(`pkg/scheduler/backend/queue/backoff_queue.go`, `getBackoffTime` and `isPodBackingoff`).

Worked example: the backoff of a pod that failed for the first time at 10.4 s expires at 11 s (11.4
rounded down); the pod still backs off at 11.9 s and no longer at 12 s.

How long a pod waits for an event that helps it before it is tried again without one. A lost event,
or a plugin that did not register for it, must not leave a pod waiting for ever. Such pods are
looked for every 30 s; a late look does what the last one in time would have done.

Source: `flushUnschedulablePodsLeftover` in `pkg/scheduler/backend/queue/scheduling_queue.go`.

Pods that are to be tried again at some time, whatever happens until then. No event tells that time
has passed. A plugin that turns a pod away for some time only, such as a gang that has just failed,
says until when, so that the pod need not wait for the long timeout that lost events have.
"""

import heapq
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.queued import QueuedPod

_MAX_DOUBLINGS = 62
"""Enough to pass any limit in seconds, and few enough not to overflow."""


@dataclass(frozen=True, slots=True)
class Backoff:
    initial_s: float = 1.0
    most_s: float = 10.0
    whole_seconds: bool = True

    def duration_s(self, queued: QueuedPod) -> float:
        count = queued.consecutive_errors_count or queued.unschedulable_count
        if self.most_s == 0 or count == 0:
            return 0.0
        return float(min(self.initial_s * 2.0 ** min(count - 1, _MAX_DOUBLINGS), self.most_s))

    def expiry(self, queued: QueuedPod) -> float:
        if queued.backoff_expiry is None:
            duration = self.duration_s(queued)
            queued.backoff_expiry = self._align(queued.timestamp + duration) if duration else 0.0
        return queued.backoff_expiry

    def backing_off(self, queued: QueuedPod, now: float) -> bool:
        if self.duration_s(queued) == 0:
            return False
        return not self.expiry(queued) < self._align(now)

    def _align(self, moment: float) -> float:
        return float(math.floor(moment)) if self.whole_seconds else moment


MAX_UNSCHEDULABLE_S = 300.0
LOOK_EVERY_S = 30.0


class UnschedulableTimeout:
    def __init__(self, clock: Callable[[], float], max_s: float) -> None:
        self._clock = clock
        self._max_s = max_s
        self._next_look = clock()

    def mark_expired(self, waiting: Iterable[QueuedPod]) -> list[QueuedPod]:
        """Pods that have waited too long; they are marked as such."""
        late_s = self._clock() - self._next_look
        if late_s < 0:
            return []
        at = self._next_look + late_s // LOOK_EVERY_S * LOOK_EVERY_S
        self._next_look = at + LOOK_EVERY_S
        due = [queued for queued in waiting if at - _since(queued) > self._max_s]
        for queued in due:
            queued.flushed, queued.flushed_at = True, at
        return due

    def next_expiry(self, waiting: Iterable[QueuedPod]) -> float | None:
        """When the next of them will have waited too long."""
        since = min(map(_since, waiting), default=None)
        if since is None:
            return None
        left = max(since + self._max_s - self._next_look, -LOOK_EVERY_S)
        return self._next_look + LOOK_EVERY_S * (left // LOOK_EVERY_S + 1)


def _since(queued: QueuedPod) -> float:
    """Since when a pod has waited."""
    return max(queued.timestamp, queued.flushed_at or queued.timestamp)


RETRY_TIME = ClusterEvent(Resource.ANY, Action.ALL, "RetryTime")

Find = Callable[[str], QueuedPod | None]
"""A pod that waits for an event, by key."""


class RetryTimes:
    def __init__(self) -> None:
        self._times: list[tuple[float, str]] = []

    def add(self, queued: QueuedPod) -> None:
        if queued.retry_at is not None:
            heapq.heappush(self._times, (queued.retry_at, queued.info.key))

    def due(self, find: Find, now: float) -> list[QueuedPod]:
        """Those whose time has come and who still wait; each is given once."""
        found = []
        while (at := self.next(find)) is not None and at <= now:
            queued = find(heapq.heappop(self._times)[1])
            if queued is not None:
                queued.retry_at = None
                found.append(queued)
        return found

    def next(self, find: Find) -> float | None:
        """When the next of them is due."""
        while self._times:
            at, key = self._times[0]
            queued = find(key)
            if queued is not None and queued.retry_at == at:
                return at
            heapq.heappop(self._times)
        return None

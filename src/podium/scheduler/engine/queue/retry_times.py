"""Pods that are to be tried again at some time, whatever happens until then.

No event tells that time has passed. A plugin that turns a pod away for some time only, such as a
gang that has just failed, says until when, so that the pod need not wait for the long timeout that
lost events have.
"""

import heapq
from collections.abc import Callable

from podium.scheduler.framework.events import Action, ClusterEvent, Resource
from podium.scheduler.framework.queued import QueuedPod

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

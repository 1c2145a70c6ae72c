"""How long a pod waits for an event that helps it before it is tried again without one.

A lost event, or a plugin that did not register for it, must not leave a pod waiting for ever. Such
pods are looked for every 30 s; a late look does what the last one in time would have done.

Source: `flushUnschedulablePodsLeftover` in `pkg/scheduler/backend/queue/scheduling_queue.go`.
"""

from collections.abc import Callable, Iterable

from podium.scheduler.framework.queued import QueuedPod

MAX_UNSCHEDULABLE_S = 300.0
LOOK_EVERY_S = 30.0


class UnschedulableTimeout:
    def __init__(self, clock: Callable[[], float], max_s: float) -> None:
        self._clock = clock
        self._max_s = max_s
        self._next_look = clock()

    def expired(self, waiting: Iterable[QueuedPod]) -> list[QueuedPod]:
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

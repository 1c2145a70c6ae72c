"""How long a pod that failed must wait before its next attempt.

1, 2, 4, 8, 10, 10... seconds with the default limits; errors and rejections count separately. Ends
fall on whole seconds, and a pod counts as waiting through the second in which its wait ends
(`pkg/scheduler/backend/queue/backoff_queue.go`, `getBackoffTime` and `isPodBackingoff`).

Worked example: the backoff of a pod that failed for the first time at 10.4 s expires at 11 s (11.4
rounded down); the pod still backs off at 11.9 s and no longer at 12 s.
"""

import math
from dataclasses import dataclass

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
            queued.backoff_expiry = self._aligned(queued.timestamp + duration) if duration else 0.0
        return queued.backoff_expiry

    def backing_off(self, queued: QueuedPod, now: float) -> bool:
        if self.duration_s(queued) == 0:
            return False
        return not self.expiry(queued) < self._aligned(now)

    def _aligned(self, moment: float) -> float:
        return float(math.floor(moment)) if self.whole_seconds else moment

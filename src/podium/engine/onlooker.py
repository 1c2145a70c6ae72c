"""Who looks on while the engine works: what metrics count and no record of a single pod tells.

The engine says it in passing and waits for no answer; by itself an onlooker does nothing. The live
scheduler's metrics are one. Parts of the queue are named as users meet them: `active`, `backoff`,
`unschedulable`.
"""

from podium.framework.events import Action, ClusterEvent, Resource
from podium.framework.queued import QueuedPod
from podium.framework.status import Code

POD_ADDED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.ADD)
POD_UPDATED = ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.UPDATE)
ATTEMPT_FAILED = ClusterEvent(Resource.ANY, Action.ALL, "ScheduleAttemptFailure")
BACKOFF_COMPLETE = ClusterEvent(Resource.ANY, Action.ALL, "BackoffComplete")
POPPED_EARLY = ClusterEvent(Resource.ANY, Action.ALL, "PopFromBackoffQ")


class Onlooker:
    def entered_queue(self, part: str, event: ClusterEvent) -> None:
        """A pod came into a part of the queue because of an event."""

    def pod_failed(self, queued: QueuedPod, *, rejected: bool) -> None:
        """An attempt or a binding failed: the pod was rejected, or something broke."""

    def pod_bound(self, queued: QueuedPod) -> None:
        """A pod is bound."""

    def wait_ended(self, code: Code, seconds: float) -> None:
        """A wait at Permit is over."""

    def group_tried(self, profile: str, result: str, seconds: float, deciding_s: float) -> None:
        """A pod group was tried: `scheduled`, `unschedulable`, `waiting_on_preemption` or `error`;
        `deciding_s` is the part of the time that it took to decide."""

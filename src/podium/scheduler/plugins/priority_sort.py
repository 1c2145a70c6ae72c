"""PrioritySort: more important pods first, then those that have waited longer."""

from podium.scheduler.framework.points import QueueSortPlugin
from podium.scheduler.framework.queued import QueuedPod


class PrioritySort(QueueSortPlugin):
    """Orders by priority, then by the time a pod entered the queue (not by its creation)."""

    name = "PrioritySort"

    def sort_key(self, queued: QueuedPod) -> tuple[int, float]:
        return -queued.info.priority, queued.timestamp

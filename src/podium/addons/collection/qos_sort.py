"""QOSSort: more important pods first; among equals Guaranteed before Burstable before BestEffort.

What is left is settled by the time a pod entered the queue, as with PrioritySort. The class is
worked out from requests and limits (`rules/pod_level_resources.py`): it is what an API server would
have written into the status.
"""

from typing import Final

from podium.kubernetes.rules.pod_level_resources import (
    BEST_EFFORT,
    BURSTABLE,
    GUARANTEED,
    qos_class_of,
)
from podium.plugin import QueuedPod, QueueSortPlugin

_ORDER: Final = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}


class QOSSort(QueueSortPlugin):
    name = "QOSSort"

    def sort_key(self, queued: QueuedPod) -> tuple[int, int, float]:
        info = queued.info
        return -info.priority, _ORDER[qos_class_of(info.pod)], queued.timestamp

"""How many pods are there, ready, and ready for long enough to count as available."""

from collections.abc import Iterable
from typing import NamedTuple

from podium.kubernetes.controllers.pods import Pod, ready_since
from podium.kubernetes.rules.moment import Moment


class Availability(NamedTuple):
    total: int
    ready: int
    available: int
    again_after_s: float | None
    """When the next ready pod becomes available, if none is sooner."""


def is_available(pod: Pod, min_ready_s: int, moment: Moment) -> bool:
    return pod.is_ready and moment.age_s(ready_since(pod)) >= min_ready_s


def availability(pods: Iterable[Pod], min_ready_s: int, moment: Moment) -> Availability:
    total = ready = available = 0
    waits: list[float] = []
    for pod in pods:
        total += 1
        if not pod.is_ready:
            continue
        ready += 1
        rest_s = min_ready_s - moment.age_s(ready_since(pod))
        if min_ready_s <= 0 or rest_s <= 0:
            available += 1
        else:
            waits.append(rest_s)
    return Availability(total, ready, available, min(waits) if waits else None)

"""What is where in the queue, for looking at."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from podium.scheduler.framework.queued import QueuedPod


@dataclass(slots=True)
class QueueParts:
    """The members of each part; a pod is in one of them at most."""

    active: list[QueuedPod] = field(default_factory=list)
    backoff: list[QueuedPod] = field(default_factory=list)
    error_backoff: list[QueuedPod] = field(default_factory=list)
    unschedulable: list[QueuedPod] = field(default_factory=list)
    gated: list[QueuedPod] = field(default_factory=list)

    def summary(self) -> str:
        backoff = len(self.backoff) + len(self.error_backoff)
        waiting = len(self.unschedulable) + len(self.gated)
        return f"activeQ:{len(self.active)}; backoffQ:{backoff}; unschedulablePods:{waiting}"


class QueueSizes(NamedTuple):
    """How many pods are in each part; both kinds of backoff count as one."""

    active: int
    backoff: int
    unschedulable: int
    gated: int


def split_by_gate(waiting: Iterable[QueuedPod]) -> tuple[list[QueuedPod], list[QueuedPod]]:
    """(pods that an event may help, pods that a plugin holds back)"""
    free: list[QueuedPod] = []
    gated: list[QueuedPod] = []
    for queued in waiting:
        (gated if queued.gating_plugin else free).append(queued)
    return free, gated

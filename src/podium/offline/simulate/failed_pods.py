"""Pods that failed, in whichever way, as an observer of the engine.

An attempt may end without a node; a pod with a node may be turned away at Reserve, wait at Permit
in vain, break in PreBind or Bind; a member of a group fails with its group. The engine tells of all
of them in one place, and so the limit of attempts holds for all of them.
"""

from dataclasses import dataclass

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.queued import QueuedPod


@dataclass(frozen=True, slots=True)
class FailedPod:
    """`message` is what the pod's condition would say; empty where kube-scheduler says nothing.
    `rejectors` are the plugins that turned the pod away."""

    info: PodInfo
    attempts: int
    rejected: bool
    message: str
    rejectors: tuple[str, ...] = ()


class FailedPods(Observer):
    def __init__(self) -> None:
        self._failed: list[FailedPod] = []

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        rejectors = tuple(sorted(queued.rejectors))
        self._failed.append(FailedPod(queued.info, queued.attempts, rejected, message, rejectors))

    def __len__(self) -> int:
        return len(self._failed)

    def take(self) -> list[FailedPod]:
        """Who failed since the last call, in order."""
        taken, self._failed = self._failed, []
        return taken

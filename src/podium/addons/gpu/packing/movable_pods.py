"""Which pods may be moved to other cards, and what their moving costs of disruption budgets.

A pod is moved by evicting it: its controller makes another one, for which the scheduler chooses
anew. So a pod without a controller cannot be moved, nor one that belongs to its node.
"""

from collections.abc import Iterable
from typing import Final

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.disruptions import guards
from podium.kubernetes.rules.priorities import MIN_CRITICAL_PRIORITY

MOVING_ANNOTATION: Final = "podium.dev/gpu-moving"
"""`forbidden` on a pod keeps it where it is."""
FORBIDDEN: Final = "forbidden"
_SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_OF_NODES: Final = ("DaemonSet", "Node")


def why_unmovable(pod: Pod) -> str:
    """Why a pod that holds cards must stay; empty if it may be moved."""
    owner = pod.metadata.controller
    if pod.metadata.is_terminating:
        return "it is on its way out"
    if owner is None:
        return "nothing would make it anew"
    if owner.kind in _OF_NODES:
        return f"its {owner.kind} keeps it on the node"
    if pod.metadata.annotation(MOVING_ANNOTATION) == FORBIDDEN:
        return f"annotation {MOVING_ANNOTATION}"
    if pod.metadata.annotation(_SAFE_TO_EVICT) == "false":
        return f"annotation {_SAFE_TO_EVICT}"
    if priority_of(pod) >= MIN_CRITICAL_PRIORITY:
        return "it is critical"
    return ""


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


class BudgetsLeft:
    """What disruption budgets still allow."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget]) -> None:
        self._budgets = tuple(budgets)
        self._left = [budget.status.disruptions_allowed for budget in self._budgets]

    def take(self, pods: Iterable[Pod]) -> bool:
        """Count the eviction of all of these pods, if that is allowed."""
        left = list(self._left)
        for pod in pods:
            for at, budget in enumerate(self._budgets):
                if guards(budget, pod.metadata):
                    left[at] -= 1
                    if left[at] < 0:
                        return False
        self._left = left
        return True

    def allow(self, pods: Iterable[Pod]) -> bool:
        """Whether they could be evicted."""
        before = self._left
        allowed = self.take(pods)
        self._left = before
        return allowed

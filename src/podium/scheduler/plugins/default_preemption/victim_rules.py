"""Whom a preemption may take, beside what filters say of the room that is left.

The dry run takes pods away and gives back as many as it can (`dry_run.py`); these rules
tell it which pods may go at all and whether more than room is needed. What stands here is
kube-scheduler's own rule: weaker pods, for room alone. Plugins that preempt otherwise say how in a
subclass.
"""

from collections.abc import Sequence

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.status import Status

PREEMPTED_CONDITION = ("DisruptionTarget", "True", "PreemptionByScheduler")


class VictimRules:
    """`trial` is the cycle of the pod that preempts, in a cluster as the dry run imagines it."""

    stable = True
    """Whether an answer for a node holds while that node, the pods on it, nominations to it and
    budgets stay as they are, for every preemptor of one shape and priority."""

    def in_order(self, pods: Sequence[PodInfo]) -> Sequence[PodInfo]:
        """A node's pods in the order in which they are asked about and taken away."""
        return pods

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool | Status:
        """Whether a pod may be a victim; a status if that cannot be told, which leaves the node
        out. Those that were asked about before are gone from the trial already."""
        return pod.priority < trial.pod.priority

    def refuse_emptied(self, trial: Cycle) -> Status | None:  # noqa: ARG002
        """Why it is of no use to take all of them away, though the pod would find room then."""
        return None

    def refuse_given_back(self, trial: Cycle) -> Status | None:  # noqa: ARG002
        """Why the pod given back last has to go, though there is room for it."""
        return None

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        """Whether a pod that is leaving the nominated node makes the room already that is wanted,
        so that nobody else has to go."""
        return pod.priority < cycle.pod.priority and was_preempted(pod)


WEAKER_PODS = VictimRules()


def importance(pod: PodInfo) -> tuple[int, float]:
    """Sort key: the most important pod first."""
    return (-pod.priority, pod.start_time)


def was_preempted(pod: PodInfo) -> bool:
    return any(
        (c.type, c.status, c.reason) == PREEMPTED_CONDITION for c in pod.pod.status.conditions or ()
    )

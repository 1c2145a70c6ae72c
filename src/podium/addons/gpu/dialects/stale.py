"""When a decision that stands on a pod counts no longer.

A decision reserves cards from the moment it is written. Pods whose binding failed, whose agent
refused them, or that nobody schedules any more would hold them for ever, were it not for this rule.
It is the same for all dialects.

What stands on a pod may have been written by whoever may change the pod. So a grace period of its
own can only be shorter than that of the service, and a time in the future is no way around it.
"""

from enum import Enum
from typing import Final

from podium.addons.gpu.dialects.dialect import Phase, WrittenDecision
from podium.golang.durations import Duration, DurationError
from podium.kubernetes.kinds.pod import POD_SCHEDULED, Pod, PodCondition
from podium.kubernetes.rules.timestamps import seconds_of

GRACE_PERIOD_S: Final = 30.0
"""How long after a decision a pod may be without its node."""
GRACE_PERIOD_ANNOTATION: Final = "nvidia.com/stuck-grace-period"
_MIN_GRACE_PERIOD_S: Final = 1.0
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


class Staleness(Enum):
    """Why a decision does not count."""

    FINISHED = "the pod has finished"
    FAILED = "the agent could not give the pod its cards"
    OTHER_NODE = "the pod is bound to another node"
    UNSCHEDULABLE = "the pod was found unschedulable after it"
    EXPIRED = "the pod was not bound in time"


def find_staleness(
    pod: Pod, decision: WrittenDecision, now: float, grace_period_s: float = GRACE_PERIOD_S
) -> Staleness | None:
    """Why the decision counts no longer; None as long as it does."""
    if pod.status.phase in _FINISHED:
        return Staleness.FINISHED
    if decision.phase is Phase.FAILED:
        return Staleness.FAILED
    if pod.spec.node_name:
        return None if pod.spec.node_name == decision.node else Staleness.OTHER_NODE
    # Conditions know seconds only: one of the same second is taken for the later.
    refused_at = _refused_at(pod)
    if refused_at is not None and int(decision.decided_at) <= int(refused_at):
        return Staleness.UNSCHEDULABLE
    if abs(now - decision.decided_at) > grace_period(pod, grace_period_s):
        return Staleness.EXPIRED
    return None


def grace_period(pod: Pod, default_s: float = GRACE_PERIOD_S) -> float:
    """The service's, or the pod's own if its annotation names a shorter one of a second or more."""
    text = pod.metadata.annotation(GRACE_PERIOD_ANNOTATION)
    if not text:
        return default_s
    try:
        seconds = Duration.parse(text).seconds
    except DurationError:
        return default_s
    return min(seconds, default_s) if seconds >= _MIN_GRACE_PERIOD_S else default_s


def _refused_at(pod: Pod) -> float | None:
    for condition in pod.status.conditions or ():
        if condition.type == POD_SCHEDULED:
            return _transition(condition) if condition.status == "False" else None
    return None


def _transition(condition: PodCondition) -> float | None:
    try:
        return seconds_of(condition.last_transition_time or "")
    except (ValueError, OverflowError):
        return None

"""Telling a PodGroup how its last attempt went: the condition PodGroupScheduled.

A group that was scheduled once stays so, whatever happens to members that come later. Nothing to
change means no write; here, unlike with pods, a new generation is a change.

Source: `updatePodGroupCondition` in `pkg/scheduler/schedule_one_podgroup.go`.
"""

from podium.kubernetes.kinds.pod_groups import PodGroup, PodGroupCondition
from podium.scheduler.engine.requests import PatchPodGroupStatus
from podium.scheduler.framework.placements import is_error
from podium.scheduler.framework.status import Status

SCHEDULED = "PodGroupScheduled"
TRUE, FALSE = "True", "False"


def condition_of(group: PodGroup, status: Status | None) -> PodGroupCondition:
    """What an attempt that ended with a status says about the group."""
    if status is None:
        reason = "Scheduled"
    else:
        reason = "SchedulerError" if is_error(status) else "Unschedulable"
    return PodGroupCondition(
        type=SCHEDULED,
        status=TRUE if status is None else FALSE,
        reason=reason,
        message=status.message if status is not None else "",
        observed_generation=group.metadata.generation,
    )


def condition_patch(group: PodGroup, status: Status | None) -> PatchPodGroupStatus | None:
    """The write that an attempt calls for, if it does."""
    wanted = condition_of(group, status)
    held = next((c for c in group.status.conditions or () if c.type == SCHEDULED), None)
    return PatchPodGroupStatus(group, wanted) if is_news(held, wanted) else None


def is_news(held: PodGroupCondition | None, wanted: PodGroupCondition) -> bool:
    """Whether a condition is to be written over the one that is held."""
    if held is None:
        return True
    if held.status == TRUE and wanted.status != TRUE:
        return False
    return _told(held) != _told(wanted)


def _told(condition: PodGroupCondition) -> tuple[str, str, str, int]:
    return (
        condition.status,
        condition.reason,
        condition.message,
        condition.observed_generation,
    )

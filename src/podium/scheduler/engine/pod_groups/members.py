"""Which pods make up one attempt for a group, and in which order they are tried.

The queue knows single pods. When it hands out a member, all other members that wait anywhere in it
and are not held back come along, whatever their backoff.

Source: `podGroupInfoForPod` in `pkg/scheduler/schedule_one_podgroup.go`.
"""

from collections.abc import Sequence

from podium.scheduler.cluster.pod_group_state import GroupKey
from podium.scheduler.engine.state import EngineState
from podium.scheduler.framework.queued import QueuedPod

DIFFERENT_SCHEDULERS = (
    "all pods in a single pod group should have the same .spec.schedulerName set,"
    ' got: "{}" and "{}"'
)


def gather(state: EngineState, popped: QueuedPod, key: GroupKey) -> list[QueuedPod] | None:
    """The popped pod and the members it brings along; None if the group is not known.

    Most important first, then who was ready first; where that is the same, the popped pod and the
    others in order of arrival (upstream: any order).
    """
    group = state.cluster.pod_groups.find(key)
    if group is None:
        return None
    members = [popped]
    for info in group.unscheduled():
        if info.pod.metadata.name != popped.info.pod.metadata.name:
            queued = state.queue.pop_specific(info)
            if queued is not None:
                members.append(queued)
    for member in members:
        state.cluster.nominator.strip(member.info)
    members.sort(key=lambda m: (-m.info.priority, m.initial_attempt_timestamp or 0.0))
    return members


def scheduler_conflict(members: Sequence[QueuedPod]) -> str:
    """Why the members cannot be tried together, or an empty string."""
    first = members[0].info.pod.spec.scheduler_name
    for member in members:
        name = member.info.pod.spec.scheduler_name
        if name != first:
            return DIFFERENT_SCHEDULERS.format(name, first)
    return ""

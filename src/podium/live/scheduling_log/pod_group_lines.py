"""Lines about pod groups (upstream: `schedule_one_podgroup.go`)."""

from typing import Final

from podium.live.scheduling_log.line_writer import LineWriter, group_ref
from podium.scheduler.cluster.pod_group_state import GroupKey, group_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.log import pod_ref

_OUTCOMES: Final = {
    "unschedulable": "Unable to schedule a pod group",
    "waiting_on_preemption": "Pod group is waiting for preemption",
}


class GroupAttempts(LineWriter):
    level = 3

    def group_started(self, group: GroupKey) -> None:
        text = "Attempting to schedule pod group"
        self.log.info(text, v=self.level, podGroup=group_ref(*group))


class GroupMembers(LineWriter):
    level = 4

    def search_started(self, pod: PodInfo) -> None:
        group = group_of(pod.pod) if self.is_member(pod) else None
        if group is not None:
            text = "Attempting to schedule a pod belonging to a pod group"
            ref = group_ref(*group)
            self.log.info(text, v=self.level, podGroup=ref, pod=pod_ref(pod))


class GroupOutcomes(LineWriter):
    level = 2

    def group_submitted(self, group: GroupKey, result: str, placed: int, unplaced: int) -> None:
        ref = group_ref(*group)
        if result == "scheduled":
            text = "Successfully scheduled a pod group"
            counts = {"scheduledPods": placed, "unschedulablePods": unplaced}
            self.log.info(text, v=self.level, podGroup=ref, **counts)
        elif result in _OUTCOMES:
            text = _OUTCOMES[result]
            self.log.info(text, v=self.level, podGroup=ref, unschedulablePods=unplaced)

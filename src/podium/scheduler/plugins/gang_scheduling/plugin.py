"""GangScheduling: enough members of a group are placed, or none is.

Members are held back before the queue until enough of them are known, and at Permit until enough of
them have a node; the one that completes the gang lets all that wait go
(`pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go`). Only groups with a gang policy
are concerned. A quorum is counted over members on nodes, this pod included; in the attempt of a
group those are in place for the moment only, so the same count serves both.
"""

from collections.abc import Iterator, Sequence

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_group_state import PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange, RefusalCause
from podium.scheduler.framework.points import PermitPlugin, PermitResult, PreEnqueuePlugin
from podium.scheduler.framework.status import Code, Status, error, unresolvable

GROUP_UNKNOWN = """waiting for pods's pod group "{}" to appear in scheduling queue"""
TOO_FEW_KNOWN = unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
TOO_FEW_PLACED = Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",))
LOOKUP_FAILED = "failed to get podGroup {}/{}: {}"
LONGEST_WAIT_S = 5 * 60.0


class GangScheduling(PreEnqueuePlugin, PermitPlugin):
    name = "GangScheduling"

    def events(self) -> Sequence[Registration]:
        return (
            Registration(Resource.POD, Action.ADD, _joins),
            Registration(Resource.POD_GROUP, Action.ADD, _is_its_group),
        )

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:  # noqa: ARG002
        from podium.scheduler.plugins.gang_scheduling.causes import explain_held_back

        return explain_held_back(self.handle.cluster, pod.pod)

    def explain_group(self, group: PodGroup) -> RefusalCause | None:
        from podium.scheduler.plugins.gang_scheduling.causes import explain_whole_gang

        return explain_whole_gang(group)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.gang_scheduling.proposals import propose_other_group

        return propose_other_group(situation, self.handle.list(Pod))

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        key = group_of(pod.pod)
        if key is None:
            return None
        cluster = self.handle.cluster
        try:
            gang = pod_group(cluster.catalog, key).spec.scheduling_policy.gang
        except PodGroupMissing:
            return unresolvable(GROUP_UNKNOWN.format(key[1]))
        if gang is not None and len(cluster.pod_groups.get(key)) < gang.min_count:
            return TOO_FEW_KNOWN
        return None

    def lets_go(self, cycle: Cycle) -> bool:
        return cycle.pod.pod.spec.scheduling_group is None

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:  # noqa: ARG002
        key = group_of(cycle.pod.pod)
        if key is None:
            return None
        cluster = self.handle.cluster
        try:
            gang = pod_group(cluster.catalog, key).spec.scheduling_policy.gang
        except PodGroupMissing as missing:
            return PermitResult(error(LOOKUP_FAILED.format(*key, missing)))
        if gang is None:
            return None
        group = cluster.pod_groups.get(key)
        if group.scheduled_count < gang.min_count:
            cycle.to_activate.update((member.key, member) for member in group.unscheduled())
            return PermitResult(TOO_FEW_PLACED, LONGEST_WAIT_S)
        for uid in group.assumed:
            waiting = self.handle.waiting.get(uid)
            if waiting is not None:
                waiting.allow(self.name)
        return None


def _joins(pod: PodInfo, _old: Pod | None, added: Pod) -> bool:
    """Another member may be the one that was missing."""
    key = group_of(pod.pod)
    return key is not None and key == group_of(added)


def _is_its_group(pod: PodInfo, _old: PodGroup | None, added: PodGroup) -> bool:
    return group_of(pod.pod) == (added.metadata.namespace, added.metadata.name)

"""GangScheduling: enough members of a group are placed, or none is.

Members are held back before the queue until enough of them are known, and at Permit until enough of
them have a node; the one that completes the gang lets all that wait go
(`pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go`). Only groups with a gang policy
are concerned. A quorum is counted over members on nodes, this pod included; in the attempt of a
group those are in place for the moment only, so the same count serves both.

People are told of groups that are missing or too small and of those that find no place as a
whole; proposed is another group, a smaller one, or none.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod, PodSchedulingGroup
from podium.kubernetes.kinds.pod_groups import (
    BasicSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from podium.scheduler.cluster.catalog import (
    PodGroupMissing,
    PodGroupStateMissing,
    group_of,
    pod_group,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import count
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

        return explain_held_back(self.handle.cluster, pod.pod)

    def explain_group(self, group: PodGroup) -> RefusalCause | None:
        return explain_whole_gang(group)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
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
            cycle.to_activate.update((member.key, member) for member in group.unscheduled_pods())
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


def explain_held_back(cluster: Cluster, pod: Pod) -> RefusalCause | None:
    """Why a member of a gang is held back from the queue."""
    key = group_of(pod)
    if key is None:
        return None
    subject = f"{key[0]}/{key[1]}"
    group = cluster.catalog.get(PodGroup, key[1], key[0])
    if group is None:
        text = f"PodGroup {subject} does not exist, and the pod is a member of it."
        return RefusalCause("pod-group-missing", subject, text, keeps_message=True)
    gang = group.spec.scheduling_policy.gang
    if gang is None:
        return None
    try:
        there = len(cluster.pod_groups.get(key))
    except PodGroupStateMissing:
        there = 0
    text = (
        f"PodGroup {subject} is a gang of at least {count(gang.min_count, 'pod')}; there"
        f" {'is' if there == 1 else 'are'} {there}."
    )
    facts = {"minCount": gang.min_count, "pods": there}
    return RefusalCause("gang-too-small", subject, text, facts, keeps_message=True)


def explain_whole_gang(group: PodGroup) -> RefusalCause | None:
    """A gang that is placed as a whole and has no place; None for a group that is no gang."""
    gang = group.spec.scheduling_policy.gang
    if gang is None:
        return None
    subject = f"{group.metadata.namespace}/{group.metadata.name}"
    text = (
        f"PodGroup {subject} needs {count(gang.min_count, 'pod')} to be placed at once; this one"
        " would fit, but not so many of them together."
    )
    return RefusalCause("pod-group-unschedulable", subject, text, {"minCount": gang.min_count})


def propose_other_group(situation: Situation, pods: Iterable[Pod]) -> Iterator[ProposedChange]:
    pod = situation.pod
    wanted = pod.spec.scheduling_group
    if situation.refusal is None or wanted is None or wanted.pod_group_name is None:
        return
    name, namespace = wanted.pod_group_name, pod.metadata.namespace
    group = situation.catalog.get(PodGroup, name, namespace)
    if group is None:
        known = [g.name for g in situation.catalog.all(PodGroup) if g.namespace == namespace]
        alike = closest(name, known)
        if alike:
            yield situation.change_pod(
                "correct-name",
                f"join PodGroup {alike} in place of {name}, which does not exist",
                disturbance.CORRECT_NAME,
                replace(
                    pod,
                    spec=replace(
                        pod.spec, scheduling_group=PodSchedulingGroup(pod_group_name=alike)
                    ),
                ),
            )
        policy = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
        made = PodGroup(
            metadata=ObjectMeta(name=name, namespace=namespace, uid=f"{namespace}/{name}"),
            spec=PodGroupSpec(scheduling_policy=policy),
        )
        yield ProposedChange(
            "create-object",
            f"create PodGroup {namespace}/{name}",
            disturbance.CREATE_OBJECT,
            objects=(made,),
        )
    elif group.spec.scheduling_policy.gang is not None:
        least = group.spec.scheduling_policy.gang.min_count
        there = _members(pods, name, namespace)
        if 0 < there < least:
            yield situation.change_pod(
                "leave-pod-group",
                f"leave PodGroup {name}, which waits for {least} pods and has {there}",
                disturbance.DROP_REQUIREMENT,
                replace(pod, spec=replace(pod.spec, scheduling_group=None)),
            )
            gang = replace(group.spec.scheduling_policy.gang, min_count=there)
            policy = replace(group.spec.scheduling_policy, gang=gang)
            changed = replace(group, spec=replace(group.spec, scheduling_policy=policy))
            yield ProposedChange(
                "change-object",
                f"lower minCount of PodGroup {namespace}/{name} from {least} to {there}",
                disturbance.REPLACE_OBJECT,
                objects=(changed,),
            )


def _members(pods: Iterable[Pod], name: str, namespace: str) -> int:
    return sum(
        pod.metadata.namespace == namespace
        and pod.spec.scheduling_group is not None
        and pod.spec.scheduling_group.pod_group_name == name
        for pod in pods
    )

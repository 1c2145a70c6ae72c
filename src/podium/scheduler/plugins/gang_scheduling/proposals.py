"""Another group, or a smaller one, or none."""

from collections.abc import Iterable, Iterator

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
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import Situation
from podium.scheduler.framework.plugin import ProposedChange


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

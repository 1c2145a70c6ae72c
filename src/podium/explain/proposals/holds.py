"""What holds a pod back before any node is looked at: gates, a scheduler's name, a pod group.

Features that a pod needs of kubelets are here as well: they are switched off in the same way.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.explain.proposals import disturbance
from podium.explain.proposals.proposal import Step
from podium.explain.proposals.situation import Situation
from podium.golang.errors import closest
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import PodSchedulingGroup
from podium.kubernetes.kinds.pod_groups import (
    BasicSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)


def propose_no_gates(situation: Situation) -> Iterator[Step]:
    gates = situation.pod.spec.scheduling_gates
    if situation.refusal is None or not gates:
        return
    pod = situation.pod
    told = " and ".join(gate.name for gate in gates)
    yield situation.change_pod(
        "remove-scheduling-gate",
        f"remove the scheduling gate{'s' if len(gates) > 1 else ''} {told}",
        disturbance.REMOVE_GATE,
        replace(pod, spec=replace(pod.spec, scheduling_gates=None)),
    )


def propose_other_scheduler(situation: Situation) -> Iterator[Step]:
    pod, profiles = situation.pod, situation.trial.engine.profiles
    name = pod.spec.scheduler_name
    if name in profiles:
        return
    alike = closest(name, list(profiles))
    for profile in sorted(profiles, key=lambda each: each != alike):
        typo = profile == alike
        yield situation.change_pod(
            "change-scheduler-name",
            f"use schedulerName {profile} in place of {name}, which nobody here serves",
            disturbance.CORRECT_NAME if typo else disturbance.CHANGE_SCHEDULER,
            replace(pod, spec=replace(pod.spec, scheduler_name=profile)),
        )


def propose_other_group(situation: Situation) -> Iterator[Step]:
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
        yield Step(
            "create-object",
            f"create PodGroup {namespace}/{name}",
            disturbance.CREATE_OBJECT,
            situation.hypothesis.but_with(objects=(made,)),
        )
    elif group.spec.scheduling_policy.gang is not None:
        least = group.spec.scheduling_policy.gang.min_count
        there = _members(situation, name)
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
            yield Step(
                "change-object",
                f"lower minCount of PodGroup {namespace}/{name} from {least} to {there}",
                disturbance.REPLACE_OBJECT,
                situation.hypothesis.but_with(objects=(changed,)),
            )


def _members(situation: Situation, name: str) -> int:
    namespace = situation.pod.metadata.namespace
    return sum(
        pod.metadata.namespace == namespace
        and pod.spec.scheduling_group is not None
        and pod.spec.scheduling_group.pod_group_name == name
        for pod in situation.trial.engine.state.pods.values()
    )


def propose_fewer_features(situation: Situation) -> Iterator[Step]:
    if not situation.nodes_near("NodeDeclaredFeatures"):
        return
    spec = situation.pod.spec
    if spec.host_users is False:
        yield situation.change_pod(
            "drop-user-namespace",
            "drop hostUsers: false, which needs a feature that nodes do not declare",
            disturbance.DROP_REQUIREMENT,
            replace(situation.pod, spec=replace(spec, host_users=None)),
        )
    if spec.host_network:
        yield situation.change_pod(
            "drop-host-network",
            "drop hostNetwork: true, which needs a feature that nodes do not declare",
            disturbance.DROP_REQUIREMENT + 1,
            replace(situation.pod, spec=replace(spec, host_network=False)),
        )

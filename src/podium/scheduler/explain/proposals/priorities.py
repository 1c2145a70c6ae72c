"""Priority: as much as it takes for the scheduler to make room by itself."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY, PREEMPT
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.explain.proposals.evictions import can_leave
from podium.scheduler.explain.proposals.proposal import Step
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.status import Code

MAX_LEVELS = 6
_NEVER = "Never"


def propose_priority(situation: SearchSituation) -> Iterator[Step]:
    """The smallest priority, from a class that exists if there is one, with which preemption
    succeeds."""
    if situation.refusal is not None:
        return
    own = situation.pod.spec.priority or 0
    known = sorted(
        (
            c
            for c in situation.catalog.all(PriorityClass)
            if own < c.value <= MAX_USER_PRIORITY and c.preemption_policy != _NEVER
        ),
        key=lambda c: (c.value, c.name),
    )
    for existing in known[:MAX_LEVELS]:
        step = _try(situation, existing, is_new=False)
        if step is not None:
            yield step
            return
    placements = situation.cluster.placements.values()
    levels = sorted({held.info.priority for held in placements if held.info.priority >= own})
    for level in levels[:MAX_LEVELS]:
        if level < MAX_USER_PRIORITY:
            metadata = ObjectMeta(name=f"above-{level}" if level >= 0 else f"above-minus-{-level}")
            made = PriorityClass(metadata=metadata, value=level + 1)
            step = _try(situation, made, is_new=True)
            if step is not None:
                yield step
                return


def _try(situation: SearchSituation, wanted: PriorityClass, *, is_new: bool) -> Step | None:
    pod = _with_priority(situation.pod, wanted)
    outcome = situation.trial.decide(pod).post_filter
    if outcome is None or outcome.code is not Code.SUCCESS:
        return None
    if not all(
        can_leave(info) and not _is_sibling(situation, info.pod) for info in outcome.victims
    ):
        return None
    victims = tuple(info.pod for info in outcome.victims)
    told = ", ".join(info.key for info in outcome.victims)
    how = f"create PriorityClass {wanted.name} ({wanted.value}) and use it" if is_new else ""
    how = how or f"use PriorityClass {wanted.name} ({wanted.value})"
    return Step(
        "raise-priority",
        f"{how}, so that it preempts {told} on node {outcome.nominated_node}",
        disturbance.RAISE_PRIORITY + disturbance.PER_POD * (len(victims) - 1) + is_new,
        situation.hypothesis.but_with(
            pod=pod, objects=(wanted,) if is_new else (), preempted=victims
        ),
    )


def _is_sibling(situation: SearchSituation, pod: Pod) -> bool:
    """Whether a pod is of the same workload, and so would get the priority as well."""
    workload = situation.workload
    return workload is not None and any(uid_of(pod) == uid_of(p) for p in workload.placed)


def _with_priority(pod: Pod, wanted: PriorityClass) -> Pod:
    policy = wanted.preemption_policy or PREEMPT
    spec = replace(
        pod.spec,
        priority=wanted.value,
        priority_class_name=wanted.name,
        preemption_policy=policy,
    )
    return replace(pod, spec=spec)

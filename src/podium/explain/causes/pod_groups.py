"""Pods that are placed together or not at all."""

from podium.cluster.pod_group_state import PodGroupStateMissing, group_of
from podium.engine.scheduler import Engine
from podium.explain.cause import Cause
from podium.explain.causes.wording import count
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.plugins.gang_scheduling import GangScheduling


def find_gang_problem(engine: Engine, pod: Pod) -> Cause | None:
    """Why a member of a gang is held back from the queue."""
    key = group_of(pod)
    if key is None:
        return None
    subject = f"{key[0]}/{key[1]}"
    group = engine.cluster.catalog.get(PodGroup, key[1], key[0])
    if group is None:
        text = f"PodGroup {subject} does not exist, and the pod is a member of it."
        return Cause("pod-group-missing", GangScheduling.name, subject, text)
    gang = group.spec.scheduling_policy.gang
    if gang is None:
        return None
    try:
        there = len(engine.cluster.pod_groups.get(key))
    except PodGroupStateMissing:
        there = 0
    text = (
        f"PodGroup {subject} is a gang of at least {count(gang.min_count, 'pod')}; there"
        f" {'is' if there == 1 else 'are'} {there}."
    )
    return Cause(
        "gang-too-small",
        GangScheduling.name,
        subject,
        text,
        facts={"minCount": gang.min_count, "pods": there},
    )


def find_group_cause(engine: Engine, pod: Pod) -> Cause | None:
    """The cause of a member whose group is placed as a whole; None for a pod on its own."""
    key = group_of(pod) if engine.cluster.pod_groups.enabled else None
    group = engine.cluster.catalog.get(PodGroup, key[1], key[0]) if key is not None else None
    if key is None or group is None:
        return None
    subject = f"{key[0]}/{key[1]}"
    gang = group.spec.scheduling_policy.gang
    if gang is None:
        text = f"This pod alone would fit; PodGroup {subject} as a whole does not."
        return Cause("pod-group-unschedulable", "", subject, text)
    text = (
        f"PodGroup {subject} needs {count(gang.min_count, 'pod')} to be placed at once; this one"
        " would fit, but not so many of them together."
    )
    return Cause(
        "pod-group-unschedulable",
        GangScheduling.name,
        subject,
        text,
        facts={"minCount": gang.min_count},
    )


def among_members(cause: Cause, group: Cause) -> str:
    """The sentence of a cause that was found with other members of the group in place."""
    return f"{cause.sentence} Members of PodGroup {group.subject} tried before it count as placed."

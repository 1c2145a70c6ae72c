"""Pods that are placed together or not at all."""

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.catalog import group_of
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.cause import Cause
from podium.scheduler.explain.causes.refusals import cause_of


def find_group_cause(engine: Engine, pod: Pod) -> Cause | None:
    """The cause of a member whose group is placed as a whole; None for a pod on its own."""
    key = group_of(pod) if engine.cluster.pod_groups.enabled else None
    group = engine.cluster.catalog.get(PodGroup, key[1], key[0]) if key is not None else None
    if key is None or group is None:
        return None
    for plugin in engine.profile_of(pod).plugins.values():
        told = plugin.explain_group(group)
        if told is not None:
            return cause_of(plugin.name, told)
    subject = f"{key[0]}/{key[1]}"
    text = f"This pod alone would fit; PodGroup {subject} as a whole does not."
    return Cause("pod-group-unschedulable", "", subject, text)


def among_members(cause: Cause, group: Cause) -> str:
    """The sentence of a cause that was found with other members of the group in place."""
    return f"{cause.sentence} Members of PodGroup {group.subject} tried before it count as placed."

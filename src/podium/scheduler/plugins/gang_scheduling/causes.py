"""Groups that are missing or too small, and groups that find no place as a whole."""

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.pod_group_state import PodGroupStateMissing, group_of
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.explanations.finding import count
from podium.scheduler.framework.plugin import RefusalCause


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

"""Changes for members of PodGroups: join one that exists, make it, ask less of it."""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.kinds.coscheduling import (
    POD_GROUP_LABEL,
    CoschedulingPodGroupSpec,
    SchedulingXPodGroup,
    pod_group_name,
)
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.plugin import ChangeKind, Handle, Pod, ProposedChange


def propose(pod: Pod, handle: Handle) -> Iterator[ProposedChange]:
    name, namespace = (pod.metadata.labels or {}).get(POD_GROUP_LABEL, ""), pod.metadata.namespace
    if not name:
        return
    group = handle.get(SchedulingXPodGroup, name, namespace)
    if group is None:
        yield from _find_group(pod, name, handle)
        return
    least, there = group.spec.min_member, _members(pod, name, handle)
    waits = f"which waits for {least} pods and has {there}"
    if there >= least:
        waits = f"which needs {least} pods on nodes at once"
    yield ProposedChange(
        "leave-pod-group",
        f"leave PodGroup {name}, {waits}",
        ChangeKind.DROP_REQUIREMENT,
        pod=_labelled(pod, None),
    )
    if 0 < there < least:
        changed = replace(group, spec=replace(group.spec, min_member=there))
        yield ProposedChange(
            "change-object",
            f"lower minMember of PodGroup {namespace}/{name} from {least} to {there}",
            ChangeKind.REPLACE_OBJECT,
            objects=(changed,),
        )


def _find_group(pod: Pod, name: str, handle: Handle) -> Iterator[ProposedChange]:
    """The pod names a group that does not exist."""
    namespace = pod.metadata.namespace
    groups = handle.list(SchedulingXPodGroup)
    alike = closest(name, [group.name for group in groups if group.namespace == namespace])
    if alike:
        yield ProposedChange(
            "correct-name",
            f"join PodGroup {alike} in place of {name}, which does not exist",
            ChangeKind.CORRECT_NAME,
            pod=_labelled(pod, alike),
        )
    least = max(1, _members(pod, name, handle))
    made = SchedulingXPodGroup(
        metadata=ObjectMeta(name=name, namespace=namespace, uid=f"{namespace}/{name}"),
        spec=CoschedulingPodGroupSpec(min_member=least),
    )
    yield ProposedChange(
        "create-object",
        f"create PodGroup {namespace}/{name} with minMember {least}",
        ChangeKind.CREATE_OBJECT,
        objects=(made,),
    )


def _labelled(pod: Pod, group: str | None) -> Pod:
    labels = dict(pod.metadata.labels or {})
    labels.pop(POD_GROUP_LABEL, None)
    if group is not None:
        labels[POD_GROUP_LABEL] = group
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def _members(pod: Pod, name: str, handle: Handle) -> int:
    return sum(
        other.metadata.namespace == pod.metadata.namespace
        and pod_group_name(other.metadata.labels) == name
        for other in handle.list(Pod)
    )

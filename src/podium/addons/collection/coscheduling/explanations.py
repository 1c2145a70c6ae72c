"""What people are told of a group: what is behind a refusal, and which changes would help.

The texts of the statuses are those that users of the plugin know; here they are told apart again,
and what the group lacks is counted as it is now.

Proposed to members of PodGroups: join one that exists, make it, ask less of it.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from podium.addons.collection.coscheduling.gangs import Gang, Gangs, group_key
from podium.addons.collection.coscheduling.messages import (
    GATED_MEMBERS,
    GROUP_NOT_FOUND,
    NO_ROOM,
    RESOURCE_GAP,
    TOO_FEW_MEMBERS,
    is_recent_failure,
    says,
)
from podium.golang.errors import closest
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.scheduler_plugins import (
    POD_GROUP_LABEL,
    CoschedulingPodGroupSpec,
    SchedulingXPodGroup,
    pod_group_name,
)
from podium.plugin import ChangeKind, Handle, Pod, PodInfo, ProposedChange, RefusalCause

_MAX_NAMES = 3


def explain(pod: PodInfo, message: str, gangs: Gangs) -> RefusalCause | None:
    """The cause of a refusal; None where its text says it all."""
    key = group_key(pod.pod)
    if key is None:
        return None
    subject = "/".join(key)
    gang = gangs.find(pod.pod)
    if gang is None:
        text = f"PodGroup {subject} does not exist, and a label of the pod makes it a member of it."
        code = "pod-group-missing"
        return RefusalCause(code, subject, text) if GROUP_NOT_FOUND in message else None
    members = gangs.members(gang)
    facts: dict[str, int] = {"minMember": gang.min_member, "pods": len(members) + gang.succeeded}
    code, text = _describe_message(pod, message, gang, facts, gangs)
    return RefusalCause(code, subject, text, dict(facts))


def _describe_message(
    pod: PodInfo, message: str, gang: Gang, facts: dict[str, int], gangs: Gangs
) -> tuple[str, str]:
    group, least = f"PodGroup {gang.full_name}", _pods(gang.min_member)
    if says(message, TOO_FEW_MEMBERS):
        there = facts["pods"]
        is_are = "is" if there == 1 else "are"
        return "gang-too-small", f"{group} is a gang of at least {least}; there {is_are} {there}."
    if says(message, GATED_MEMBERS):
        gated = sum(1 for pod in gangs.members(gang) if pod.spec.scheduling_gates)
        facts["gated"] = gated
        return "gang-gated", (
            f"{group} is a gang of at least {least}; of its {facts['pods']},"
            f" {_pods(gated)} still {'waits' if gated == 1 else 'wait'} for scheduling gates."
        )
    if says(message, RESOURCE_GAP):
        lacks = message.partition(RESOURCE_GAP.partition("{")[0])[2]
        return "gang-resource-gap", (
            f"{group} asks for minResources, and all nodes together lack {lacks} of that."
        )
    if is_recent_failure(message):
        return "gang-backing-off", (
            f"{group} failed a moment ago and is not tried again for a while."
        )
    if says(message, NO_ROOM):
        facts["missing"] = gang.min_member - gangs.quorum_reached(gang)
        return "gang-no-room", (
            f"{group} needs {least} on nodes at once, and there is not room for so many: it holds"
            " nothing until there is."
        )
    return "gang-incomplete", _incomplete(pod, gang, facts, gangs)


def _incomplete(pod: PodInfo, gang: Gang, facts: dict[str, int], gangs: Gangs) -> str:
    facts["placed"] = gangs.quorum_reached(gang)
    others = [
        info.pod.metadata.name for info in gangs.find_unplaced_members(gang) if info.uid != pod.uid
    ]
    names = ", ".join(others[:_MAX_NAMES])
    more = f" and {len(others) - _MAX_NAMES} more" if len(others) > _MAX_NAMES else ""
    without = f"; {names}{more} {'has' if len(others) == 1 else 'have'} none" if others else ""
    return (
        f"PodGroup {gang.full_name} needs {_pods(gang.min_member)} on nodes at once, and this pod"
        f" gave its node back because not all of them got one{without}."
    )


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"


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
        pod=_label_pod(pod, None),
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
            pod=_label_pod(pod, alike),
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


def _label_pod(pod: Pod, group: str | None) -> Pod:
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

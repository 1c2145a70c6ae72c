"""What is behind a refusal of the plugin, in words and numbers.

The texts of the statuses are those that users of the plugin know; here they are told apart again,
and what the group lacks is counted as it is now.
"""

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
from podium.plugin import PodInfo, RefusalCause

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
    code, text = _told(pod, message, gang, facts, gangs)
    return RefusalCause(code, subject, text, dict(facts))


def _told(
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
    others = [info.pod.metadata.name for info in gangs.unplaced(gang) if info.uid != pod.uid]
    names = ", ".join(others[:_MAX_NAMES])
    more = f" and {len(others) - _MAX_NAMES} more" if len(others) > _MAX_NAMES else ""
    without = f"; {names}{more} {'has' if len(others) == 1 else 'have'} none" if others else ""
    return (
        f"PodGroup {gang.full_name} needs {_pods(gang.min_member)} on nodes at once, and this pod"
        f" gave its node back because not all of them got one{without}."
    )


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"

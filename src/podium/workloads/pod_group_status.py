"""The status of a coscheduled PodGroup: which phase it is in, and how many members are how far.

    "" ─▶ Pending ─▶ Scheduling ⇄ Running ─▶ Finished
             ▲            │          │
             └── too few members     └─▶ Failed

`Finished` and `Failed` are the end. The rules are those of `pkg/controllers/podgroup_controller.go`
in `kubernetes-sigs/scheduler-plugins`; what counts towards a phase is its quorum, not all members.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from podium.api.coscheduling import CoschedulingPodGroup, CoschedulingPodGroupStatus
from podium.api.timestamps import seconds_of
from podium.workloads.pods import Pod

PENDING: Final = "Pending"
SCHEDULING: Final = "Scheduling"
RUNNING: Final = "Running"
FINISHED: Final = "Finished"
FAILED: Final = "Failed"
_TOO_LONG_S: Final = 48 * 3600.0


def has_ended(group: CoschedulingPodGroup) -> bool:
    return group.status.phase in (FINISHED, FAILED)


def took_too_long(group: CoschedulingPodGroup) -> bool:
    """Whether a group began to be scheduled two days after it was made: its pods may be gone. Only
    older releases wrote that time down."""
    status, created = group.status, group.metadata.creation_timestamp
    if status.phase not in (PENDING, SCHEDULING) or status.running:
        return False
    if not status.schedule_start_time or not created:
        return False
    try:
        return seconds_of(status.schedule_start_time) - seconds_of(created) > _TOO_LONG_S
    except ValueError:
        return False


def next_status(group: CoschedulingPodGroup, members: Iterable[Pod]) -> CoschedulingPodGroupStatus:
    """What the status is to be, one step at a time; `members` are its pods of any phase."""
    pods, status, least = list(members), group.status, group.spec.min_member
    if not status.phase:
        return replace(status, phase=PENDING)
    if status.phase == PENDING:
        if len(pods) < least:
            return status
        occupied_by = _owners_of(pods[0]) if pods else ""
        return replace(status, phase=SCHEDULING, occupied_by=occupied_by or status.occupied_by)
    return _counted(status, pods, least)


def _counted(
    status: CoschedulingPodGroupStatus, pods: list[Pod], least: int
) -> CoschedulingPodGroupStatus:
    phases = [pod.status.phase for pod in pods]
    running, succeeded, failed = (
        phases.count(phase) for phase in ("Running", "Succeeded", "Failed")
    )
    if len(pods) < least:
        phase = PENDING
    elif succeeded >= least:
        phase = FINISHED
    elif failed and failed + running + succeeded >= least:
        phase = FAILED
    else:
        phase = RUNNING if succeeded + running >= least else SCHEDULING
    return replace(status, phase=phase, running=running, succeeded=succeeded, failed=failed)


def _owners_of(pod: Pod) -> str:
    owners = pod.metadata.owner_references or ()
    return ",".join(sorted(f"{pod.metadata.namespace}/{owner.name}" for owner in owners))

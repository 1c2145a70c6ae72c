"""The status of a coscheduled PodGroup: which phase it is in, and how many members are how far.

    "" ─▶ Pending ─▶ Scheduling ⇄ Running ─▶ Finished
             ▲            │          │
             └── too few members     └─▶ Failed

`Finished` and `Failed` are the end. The rules are those of `pkg/controllers/podgroup_controller.go`
in `kubernetes-sigs/scheduler-plugins`; what counts towards a phase is its quorum, not all members.
Members are counted in `Pending` as well, where upstream leaves numbers of pods that are gone.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.coscheduling import CoschedulingPodGroup, CoschedulingPodGroupStatus
from podium.kubernetes.rules.timestamps import seconds_of

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
    phases = [pod.status.phase for pod in pods]
    counted = replace(
        status,
        running=phases.count("Running"),
        succeeded=phases.count("Succeeded"),
        failed=phases.count("Failed"),
    )
    if len(pods) < least:
        return replace(counted, phase=PENDING)
    if status.phase == PENDING:
        occupied_by = _owners_of(pods[0]) if pods else ""
        return replace(counted, phase=SCHEDULING, occupied_by=occupied_by or status.occupied_by)
    return replace(counted, phase=_phase(counted, least))


def _phase(counted: CoschedulingPodGroupStatus, least: int) -> str:
    running, succeeded, failed = counted.running, counted.succeeded, counted.failed
    if succeeded >= least:
        return FINISHED
    if failed and failed + running + succeeded >= least:
        return FAILED
    return RUNNING if succeeded + running >= least else SCHEDULING


def _owners_of(pod: Pod) -> str:
    owners = pod.metadata.owner_references or ()
    return ",".join(sorted(f"{pod.metadata.namespace}/{owner.name}" for owner in owners))

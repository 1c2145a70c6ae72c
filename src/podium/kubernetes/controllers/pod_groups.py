"""The status of a coscheduled PodGroup: which phase it is in, and how many members are how far.

    "" ─▶ Pending ─▶ Scheduling ⇄ Running ─▶ Finished
             ▲            │          │
             └── too few members     └─▶ Failed

`Finished` and `Failed` are the end. The rules are those of `pkg/controllers/podgroup_controller.go`
in `kubernetes-sigs/scheduler-plugins`; what counts towards a phase is its quorum, not all members.
Members are counted in `Pending` as well, where upstream leaves numbers of pods that are gone.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from podium.kubernetes.controllers.controller import (
    NOTHING,
    Plan,
    Wake,
    event_about,
    read_reported_fields,
    status_patch,
)
from podium.kubernetes.controllers.ownership import wake_changed
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import Stores
from podium.kubernetes.kinds.scheduler_plugins import (
    CoschedulingPodGroup,
    CoschedulingPodGroupStatus,
    SchedulingXPodGroup,
    pod_group_name,
)
from podium.kubernetes.resources.resource_types import COSCHEDULING_POD_GROUPS
from podium.kubernetes.rules.merge_patch import PatchType
from podium.kubernetes.rules.timestamps import Moment, seconds_of

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


_COMPONENT: Final = "PodGroupController"
_TOO_LATE: Final = "schedule time longer than 48 hours"


def decide(group: SchedulingXPodGroup, members: Sequence[Pod]) -> Plan:
    """`members` are the pods of its namespace that carry its label."""
    if group.metadata.is_terminating or has_ended(group) or took_too_long(group):
        return NOTHING
    status = next_status(group, members)
    written = {
        "phase": status.phase,
        "occupiedBy": status.occupied_by,
        "running": status.running,
        "succeeded": status.succeeded,
        "failed": status.failed,
    }
    if written == read_reported_fields(group.status, written):
        return NOTHING
    return Plan([status_patch(COSCHEDULING_POD_GROUPS, group, written, PatchType.MERGE)])


class CoschedulingPodGroups:
    """Keys are the namespace and name of a group."""

    name = "podgroups"

    def __init__(self, stores: Stores) -> None:
        self._groups = stores.coscheduling_pod_groups
        self._members = stores.pods.indexer.add_index("coscheduling group", _group_of)
        self._pods = stores.pods
        self._given_up: set[str] = set()

    def watch(self, wake: Wake) -> None:
        def pod_changed(old: Pod | None, new: Pod | None) -> None:
            keys = {key for pod in (old, new) if pod is not None for key in _group_of(pod)}
            for key in keys:
                wake(key)

        wake_changed(self._groups, wake)
        self._pods.listen(pod_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        group = self._groups.find(key)
        if group is None:
            return NOTHING
        if took_too_long(group):
            return self._give_up(group, moment)
        return decide(group, self._members.of(key))

    def _give_up(self, group: SchedulingXPodGroup, moment: Moment) -> Plan:
        """Say so once."""
        if group.metadata.uid in self._given_up:
            return NOTHING
        self._given_up.add(group.metadata.uid)
        event = event_about(group, _COMPONENT, "Warning", "Timeout", _TOO_LATE, moment)
        return Plan([event])


def _group_of(pod: Pod) -> Iterable[tuple[str, str]]:
    name = pod_group_name(pod.metadata.labels)
    return ((pod.metadata.namespace, name),) if name else ()

"""PodGroups of coscheduling: their status follows their pods (`controllers/pod_group_status.py`).

The kind is a custom resource, so this controller wakes up when the server begins to serve it.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.client import PatchType
from podium.client.resources import COSCHEDULING_POD_GROUPS
from podium.kubernetes.controllers.pod_group_status import has_ended, next_status, took_too_long
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds.coscheduling import SchedulingXPodGroup, pod_group_name
from podium.kubernetes.rules.moment import Moment
from podium.simulated_cluster.actions import NOTHING, Plan, reported, status_patch
from podium.simulated_cluster.control import Wake
from podium.simulated_cluster.controllers.object_events import event_about
from podium.simulated_cluster.controllers.ownership import wake_changed
from podium.simulated_cluster.informers import Informers

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
    if written == reported(group.status, written):
        return NOTHING
    return Plan([status_patch(COSCHEDULING_POD_GROUPS, group, written, PatchType.MERGE)])


class CoschedulingPodGroups:
    """Keys are the namespace and name of a group."""

    name = "podgroups"

    def __init__(self, informers: Informers) -> None:
        self._groups = informers.coscheduling_pod_groups
        self._members = informers.pods.indexer.add_index("coscheduling group", _group_of)
        self._pods = informers.pods
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

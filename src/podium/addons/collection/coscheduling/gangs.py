"""Groups as the plugin sees them: what they ask for, who their members are, how far those are.

Nothing is counted along. Members are the pods that are known, those have a node whom the cluster
has on one, so each counts once and nothing is left behind when an event is missed. Pods that are
being deleted do not count: a gang that is made anew under its old name does not live off the last
one. Nor do pods that failed. Members that have succeeded need no node any more and are still part
of the quorum, or a member that has to be replaced would wait for them for ever; they have left the
scheduler's sight, so their number is the status's, which the group's controller keeps.
"""

from dataclasses import dataclass

from podium.kubernetes.kinds.coscheduling import (
    CoschedulingPodGroup,
    SchedulingSigsPodGroup,
    SchedulingXPodGroup,
    min_available,
    pod_group_name,
)
from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.rules.timestamps import seconds_of
from podium.plugin import Code, Handle, Pod, PodInfo

GroupKey = tuple[str, str]


def group_key(pod: Pod) -> GroupKey | None:
    """(namespace, name) of the group that a pod belongs to."""
    name = pod_group_name(pod.metadata.labels)
    return (pod.metadata.namespace, name) if name else None


@dataclass(frozen=True, slots=True)
class Gang:
    """What a group asks for; `succeeded` members are through with their work."""

    key: GroupKey
    min_member: int
    min_resources: ResourceList | None = None
    timeout_s: float = 0.0
    created_at: float | None = None
    succeeded: int = 0

    @property
    def full_name(self) -> str:
        return "/".join(self.key)


class Gangs:
    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._members = handle.index_pods(group_key)

    def find(self, pod: Pod) -> Gang | None:
        """The group of a pod; None if it has none, or only the name of one."""
        key = group_key(pod)
        if key is None:
            return None
        namespace, name = key
        found: CoschedulingPodGroup | None = self._handle.get(SchedulingXPodGroup, name, namespace)
        if found is None:
            found = self._handle.get(SchedulingSigsPodGroup, name, namespace)
        if found is not None:
            return _gang(key, found)
        quorum = min_available(pod.metadata.labels)
        return Gang(key, quorum) if quorum else None

    def members(self, gang: Gang) -> list[Pod]:
        """Those that are there to stay."""
        found = self._members.of(gang.key)
        return [pod for pod in found if pod.metadata.deletion_timestamp is None]

    def is_known(self, key: GroupKey) -> bool:
        """Whether there is any pod of a group."""
        return any(True for _ in self._members.of(key))

    def placed(self, gang: Gang) -> list[PodInfo]:
        """Members that have a node: bound, or held until they are."""
        placements = self._handle.cluster.placements
        infos = (self._info(pod) for pod in self.members(gang))
        return [info for info in infos if info.uid in placements and not self._is_lost(info.uid)]

    def unplaced(self, gang: Gang) -> list[PodInfo]:
        placed = {info.uid for info in self.placed(gang)}
        infos = (self._info(pod) for pod in self.members(gang))
        return [info for info in infos if info.uid not in placed]

    def quorum_reached(self, gang: Gang) -> int:
        """How many members have a node or need none any more."""
        return len(self.placed(gang)) + gang.succeeded

    def _info(self, pod: Pod) -> PodInfo:
        return self._handle.cluster.infos.of(pod)

    def _is_lost(self, uid: str) -> bool:
        """Whether a pod that waits at Permit has been turned away and only holds its node until
        somebody looks."""
        waiting = self._handle.waiting.get(uid)
        outcome = waiting.outcome if waiting is not None else None
        return outcome is not None and outcome.code is not Code.SUCCESS


def _gang(key: GroupKey, group: CoschedulingPodGroup) -> Gang:
    created = group.metadata.creation_timestamp
    return Gang(
        key,
        group.spec.min_member,
        group.spec.min_resources,
        float(max(group.spec.schedule_timeout_seconds or 0, 0)),
        _moment(created) if created else None,
        group.status.succeeded,
    )


def _moment(text: str) -> float | None:
    try:
        return seconds_of(text)
    except ValueError:
        return None

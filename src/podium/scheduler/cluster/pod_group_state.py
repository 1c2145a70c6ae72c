"""What the scheduler knows of each pod group: which members there are, and how far they are.

A gang may only go ahead when enough of its members are known, and is only complete when enough of
them have a node; both are counts over pods, whether or not the PodGroup object exists. A group is
there from its first pod to its last. Its pods are unscheduled, assumed (a node is held for them) or
assigned (the API server says so).

Off unless `enabled`, because every pod that comes to a node or leaves one passes by here.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_info import PodInfo

GroupKey = tuple[str, str]


class PodGroupStateMissing(LookupError):
    """No pod of the group is known."""


class PodGroupMissing(LookupError):
    """There is no PodGroup object of a name."""


def group_of(pod: Pod) -> GroupKey | None:
    """(namespace, name) of the group a pod belongs to."""
    group = pod.spec.scheduling_group
    return None if group is None else (pod.metadata.namespace, group.pod_group_name or "")


def pod_group(catalog: Catalog, key: GroupKey) -> PodGroup:
    """The object of a group; PodGroupMissing, with the API's own words, if there is none."""
    namespace, name = key
    found = catalog.get(PodGroup, name, namespace)
    if found is None:
        raise PodGroupMissing(f'podgroup.scheduling.k8s.io "{name}" not found')
    return found


class PodGroupState:
    """The pods of one group, in order of arrival."""

    __slots__ = ("_assigned", "_assumed", "_pods", "_unscheduled")

    def __init__(self) -> None:
        self._pods: dict[str, PodInfo] = {}
        self._unscheduled: dict[str, None] = {}
        self._assumed: dict[str, str] = {}
        self._assigned: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._pods)

    @property
    def scheduled_count(self) -> int:
        return len(self._assumed) + len(self._assigned)

    @property
    def assumed(self) -> Sequence[str]:
        """UIDs of pods that hold a node which the API server has not confirmed."""
        return tuple(self._assumed)

    def unscheduled(self) -> list[PodInfo]:
        return [self._pods[uid] for uid in self._unscheduled]

    def scheduled(self) -> list[tuple[PodInfo, str]]:
        """Pods that have a node, with its name; assigned ones first."""
        return [
            (self._pods[uid], node_name)
            for part in (self._assigned, self._assumed)
            for uid, node_name in part.items()
        ]

    def put(self, info: PodInfo) -> None:
        """A pod appeared or changed; it is assigned as soon as it names a node."""
        self._pods[info.uid] = info
        node_name = info.pod.spec.node_name
        if node_name:
            self._leave(info.uid)
            self._assigned[info.uid] = node_name
        elif info.uid not in self._assumed:
            self._unscheduled[info.uid] = None

    def assume(self, info: PodInfo, node_name: str) -> None:
        """A node is held for a pod; one that was removed meanwhile stays out."""
        if info.uid in self._pods:
            self._leave(info.uid)
            self._assumed[info.uid] = node_name

    def forget(self, uid: str) -> None:
        """An assumed pod gave its node back; one that is gone altogether stays gone."""
        if uid in self._pods and uid in self._assumed:
            self._leave(uid)
            self._unscheduled[uid] = None

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)
        self._leave(uid)

    def _leave(self, uid: str) -> None:
        self._unscheduled.pop(uid, None)
        self._assumed.pop(uid, None)
        self._assigned.pop(uid, None)


class PodGroupStates:
    def __init__(self) -> None:
        self.enabled = False
        self._states: dict[GroupKey, PodGroupState] = {}

    def find(self, key: GroupKey) -> PodGroupState | None:
        return self._states.get(key)

    def get(self, key: GroupKey) -> PodGroupState:
        found = self._states.get(key)
        if found is None:
            raise PodGroupStateMissing(f"pod group state not found for pod group {key[0]}/{key[1]}")
        return found

    def put(self, info: PodInfo) -> None:
        """A pod appeared, changed, or is on a node now."""
        key = self._group_of(info)
        if key is not None:
            self._states.setdefault(key, PodGroupState()).put(info)

    def assume(self, info: PodInfo, node_name: str) -> None:
        key = self._group_of(info)
        if key is None:
            return
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = PodGroupState()
            state.put(info)
        state.assume(info, node_name)

    def forget(self, info: PodInfo) -> None:
        key = self._group_of(info)
        state = self._states.get(key) if key is not None else None
        if state is not None:
            state.forget(info.uid)

    def remove(self, info: PodInfo) -> None:
        key = self._group_of(info)
        state = self._states.get(key) if key is not None else None
        if key is None or state is None:
            return
        state.remove(info.uid)
        if not len(state):
            del self._states[key]

    def _group_of(self, info: PodInfo) -> GroupKey | None:
        return group_of(info.pod) if self.enabled else None

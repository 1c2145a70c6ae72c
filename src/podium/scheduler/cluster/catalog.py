"""What is known beside the table: objects that plugins look up, all pods, and pod groups.

Namespaces, services, controllers, volumes, claims, classes, budgets: each kind is a map from
`namespace/name` (or `name` for cluster-wide kinds) to the typed object, with a version that moves
on every change so that a reader can tell whether its conclusions still hold, and a short memory of
what changed so that a reader with an index of its own need not start again.

All pods that the scheduler has heard of and that have not ended, by key, and by what they say. A
plugin that asks again and again for the pods of a group, a queue or an owner keeps an index: it is
there from the first question on, and follows what comes and goes.

What the scheduler knows of each pod group: which members there are, and how far they are. A gang
may only go ahead when enough of its members are known, and is only complete when enough of them
have a node; both are counts over pods, whether or not the PodGroup object exists. A group is there
from its first pod to its last. Its pods are unscheduled, assumed (a node is held for them) or
assigned (the API server says so).

Off unless `enabled`, because every pod that comes to a node or leaves one passes by here.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Generic, TypeVar

from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.workloads import Namespace
from podium.scheduler.cluster.pod_info import PodInfo

K = TypeVar("K", bound=KubeStruct)

_MAX_REMEMBERED = 4096


def object_key(metadata: ObjectMeta) -> str:
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class Catalog:
    """All objects of the cluster that are neither nodes nor pods."""

    def __init__(self) -> None:
        self._kinds: dict[type, dict[str, KubeStruct]] = {}
        self._versions: dict[type, int] = {}
        self._changed: dict[type, list[str]] = {}
        self.changes = 0
        """Moves on every change of any kind."""

    def put(self, obj: KubeStruct) -> None:
        kind, key = type(obj), object_key(_metadata(obj))
        self._kinds.setdefault(kind, {})[key] = obj
        self._note(kind, key)

    def remove(self, obj: KubeStruct) -> None:
        kind, key = type(obj), object_key(_metadata(obj))
        self._kinds.get(kind, {}).pop(key, None)
        self._note(kind, key)

    def get(self, kind: type[K], name: str, namespace: str = "") -> K | None:
        key = f"{namespace}/{name}" if namespace else name
        found = self._kinds.get(kind, {}).get(key)
        return found if isinstance(found, kind) else None

    def all(self, kind: type[K]) -> Iterator[K]:
        for obj in self._kinds.get(kind, {}).values():
            if isinstance(obj, kind):
                yield obj

    def everything(self) -> Iterator[KubeStruct]:
        """All objects of all kinds."""
        for objects in self._kinds.values():
            yield from objects.values()

    def version(self, kind: type[KubeStruct]) -> int:
        return self._versions.get(kind, 0)

    def changed_since(self, kind: type[KubeStruct], version: int) -> Sequence[str] | None:
        """Keys put or removed after a version; None when that is too long ago to tell."""
        changed = self._changed.get(kind, [])
        count = self.version(kind) - version
        if count > len(changed):
            return None
        return changed[len(changed) - count :]

    def _note(self, kind: type, key: str) -> None:
        self.changes += 1
        self._versions[kind] = self._versions.get(kind, 0) + 1
        changed = self._changed.setdefault(kind, [])
        changed.append(key)
        if len(changed) > 2 * _MAX_REMEMBERED:
            del changed[:_MAX_REMEMBERED]

    def namespace_labels(self, name: str) -> dict[str, str]:
        """A namespace's labels; an unknown namespace has none."""
        namespace = self.get(Namespace, name)
        return (namespace.metadata.labels or {}) if namespace else {}


def _metadata(obj: KubeStruct) -> ObjectMeta:
    metadata = getattr(obj, "metadata", None)
    if not isinstance(metadata, ObjectMeta):
        raise TypeError(f"{type(obj).__name__} has no metadata")
    return metadata


E = TypeVar("E", bound=Hashable)


class PodIndex(Generic[E]):
    """Pods by an entry that is worked out from each alone; None leaves a pod out."""

    def __init__(self, entry_of: Callable[[Pod], E | None]) -> None:
        self._entry_of = entry_of
        self._found: dict[E, dict[str, Pod]] = {}
        self._changed: set[E] | None = None

    def of(self, entry: E) -> Iterator[Pod]:
        """In order of arrival."""
        return iter(list(self._found.get(entry, {}).values()))

    def count(self, entry: E) -> int:
        return len(self._found.get(entry, ()))

    def __iter__(self) -> Iterator[E]:
        return iter(list(self._found))

    def take_changed(self) -> set[E]:
        """Entries whose pods came, went or changed since the last time that somebody asked; those
        that there are, the first time."""
        changed = set(self._found) if self._changed is None else self._changed
        self._changed = set()
        return changed

    def change(self, key: str, old: Pod | None, new: Pod | None) -> None:
        before = self._entry_of(old) if old is not None else None
        after = self._entry_of(new) if new is not None else None
        if self._changed is not None:
            self._changed.update(entry for entry in (before, after) if entry is not None)
        if before is not None and before != after:
            left = self._found[before]
            del left[key]
            if not left:
                del self._found[before]
        if after is not None and new is not None:
            self._found.setdefault(after, {})[key] = new


class IndexedPods(dict[str, Pod]):
    """Pods by `namespace/name`; only `[key] = pod` and `pop` change it."""

    def __init__(self) -> None:
        super().__init__()
        self._indexes: list[PodIndex[Hashable]] = []

    def index(self, entry_of: Callable[[Pod], E | None]) -> PodIndex[E]:
        """A new index of what there is and of what will be."""
        made: PodIndex[E] = PodIndex(entry_of)
        for key, pod in self.items():
            made.change(key, None, pod)
        self._indexes.append(made)  # type: ignore[arg-type]  # entries go in and out of it alone
        return made

    def __setitem__(self, key: str, pod: Pod) -> None:
        if self._indexes:
            old = self.get(key)
            for index in self._indexes:
                index.change(key, old, pod)
        super().__setitem__(key, pod)

    def pop(self, key: str) -> Pod:  # type: ignore[override]  # nobody has a default for a pod
        """Take a pod out. Raises KeyError if it is not there."""
        for index in self._indexes:
            index.change(key, self[key], None)
        return super().pop(key)


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

    def unscheduled_pods(self) -> list[PodInfo]:
        return [self._pods[uid] for uid in self._unscheduled]

    def scheduled_pods(self) -> list[tuple[PodInfo, str]]:
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

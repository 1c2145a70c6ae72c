"""Cluster events, what a plugin says about them, and the kinds that plugins add.

A pod that a plugin rejected waits until something happens that may change that plugin's mind. Each
plugin registers the events it cares about, with an optional hint that looks at the objects and
says whether this event is worth another attempt. The bits and names are kube-scheduler's but for
`Source`. A kind that is none of `Resource` goes by a name of its own.

Kinds that plugins read beside those that every scheduler watches: custom resources, mostly. A
plugin names them in its class, so that whoever reads files or a cluster knows of them before the
plugin is built. Drivers then watch them as they watch everything else, plugins find them with
`handle.get` and `handle.list`, and an event about one is registered for under `event_resource`.
"""

import enum
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject
from podium.scheduler.cluster.pod_info import PodInfo


class Action(enum.IntFlag):
    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096
    UPDATE = 8188
    ALL = 8191


class Resource(enum.StrEnum):
    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULABLE_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    SOURCE = "Source"
    """Not upstream's: a source of a plugin has another answer than before; its column is the new
    object."""
    ANY = "*"


class ClusterEvent(NamedTuple):
    """Something that happened; `label` names it in logs and metrics where it has a custom name."""

    resource: Resource | str
    action: Action
    label: str = ""

    @property
    def wildcard(self) -> bool:
        return self.resource is Resource.ANY and self.action == Action.ALL

    def __str__(self) -> str:
        return self.label or f"{self.resource}{_action_label(self.action)}"


def _action_label(action: Action) -> str:
    """`Add`, `UpdateNodeTaint`: the bit's name as users meet it."""
    name = action.name or "|".join(str(bit.name) for bit in action)
    return "".join(word.capitalize() for word in name.split("_"))


EventObject: TypeAlias = Any  # type: ignore[explicit-any]  # the event's resource tells its type
Hint = Callable[[PodInfo, EventObject, EventObject], bool]
"""(waiting pod, old object or None, new object or None) -> worth another attempt?

Nodes arrive as `api.Node`, pods as `api.Pod`, other kinds as their own Structs.
"""


class Registration(NamedTuple):
    """An event that may help pods rejected by a plugin; without a hint it always may."""

    resource: Resource | str
    action: Action
    hint: Hint | None = None

    def concerns(self, event: ClusterEvent) -> bool:
        if self.resource is Resource.ANY and self.action == Action.ALL:
            return True
        pods = self.resource is Resource.POD and event.resource in _POD_PARTS
        if not (pods or self.resource in (event.resource, Resource.ANY)):
            return False
        # upstream: a generic Update only reaches registrations of the full Update mask
        return bool(self.action & event.action) and event.action <= self.action


_POD_PARTS = frozenset({Resource.ASSIGNED_POD, Resource.UNSCHEDULABLE_POD})


class WatchedKind(NamedTuple):
    """`struct` has `api_version` and `kind` as defaults. `definition` makes the
    CustomResourceDefinition, for clusters that Podium builds itself. A kind that is `optional` is
    left out without a word where the server does not serve it."""

    struct: type[KubeObject]
    plural: str
    namespaced: bool = True
    definition: Callable[[], JsonObject] | None = None
    optional: bool = False

    @property
    def api_version(self) -> str:
        return self.struct().api_version

    @property
    def kind(self) -> str:
        return self.struct().kind

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def event_resource(self) -> str:
        """How events name the kind: `podgroups.v1alpha1.scheduling.x-k8s.io`."""
        return f"{self.plural}.{self.version}.{self.group}"


def unique_kinds(kinds: Iterable[WatchedKind]) -> tuple[WatchedKind, ...]:
    """Each kind once, as the first who named it did."""
    return tuple({kind.struct: kind for kind in reversed([*kinds])}.values())[::-1]

"""What watches see, told to the engine: which kinds there are, and objects as they came.

Contract: one object that the engine cannot take stops neither its watch nor any other object; it is
logged with its name. Whoever waits for news hears that there is some. An order of the queue that is
broken cannot be passed over: it is kept for whoever works, to end with it.

What a scheduler watches: the kinds that decisions depend on. Pods come last. Whatever else there
is, they are looked at in the light of it: a pod that arrives before its claims and nodes would be
judged twice.

Source: `addAllEventHandlers` in `pkg/scheduler/eventhandlers.go`.

Pods and nodes as the API server sent them, for extenders. Typed objects hold what scheduling reads;
an extender may read anything. So where extenders are configured, the objects are kept as they came
as well: nodes, and pods until they are seen on a node or finished. Without extenders nothing is
kept.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from podium.client import ResourceType, Selection, resources
from podium.client.event_handlers import ResourceEventHandler
from podium.client.extenders.objects import TypedObjects
from podium.client.reflector import Decoder
from podium.kubernetes.controllers.indexer import DeletedFinalStateUnknown, last_state
from podium.kubernetes.kinds.devices import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceSlice,
)
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.kubernetes.kinds.typed_objects import KubeObject, decode_as
from podium.kubernetes.kinds.workloads import (
    Namespace,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.engine import Engine
from podium.scheduler.engine.validation import InvariantBroken
from podium.scheduler.framework.events import WatchedKind
from podium.scheduler.framework.faults import QueueOrderBroken

Watched = tuple[ResourceType, type[KubeObject]]

UNFINISHED: Final = Selection(fields="status.phase!=Succeeded,status.phase!=Failed")
"""The pods that matter: one that ends leaves the watch as if it were deleted."""

PODS: Final[Watched] = (resources.PODS, Pod)
_CORE: Final[tuple[Watched, ...]] = (
    (resources.NAMESPACES, Namespace),
    (resources.NODES, Node),
    (resources.SERVICES, Service),
    (resources.REPLICATION_CONTROLLERS, ReplicationController),
    (resources.REPLICA_SETS, ReplicaSet),
    (resources.STATEFUL_SETS, StatefulSet),
    (resources.POD_DISRUPTION_BUDGETS, PodDisruptionBudget),
    (resources.STORAGE_CLASSES, StorageClass),
    (resources.CSI_NODES, CSINode),
    (resources.CSI_DRIVERS, CSIDriver),
    (resources.CSI_STORAGE_CAPACITIES, CSIStorageCapacity),
    (resources.VOLUME_ATTACHMENTS, VolumeAttachment),
    (resources.PERSISTENT_VOLUMES, PersistentVolume),
    (resources.PERSISTENT_VOLUME_CLAIMS, PersistentVolumeClaim),
)
_DEVICES: Final[tuple[Watched, ...]] = (
    (resources.DEVICE_CLASSES, DeviceClass),
    (resources.RESOURCE_SLICES, ResourceSlice),
    (resources.RESOURCE_CLAIMS, ResourceClaim),
)
_TAINT_RULES: Final[tuple[Watched, ...]] = ((resources.DEVICE_TAINT_RULES, DeviceTaintRule),)
_GROUPS: Final[tuple[Watched, ...]] = ((resources.POD_GROUPS, PodGroup),)


def kinds_before_pods(
    gates: Mapping[str, bool], asked_for: Iterable[WatchedKind] = ()
) -> tuple[Watched, ...]:
    """Everything but pods, as far as its gates are open, and what plugins have `asked_for`."""
    return (
        *((resource_of(kind), kind.struct) for kind in asked_for),
        *_CORE,
        *(_TAINT_RULES if gates["DRADeviceTaintRules"] else ()),
        *(_DEVICES if gates["DynamicResourceAllocation"] else ()),
        *(_GROUPS if gates["GenericWorkload"] else ()),
    )


def resource_of(kind: WatchedKind) -> ResourceType:
    return ResourceType(kind.group, kind.version, kind.plural, kind.kind, kind.namespaced)


def decoder_of(struct: type[KubeObject]) -> Decoder[KubeObject]:
    def decode(written: msgspec.Raw) -> KubeObject:
        return decode_as(written, struct)

    return decode


_NOT_SENT = ("kind", "apiVersion")


class RawObjects:
    """An `ObjectSource`; the feed puts in what it decodes, and takes out what is gone."""

    def __init__(self, typed: TypedObjects) -> None:
        """`typed` writes what is not here."""
        self._typed = typed
        self._nodes: dict[str, bytes] = {}
        self._pods: dict[str, tuple[str, bytes]] = {}

    def __len__(self) -> int:
        return len(self._nodes) + len(self._pods)

    def put(self, obj: Node | Pod, written: msgspec.Raw) -> None:
        metadata = obj.metadata
        if isinstance(obj, Node):
            self._nodes[metadata.name] = _clean_object(written)
        elif obj.spec.node_name:
            self._pods.pop(object_key(metadata), None)
        else:
            self._pods[object_key(metadata)] = (metadata.resource_version, _clean_object(written))

    def remove(self, obj: Node | Pod) -> None:
        if isinstance(obj, Node):
            self._nodes.pop(obj.metadata.name, None)
        else:
            self._pods.pop(object_key(obj.metadata), None)

    def pod(self, pod: Pod) -> bytes:
        version, written = self._pods.get(object_key(pod.metadata), ("", b""))
        if written and version == pod.metadata.resource_version:
            return written
        return self._typed.pod(pod)

    def node(self, name: str) -> bytes:
        """Raises KeyError for a node that is gone."""
        return self._nodes[name]


def _clean_object(written: msgspec.Raw) -> bytes:
    """An object without what is not sent to extenders."""
    obj: dict[str, Any] = msgspec.json.decode(written)
    for name in _NOT_SENT:
        obj.pop(name, None)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    return msgspec.json.encode(obj)


_LOG: Final = logging.getLogger("podium.live")


class Feed:
    """Handlers for reflectors, one for each kind."""

    def __init__(
        self, engine: Engine, stir: Callable[[], None], raw: RawObjects | None = None
    ) -> None:
        """`stir` is called after every change; `raw` keeps objects as they came, if it is
        there."""
        self._raw = raw
        self._engine = engine
        self._stir = stir
        self.refused = 0
        """How many changes the engine could not take."""
        self.broken_order: QueueOrderBroken | None = None
        """Why pods cannot be ordered any more."""

    def handler_of(self, struct: type[KubeObject]) -> ResourceEventHandler[KubeObject]:
        intake = self._engine.intake
        if struct is Pod:
            return _Handler(self._deliver, intake.pod_put, self._pod_deleted)
        if struct is Node:
            return _Handler(self._deliver, intake.node_put, self._node_deleted)
        return _Handler(self._deliver, intake.object_put, intake.object_deleted)

    def decoder_of(self, struct: type[KubeObject]) -> Decoder[KubeObject]:
        if struct is Pod:
            return self._pod
        return self._node if struct is Node and self._raw is not None else decoder_of(struct)

    def _pod(self, written: msgspec.Raw) -> Pod:
        """A pod with the parts that it shares with others, so that the store of all pods holds no
        second copy of them."""
        pod = self._engine.cluster.infos.of(decode_as(written, Pod)).pod
        if self._raw is not None:
            self._raw.put(pod, written)
        return pod

    def _node(self, written: msgspec.Raw) -> Node:
        node = decode_as(written, Node)
        if self._raw is not None:
            self._raw.put(node, written)
        return node

    def _pod_deleted(self, pod: Pod) -> None:
        if self._raw is not None:
            self._raw.remove(pod)
        self._engine.intake.pod_deleted(pod)

    def _node_deleted(self, node: Node) -> None:
        if self._raw is not None:
            self._raw.remove(node)
        self._engine.intake.node_deleted(node.metadata.name)

    def _deliver(self, tell: Callable[..., None], obj: KubeObject) -> None:
        try:
            tell(obj)
        except InvariantBroken:
            raise
        except QueueOrderBroken as problem:
            self.broken_order = problem
        except Exception:
            self.refused += 1
            what = f"{obj.kind} {object_key(obj.metadata)}"
            _LOG.exception("%s could not be taken in and is passed over", what)
        self._stir()


class _Handler:
    """Puts what appears or changes, and takes out what is gone."""

    def __init__(
        self,
        told: Callable[[Callable[..., None], KubeObject], None],
        put: Callable[..., None],
        delete: Callable[..., None],
    ) -> None:
        self._told = told
        self._put = put
        self._delete = delete

    def on_add(self, obj: KubeObject, /, *, is_in_initial_list: bool) -> None:  # noqa: ARG002
        self._told(self._put, obj)

    def on_update(self, old: KubeObject, new: KubeObject, /) -> None:  # noqa: ARG002
        self._told(self._put, new)

    def on_delete(self, obj: KubeObject | DeletedFinalStateUnknown, /) -> None:
        self._told(self._delete, last_state(obj))

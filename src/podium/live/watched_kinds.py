"""What a scheduler watches: the kinds that decisions depend on.

Pods come last. Whatever else there is, they are looked at in the light of it: a pod that arrives
before its claims and nodes would be judged twice.

Source: `addAllEventHandlers` in `pkg/scheduler/eventhandlers.go`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from podium.client import ResourceType, Selection, resources
from podium.client.object_decoding import Decoder
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
from podium.scheduler.framework.events import WatchedKind

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

"""Storage objects as scheduling sees them: volumes, claims, classes and what CSI drivers report.

They answer two questions about a pod with claims: where its existing volumes can be reached, and
where a volume it still lacks could be found or made.
"""

from typing import Literal

import msgspec

from podium.kubernetes.kinds.meta import (
    KubeObject,
    KubeStruct,
    LabelSelector,
    Quantity,
    ResourceList,
)
from podium.kubernetes.kinds.pod import NodeSelector
from podium.kubernetes.kinds.volumes import (
    AWSElasticBlockStoreSource,
    AzureDiskSource,
    AzureFileSource,
    CinderSource,
    CSIPersistentSource,
    GCEPersistentDiskSource,
    ISCSISource,
    PersistentVolumeClaimSpec,
    PortworxSource,
    RBDSource,
    VsphereSource,
)

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


class ObjectReference(KubeStruct, frozen=True):
    UNREAD = frozenset({"fieldPath"})

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class VolumeNodeAffinity(KubeStruct, frozen=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "cephfs",
            "fc",
            "flexVolume",
            "flocker",
            "glusterfs",
            "hostPath",
            "local",
            "mountOptions",
            "nfs",
            "photonPersistentDisk",
            "quobyte",
            "scaleIO",
            "storageos",
        }
    )

    capacity: ResourceList | None = None
    access_modes: tuple[str, ...] | None = None
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    persistent_volume_reclaim_policy: str = ""
    node_affinity: VolumeNodeAffinity | None = None
    gce_persistent_disk: GCEPersistentDiskSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreSource | None = None
    rbd: RBDSource | None = None
    iscsi: ISCSISource | None = None
    azure_disk: AzureDiskSource | None = None
    azure_file: AzureFileSource | None = None
    cinder: CinderSource | None = None
    vsphere_volume: VsphereSource | None = None
    portworx_volume: PortworxSource | None = None
    csi: CSIPersistentSource | None = None


class PersistentVolumeStatus(KubeStruct, frozen=True):
    phase: str = ""


class PersistentVolume(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["v1"] = "v1"
    kind: Literal["PersistentVolume"] = "PersistentVolume"
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimStatus(KubeStruct, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["PersistentVolumeClaim"] = "PersistentVolumeClaim"
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(KubeStruct, frozen=True):
    key: str = ""
    values: tuple[str, ...] | None = None


class TopologySelectorTerm(KubeStruct, frozen=True):
    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] | None = None


class StorageClass(KubeObject, frozen=True):
    cluster_scoped = True
    UNREAD = frozenset({"allowVolumeExpansion", "parameters"})

    api_version: Literal["storage.k8s.io/v1"] = "storage.k8s.io/v1"
    kind: Literal["StorageClass"] = "StorageClass"
    provisioner: str = ""
    reclaim_policy: str | None = None
    mount_options: tuple[str, ...] | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] | None = None


class CSINodeAllocatable(KubeStruct, frozen=True):
    count: int | None = None


class CSINodeDriver(KubeStruct, frozen=True):
    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] | None = None
    allocatable: CSINodeAllocatable | None = None


class CSINodeSpec(KubeStruct, frozen=True):
    drivers: tuple[CSINodeDriver, ...] | None = None


class CSINode(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["storage.k8s.io/v1"] = "storage.k8s.io/v1"
    kind: Literal["CSINode"] = "CSINode"
    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "attachRequired",
            "fsGroupPolicy",
            "nodeAllocatableUpdatePeriodSeconds",
            "podInfoOnMount",
            "requiresRepublish",
            "seLinuxMount",
            "serviceAccountTokenInSecrets",
            "tokenRequests",
            "volumeLifecycleModes",
        }
    )

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["storage.k8s.io/v1"] = "storage.k8s.io/v1"
    kind: Literal["CSIDriver"] = "CSIDriver"
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubeObject, frozen=True):
    """How much room a driver has for one class in one part of the cluster; null is "unknown"."""

    api_version: Literal["storage.k8s.io/v1"] = "storage.k8s.io/v1"
    kind: Literal["CSIStorageCapacity"] = "CSIStorageCapacity"
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"inlineVolumeSpec"})

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(KubeStruct, frozen=True):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachmentStatus(KubeStruct, frozen=True):
    attached: bool = False


class VolumeAttachment(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["storage.k8s.io/v1"] = "storage.k8s.io/v1"
    kind: Literal["VolumeAttachment"] = "VolumeAttachment"
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()

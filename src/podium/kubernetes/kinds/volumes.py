"""Volumes of pods, and the volume sources and claim specs they share with storage objects.

Scheduling cares about a volume for three reasons: it may be attached somewhere else (the disk
kinds), it may count against a node's attach limit (everything with a CSI equivalent), or it may
stand for a claim that decides where the pod can run. Sources of no such interest are only known
by name. A PersistentVolume holds the same sources as a pod does, hence one Struct for both.
"""

import msgspec

from podium.kubernetes.kinds.meta import KubeStruct, LabelSelector, ObjectMeta, ResourceList


class GCEPersistentDiskSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "partition"})

    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStoreSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "partition"})

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class RBDSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "keyring", "secretRef", "user"})

    monitors: tuple[str, ...] | None = None
    pool: str = ""
    image: str = ""
    read_only: bool = False


class ISCSISource(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "chapAuthDiscovery",
            "chapAuthSession",
            "fsType",
            "initiatorName",
            "iscsiInterface",
            "lun",
            "portals",
            "secretRef",
            "targetPortal",
        }
    )

    iqn: str = ""
    read_only: bool = False


class AzureDiskSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"cachingMode", "fsType", "readOnly"})

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class AzureFileSource(KubeStruct, frozen=True):
    """`secret_namespace` exists on PersistentVolumes only; inline it is the pod's namespace."""

    UNREAD = frozenset({"readOnly"})

    secret_name: str = ""
    secret_namespace: str | None = None
    share_name: str = ""


class CinderSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "readOnly", "secretRef"})

    volume_id: str = msgspec.field(default="", name="volumeID")


class VsphereSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "storagePolicyID", "storagePolicyName"})

    volume_path: str = ""


class PortworxSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"fsType", "readOnly"})

    volume_id: str = msgspec.field(default="", name="volumeID")


class CSIEphemeralSource(KubeStruct, frozen=True):
    """A CSI volume written into a pod: it lives with the pod and has no handle."""

    UNREAD = frozenset({"fsType", "nodePublishSecretRef", "readOnly", "volumeAttributes"})

    driver: str = ""


class CSIPersistentSource(KubeStruct, frozen=True):
    """A CSI volume behind a PersistentVolume; driver and handle identify it."""

    UNREAD = frozenset(
        {
            "controllerExpandSecretRef",
            "controllerPublishSecretRef",
            "fsType",
            "nodeExpandSecretRef",
            "nodePublishSecretRef",
            "nodeStageSecretRef",
            "readOnly",
            "volumeAttributes",
        }
    )

    driver: str = ""
    volume_handle: str = ""


class EmptyDirSource(KubeStruct, frozen=True):
    """A directory that lives on the node as long as the pod does."""

    UNREAD = frozenset({"medium", "sizeLimit"})


class ImageSource(KubeStruct, frozen=True):
    UNREAD = frozenset({"pullPolicy"})

    reference: str = ""


class PersistentVolumeClaimReference(KubeStruct, frozen=True):
    UNREAD = frozenset({"readOnly"})

    claim_name: str = ""


class VolumeResources(KubeStruct, frozen=True):
    UNREAD = frozenset({"limits"})

    requests: ResourceList | None = None


class PersistentVolumeClaimSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"dataSource", "dataSourceRef"})

    access_modes: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    resources: VolumeResources = VolumeResources()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(KubeStruct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


def ephemeral_claim_name(pod: str, volume: str) -> str:
    """The name of the claim that is made for a generic ephemeral volume of a pod."""
    return f"{pod}-{volume}"


class EphemeralSource(KubeStruct, frozen=True):
    """A generic ephemeral volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class Volume(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "cephfs",
            "configMap",
            "downwardAPI",
            "fc",
            "flexVolume",
            "flocker",
            "gitRepo",
            "glusterfs",
            "hostPath",
            "nfs",
            "photonPersistentDisk",
            "projected",
            "quobyte",
            "scaleIO",
            "secret",
            "storageos",
        }
    )

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimReference | None = None
    ephemeral: EphemeralSource | None = None
    gce_persistent_disk: GCEPersistentDiskSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreSource | None = None
    rbd: RBDSource | None = None
    iscsi: ISCSISource | None = None
    azure_disk: AzureDiskSource | None = None
    azure_file: AzureFileSource | None = None
    cinder: CinderSource | None = None
    vsphere_volume: VsphereSource | None = None
    portworx_volume: PortworxSource | None = None
    csi: CSIEphemeralSource | None = None
    image: ImageSource | None = None
    empty_dir: EmptyDirSource | None = None
    """Last, as it is no reason to tell templates of pods apart."""

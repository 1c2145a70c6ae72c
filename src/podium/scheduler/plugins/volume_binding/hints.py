"""Which events may let a pod through that VolumeBinding has rejected."""

from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.plugins.volume_binding.provisioning import volume_limit
from podium.scheduler.plugins.volumes.csi_nodes import MIGRATED_PLUGINS
from podium.scheduler.plugins.volumes.pod_claims import uses_claim


def topologies_changed(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> bool:  # noqa: ARG001
    return old is None or (old.allowed_topologies or ()) != (new.allowed_topologies or ())


def claim_is_used(
    pod: PodInfo,
    old: PersistentVolumeClaim | None,  # noqa: ARG001
    new: PersistentVolumeClaim,
) -> bool:
    return uses_claim(pod.pod, new, ephemeral=True)


def migration_changed(pod: PodInfo, old: CSINode | None, new: CSINode) -> bool:  # noqa: ARG001
    if old is None:
        return True
    before, after = old.metadata.annotations or {}, new.metadata.annotations or {}
    return before.get(MIGRATED_PLUGINS, "") != after.get(MIGRATED_PLUGINS, "")


def capacity_no_longer_checked(pod: PodInfo, old: CSIDriver, new: CSIDriver) -> bool:
    # upstream: only pods with an inline CSI volume of the driver are looked at.
    used = any(
        volume.csi is not None and volume.csi.driver == new.metadata.name
        for volume in pod.pod.spec.volumes or ()
    )
    return used and bool(old.spec.storage_capacity) and not new.spec.storage_capacity


def room_grew(
    pod: PodInfo,  # noqa: ARG001
    old: CSIStorageCapacity | None,
    new: CSIStorageCapacity,
) -> bool:
    if old is None:
        return True
    before, after = volume_limit(old), volume_limit(new)
    return after is not None and (before is None or after > before)


REGISTRATIONS = (
    Registration(Resource.STORAGE_CLASS, Action.ADD | Action.UPDATE, topologies_changed),
    Registration(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD | Action.UPDATE, claim_is_used),
    Registration(Resource.PERSISTENT_VOLUME, Action.ADD | Action.UPDATE),
    Registration(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL),
    Registration(Resource.CSI_NODE, Action.ADD | Action.UPDATE, migration_changed),
    Registration(Resource.CSI_DRIVER, Action.UPDATE, capacity_no_longer_checked),
    Registration(Resource.CSI_STORAGE_CAPACITY, Action.ADD | Action.UPDATE, room_grew),
)

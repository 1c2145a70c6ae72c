"""The kinds of the group `storage.k8s.io`."""

from typing import Final

from podium.kubernetes.defaulting import storage as defaults
from podium.kubernetes.kinds.record import Kind, Validation, Warnings, WriteStrategy
from podium.kubernetes.tables import storage as tables
from podium.kubernetes.validation import csi, storage
from podium.kubernetes.warnings.storage import (
    about_capacity,
    about_changed_tokens,
    about_storage_class,
    about_tokens,
)

_GROUP: Final = "storage.k8s.io"

KINDS: Final = (
    Kind(
        _GROUP,
        "CSIDriver",
        "csidrivers",
        description="A storage driver of the cluster.",
        namespaced=False,
        gated_fields=(("VolumeLimitScaling", ("spec", "preventPodSchedulingIfMissing")),),
        defaults=defaults.set_csi_driver_defaults,
        validation=Validation(csi.driver_create_errors, csi.driver_update_errors),
        strategy=WriteStrategy(counted=("spec",), has_first_generation=False),
        printer=tables.CSI_DRIVER,
        warnings=Warnings(create=about_tokens, update=about_changed_tokens),
    ),
    Kind(
        _GROUP,
        "CSINode",
        "csinodes",
        description="The storage drivers of a node.",
        namespaced=False,
        validation=Validation(csi.node_create_errors, csi.node_update_errors),
        strategy=WriteStrategy(null_list=("spec", "drivers")),
        printer=tables.CSI_NODE,
    ),
    Kind(
        _GROUP,
        "CSIStorageCapacity",
        "csistoragecapacities",
        description="How much storage of a class there is in a part of the cluster.",
        validation=Validation(csi.capacity_create_errors, csi.capacity_update_errors),
        warnings=Warnings(always=about_capacity),
    ),
    Kind(
        _GROUP,
        "StorageClass",
        "storageclasses",
        ("sc",),
        description="A kind of storage, and how volumes of it are made.",
        namespaced=False,
        defaults=defaults.set_storage_class_defaults,
        validation=Validation(storage.class_create_errors, storage.class_update_errors),
        printer=tables.STORAGE_CLASS,
        warnings=Warnings(always=about_storage_class),
    ),
    Kind(
        _GROUP,
        "VolumeAttachment",
        "volumeattachments",
        description="A volume that is or should be attached to a node.",
        namespaced=False,
        has_status=True,
        defaults=defaults.set_volume_attachment_defaults,
        validation=Validation(csi.attachment_create_errors, csi.attachment_update_errors),
        strategy=WriteStrategy(empty_status={"attached": False}, keeps_metadata=True),
        printer=tables.ATTACHMENT,
    ),
    Kind(
        _GROUP,
        "VolumeAttributesClass",
        "volumeattributesclasses",
        ("vac",),
        description="Attributes of volumes that can be changed while they are in use.",
        namespaced=False,
        validation=Validation(storage.attributes_create_errors, storage.attributes_update_errors),
        printer=tables.ATTRIBUTES_CLASS,
    ),
)

"""Defaults of volumes, claims on them, their classes and drivers."""

from podium.golang.json_values import JsonObject
from podium.kubernetes.defaulting.pods import (
    round_amounts,
    set_claim_spec_defaults,
    set_source_defaults,
)


def set_volume_object_defaults(volume: JsonObject) -> None:
    """Defaults of a PersistentVolume."""
    status = volume.get("status")
    if status is None:
        status = volume["status"] = {}
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = volume.get("spec")
    if spec is None:
        spec = volume["spec"] = {}
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    if spec.get("capacity"):
        round_amounts(spec["capacity"])
    set_source_defaults(spec)


def set_claim_defaults(claim: JsonObject) -> None:
    """Defaults of a PersistentVolumeClaim."""
    status = claim.get("status")
    if status is None:
        status = claim["status"] = {}
    if not status.get("phase"):
        status["phase"] = "Pending"
    for amounts in ("capacity", "allocatedResources"):
        if status.get(amounts):
            round_amounts(status[amounts])
    if claim.get("spec") is None:
        claim["spec"] = {}
    set_claim_spec_defaults(claim["spec"])


def set_storage_class_defaults(storage_class: JsonObject) -> None:
    if storage_class.get("reclaimPolicy") is None:
        storage_class["reclaimPolicy"] = "Delete"
    if storage_class.get("volumeBindingMode") is None:
        storage_class["volumeBindingMode"] = "Immediate"


_DRIVER_DEFAULTS = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


def set_csi_driver_defaults(driver: JsonObject) -> None:
    spec = driver.get("spec")
    if spec is None:
        spec = driver["spec"] = {}
    for name, value in _DRIVER_DEFAULTS.items():
        if spec.get(name) is None:
            spec[name] = value
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def set_volume_attachment_defaults(attachment: JsonObject) -> None:
    inline = ((attachment.get("spec") or {}).get("source") or {}).get("inlineVolumeSpec")
    if inline is not None:
        if inline.get("capacity"):
            round_amounts(inline["capacity"])
        set_source_defaults(inline)

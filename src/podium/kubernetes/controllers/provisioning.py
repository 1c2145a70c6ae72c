"""Making a volume for a claim, as an external provisioner would, and binding the two.

The volume can be reached from the part of the cluster that shares the chosen node's values of the
driver's topology keys (from the CSINode), or from everywhere if the driver names no keys.
"""

from typing import Final

from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.storage import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
_DEFAULT_POLICY: Final = "Delete"


def can_provision(storage_class: StorageClass) -> bool:
    return storage_class.provisioner not in ("", NO_PROVISIONER)


def claim_reference(claim: PersistentVolumeClaim) -> JsonObject:
    """How a volume names the claim that it belongs to."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.metadata.uid,
    }


def provisioned_volume(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    node_labels: dict[str, str] | None,
    csi_node: CSINode | None,
) -> JsonObject:
    """`node_labels` are those of the node that was chosen, None if none was."""
    driver = storage_class.provisioner
    name = f"pvc-{claim.metadata.uid}"
    spec: JsonObject = {
        "capacity": {"storage": (claim.spec.resources.requests or {}).get("storage", "0")},
        "accessModes": list(claim.spec.access_modes or ()),
        "claimRef": claim_reference(claim),
        "persistentVolumeReclaimPolicy": storage_class.reclaim_policy or _DEFAULT_POLICY,
        "storageClassName": storage_class.name,
        **_source(driver, name),
    }
    if claim.spec.volume_mode:
        spec["volumeMode"] = claim.spec.volume_mode
    if storage_class.mount_options:
        spec["mountOptions"] = list(storage_class.mount_options)
    reach = _reach(driver, node_labels or {}, csi_node)
    if reach:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": reach}]}}
    metadata = {"name": name, "annotations": {PROVISIONED_BY: driver}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def bind_claim(
    claim: PersistentVolumeClaim, volume: PersistentVolume
) -> tuple[PersistentVolumeClaim, PersistentVolume]:
    """Claim and volume as they look once they belong to each other."""
    marks = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    metadata = claim.metadata
    annotations = {**(metadata.annotations or {}), **marks}
    claim = replace(
        claim,
        metadata=replace(metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume.name),
        status=replace(claim.status, phase="Bound"),
    )
    return claim, replace(volume, status=replace(volume.status, phase="Bound"))


def _source(driver: str, name: str) -> JsonObject:
    """A volume of a CSI driver; provisioners of other kinds (`rancher.io/local-path`) have names
    that no driver can have."""
    if "/" in driver:
        return {"hostPath": {"path": f"/var/lib/podium/volumes/{name}"}}
    return {"csi": {"driver": driver, "volumeHandle": name}}


def _reach(driver: str, labels: dict[str, str], csi_node: CSINode | None) -> list[JsonObject]:
    drivers = (csi_node.spec.drivers if csi_node is not None else None) or ()
    keys = next((entry.topology_keys for entry in drivers if entry.name == driver), None)
    return [
        {"key": key, "operator": "In", "values": [labels[key]]}
        for key in keys or ()
        if key in labels
    ]

"""Making a volume for a claim, as an external provisioner would.

The volume can be reached from the part of the cluster that shares the chosen node's values of the
driver's topology keys (from the CSINode), or from everywhere if the driver names no keys.
"""

from typing import Final

from podium.client.resources import PERSISTENT_VOLUMES
from podium.population.actions import Create
from podium.population.objects.meta import JsonObject
from podium.population.objects.nodes import Node
from podium.population.objects.storage import PROVISIONED_BY, Claim, CSINode, StorageClass

_DEFAULT_POLICY: Final = "Delete"


def provision(
    claim: Claim, storage_class: StorageClass, node: Node | None, csi_node: CSINode | None
) -> Create:
    driver = storage_class.provisioner
    name = f"pvc-{claim.metadata.uid}"
    spec: JsonObject = {
        "capacity": {"storage": (claim.spec.resources.requests or {}).get("storage", "0")},
        "accessModes": list(claim.spec.access_modes or ()),
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.namespace,
            "name": claim.name,
            "uid": claim.metadata.uid,
        },
        "persistentVolumeReclaimPolicy": storage_class.reclaim_policy or _DEFAULT_POLICY,
        "storageClassName": storage_class.name,
        **_source(driver, name),
    }
    if claim.spec.volume_mode:
        spec["volumeMode"] = claim.spec.volume_mode
    if storage_class.mount_options:
        spec["mountOptions"] = list(storage_class.mount_options)
    reach = _reach(driver, node, csi_node)
    if reach:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": reach}]}}
    metadata = {"name": name, "annotations": {PROVISIONED_BY: driver}}
    body = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}
    return Create(PERSISTENT_VOLUMES, "", body)


def _source(driver: str, name: str) -> JsonObject:
    """A volume of a CSI driver; provisioners of other kinds (`rancher.io/local-path`) have names
    that no driver can have."""
    if "/" in driver:
        return {"hostPath": {"path": f"/var/lib/podium/volumes/{name}"}}
    return {"csi": {"driver": driver, "volumeHandle": name}}


def _reach(driver: str, node: Node | None, csi_node: CSINode | None) -> list[JsonObject]:
    drivers = (csi_node.spec.drivers if csi_node is not None else None) or ()
    keys = next((entry.topology_keys for entry in drivers if entry.name == driver), None)
    labels = (node.metadata.labels if node is not None else None) or {}
    return [
        {"key": key, "operator": "In", "values": [labels[key]]}
        for key in keys or ()
        if key in labels
    ]

"""The volume controller's and the provisioners' part of binding.

The scheduler names a volume for a claim, or a node for a volume that is still to be made; others do
the rest. Offline they do it at once: a volume that names a claim becomes that claim's, and a claim
that was sent to a node gets a new volume that the node can reach.

A new volume reaches what its driver says: the part of the cluster that shares the node's values of
the driver's topology keys (from the CSINode), or every node if the driver names no keys.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from podium.api.labels import IN
from podium.api.meta import KubeStruct, ObjectMeta
from podium.api.node import Node
from podium.api.pod import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from podium.api.storage import (
    CSINode,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    StorageClass,
    VolumeNodeAffinity,
)
from podium.api.volumes import CSIPersistentSource
from podium.plugins.volume_binding.pod_volumes import BIND_COMPLETED, BOUND_BY_CONTROLLER
from podium.simulator.admission import identified, stored

NO_PROVISIONER = "kubernetes.io/no-provisioner"


def bound(
    claim: PersistentVolumeClaim, volume: PersistentVolume
) -> tuple[PersistentVolumeClaim, PersistentVolume]:
    """Claim and volume as they look once they belong to each other."""
    marks = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
    metadata = claim.metadata
    annotations = {**(metadata.annotations or {}), **marks}
    claim = replace(
        claim,
        metadata=replace(metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume.metadata.name),
        status=replace(claim.status, phase="Bound"),
    )
    return claim, replace(volume, status=replace(volume.status, phase="Bound"))


def provisioned(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    node: Node | None = None,
    csi_node: CSINode | None = None,
) -> PersistentVolume:
    """A volume made for a claim, on a node if one was chosen."""
    name = f"pvc-{claim.metadata.uid}"
    metadata = claim.metadata
    return identified(
        PersistentVolume(
            metadata=ObjectMeta(name=name),
            spec=PersistentVolumeSpec(
                capacity=claim.spec.resources.requests,
                access_modes=claim.spec.access_modes,
                claim_ref=ObjectReference(
                    api_version="v1",
                    kind="PersistentVolumeClaim",
                    namespace=metadata.namespace,
                    name=metadata.name,
                    uid=metadata.uid,
                ),
                storage_class_name=storage_class.metadata.name,
                volume_mode=claim.spec.volume_mode,
                node_affinity=_reach(storage_class.provisioner, node, csi_node),
                csi=CSIPersistentSource(driver=storage_class.provisioner, volume_handle=name),
            ),
        )
    )


def provision_at_once(objects: Iterable[KubeStruct]) -> list[KubeStruct]:
    """Give claims of immediate classes their volumes, which no scheduler waits to be asked for.

    A claim that a server has stored and that is still unbound has a reason for it and stays so.
    """
    found = list(objects)
    classes = {obj.metadata.name: obj for obj in found if isinstance(obj, StorageClass)}
    settled: list[KubeStruct] = []
    for obj in found:
        if isinstance(obj, PersistentVolumeClaim) and not obj.spec.volume_name and not stored(obj):
            entry = classes.get(obj.spec.storage_class_name or "")
            if entry is not None and _is_immediate(entry):
                settled.extend(bound(obj, provisioned(obj, entry)))
                continue
        settled.append(obj)
    return settled


def _is_immediate(entry: StorageClass) -> bool:
    mode, provisioner = entry.volume_binding_mode, entry.provisioner
    return mode == "Immediate" and bool(provisioner) and provisioner != NO_PROVISIONER


def _reach(driver: str, node: Node | None, csi_node: CSINode | None) -> VolumeNodeAffinity | None:
    drivers = csi_node.spec.drivers or () if csi_node is not None else ()
    keys = next((entry.topology_keys for entry in drivers if entry.name == driver), None)
    labels = (node.metadata.labels or {}) if node is not None else {}
    wanted = tuple(
        NodeSelectorRequirement(key=key, operator=IN, values=(labels[key],))
        for key in keys or ()
        if key in labels
    )
    if not wanted:
        return None
    term = NodeSelectorTerm(match_expressions=wanted)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))

"""The volume controller's and the provisioners' part of binding.

The scheduler names a volume for a claim, or a node for a volume that is still to be made; others do
the rest. Offline they do it at once: a volume that names a claim becomes that claim's, and a claim
that was sent to a node gets a new volume that the node can reach
(`kubernetes.controllers.provisioning`).
"""

from collections.abc import Iterable

from podium.kubernetes.controllers.provisioning import bind_claim, can_provision, provisioned_volume
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.offline.simulate.admission import assign_uid, is_stored


def provision_volume(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    node: Node | None = None,
    csi_node: CSINode | None = None,
) -> PersistentVolume:
    """A volume made for a claim, on a node if one was chosen."""
    labels = node.metadata.labels if node is not None else None
    body = provisioned_volume(claim, storage_class, labels, csi_node)
    return assign_uid(convert_object(body, PersistentVolume, strict=False))


def provision_at_once(objects: Iterable[KubeObject]) -> list[KubeObject]:
    """Give claims of immediate classes their volumes, which no scheduler waits to be asked for.

    A claim that a server has stored and that is still unbound has a reason for it and stays so.
    """
    found = list(objects)
    classes = {obj.name: obj for obj in found if isinstance(obj, StorageClass)}
    settled: list[KubeObject] = []
    for obj in found:
        if (
            isinstance(obj, PersistentVolumeClaim)
            and not obj.spec.volume_name
            and not is_stored(obj)
        ):
            entry = classes.get(obj.spec.storage_class_name or "")
            is_immediate = entry is not None and entry.volume_binding_mode == "Immediate"
            if entry is not None and is_immediate and can_provision(entry):
                settled.extend(bind_claim(obj, provision_volume(obj, entry)))
                continue
        settled.append(obj)
    return settled

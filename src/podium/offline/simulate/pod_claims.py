"""Claims that controllers make for a pod once it exists (`kubernetes.controllers.pod_templates`).

The scheduler waits for them, so offline they are made here for pods that lack them.

The volume controller's and the provisioners' part of binding. The scheduler names a volume for a
claim, or a node for a volume that is still to be made; others do the rest. Offline they do it at
once: a volume that names a claim becomes that claim's, and a claim that was sent to a node gets a
new volume that the node can reach (`kubernetes.controllers.provisioning`).
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from podium.kubernetes.controllers.pod_templates import device_claim, volume_claim
from podium.kubernetes.controllers.provisioning import bind_claim, can_provision, provisioned_volume
from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimTemplate
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodResourceClaimStatus
from podium.kubernetes.kinds.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.kinds.typed_objects import convert_object
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid, is_stored
from podium.offline.simulate.object_lookup import as_json

Key = tuple[type, str, str]


class ClaimMaker:
    def __init__(self, objects: Iterable[KubeObject], admission: Admission) -> None:
        self._admission = admission
        self._there: dict[Key, KubeObject] = {
            (type(obj), obj.namespace, obj.name): obj
            for obj in objects
            if isinstance(obj, ResourceClaimTemplate | PersistentVolumeClaim)
        }

    def make(self, pod: Pod) -> tuple[Pod, list[KubeObject]]:
        """The pod with its claims' names in its status, and the claims to add."""
        made: list[KubeObject] = list(self._volume_claims(pod))
        statuses = list(pod.status.resource_claim_statuses or ())
        told = {status.name for status in statuses}
        for entry in pod.spec.resource_claims or ():
            template = self._template(pod, entry.resource_claim_template_name)
            if template is None or entry.name in told:
                continue
            body = device_claim(pod.metadata, entry.name, as_json(template.spec))
            # Named without the random part, so that two runs can be compared.
            body["metadata"]["name"] = name = f"{pod.name}-{entry.name}"
            body["metadata"]["namespace"] = pod.namespace
            made.append(assign_uid(self._admission.admit_leniently(body, ResourceClaim)))
            statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=name))
        if len(statuses) > len(told):
            status = replace(pod.status, resource_claim_statuses=tuple(statuses))
            pod = replace(pod, status=status)
        return pod, made

    def _volume_claims(self, pod: Pod) -> Iterator[PersistentVolumeClaim]:
        for volume in pod.spec.volumes or ():
            template = volume.ephemeral.volume_claim_template if volume.ephemeral else None
            if template is None:
                continue
            body = volume_claim(pod.metadata, volume.name, as_json(template))
            body["metadata"]["namespace"] = pod.namespace
            key = (PersistentVolumeClaim, pod.namespace, body["metadata"]["name"])
            if key not in self._there:
                yield assign_uid(self._admission.admit_leniently(body, PersistentVolumeClaim))

    def _template(self, pod: Pod, name: str | None) -> ResourceClaimTemplate | None:
        found = self._there.get((ResourceClaimTemplate, pod.namespace, name or ""))
        return found if isinstance(found, ResourceClaimTemplate) else None


class PodClaims:
    """Makes the claims of a new pod, as controllers and provisioners would."""

    def __init__(self, objects: Iterable[KubeObject], gates: FeatureGates) -> None:
        """Of `objects`, templates of claims and classes count."""
        there = [obj for obj in objects if isinstance(obj, ResourceClaimTemplate | StorageClass)]
        self._claims = ClaimMaker(there, Admission(gates, there))
        self._classes = [obj for obj in there if isinstance(obj, StorageClass)]

    def make(self, pod: Pod, more: Iterable[KubeObject] = ()) -> tuple[Pod, list[KubeObject]]:
        """The pod with its claims' names, and the claims and volumes to add, `more` among them."""
        pod, claims = self._claims.make(pod)
        provisioned = provision_at_once([*self._classes, *claims, *more])
        return pod, [obj for obj in provisioned if not isinstance(obj, StorageClass)]


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
    """Give claims of immediate classes their volumes, that no scheduler waits for.

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

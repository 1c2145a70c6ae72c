"""Claims that controllers make for a pod once it exists (`kubernetes.controllers.resource_claims`).

The scheduler waits for them, so offline they are made here for pods that lack them: which ones, and
of what, the functions of those controllers decide.

The volume controller's and the provisioners' part of binding. The scheduler names a volume for a
claim, or a node for a volume that is still to be made; others do the rest. Offline they do it at
once: a volume that names a claim becomes that claim's, and a claim that was sent to a node gets a
new volume that the node can reach (`kubernetes.controllers.provisioning`).
"""

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from podium.kubernetes.controllers import pods as seen_pods
from podium.kubernetes.controllers.controller import Action, CreateAction
from podium.kubernetes.controllers.pod_templates import POD_CLAIM
from podium.kubernetes.controllers.pod_templates import ResourceClaimTemplate as SeenTemplate
from podium.kubernetes.controllers.provisioning import bind_claim, can_provision, provisioned_volume
from podium.kubernetes.controllers.resource_claims import device_claims, volume_claims
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

K = TypeVar("K", bound=KubeObject)
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
        is_ephemeral = any(volume.ephemeral for volume in pod.spec.volumes or ())
        if not is_ephemeral and not pod.spec.resource_claims:
            return pod, []
        seen = msgspec.convert(as_json(pod), seen_pods.Pod)
        made: list[KubeObject] = [
            self._create(pod, action, PersistentVolumeClaim)
            for action in volume_claims(seen, lambda name: self._has_claim(pod, name))
        ]
        news: list[PodResourceClaimStatus] = []
        for action in device_claims(seen, (), lambda name: self._template(pod, name)):
            assert isinstance(action, CreateAction)
            entry = action.body["metadata"]["annotations"][POD_CLAIM]
            # Named without the random part, so that two runs can be compared.
            name = f"{pod.name}-{entry}"
            made.append(self._create(pod, action, ResourceClaim, name))
            news.append(PodResourceClaimStatus(name=entry, resource_claim_name=name))
        if news:
            told = (*(pod.status.resource_claim_statuses or ()), *news)
            pod = replace(pod, status=replace(pod.status, resource_claim_statuses=told))
        return pod, made

    def _create(self, pod: Pod, action: Action, struct: type[K], name: str = "") -> K:
        assert isinstance(action, CreateAction)
        body = action.body
        body["metadata"]["namespace"] = pod.namespace
        if name:
            body["metadata"]["name"] = name
        return assign_uid(self._admission.admit_leniently(body, struct))

    def _has_claim(self, pod: Pod, name: str) -> bool:
        return (PersistentVolumeClaim, pod.namespace, name) in self._there

    def _template(self, pod: Pod, name: str) -> SeenTemplate | None:
        found = self._there.get((ResourceClaimTemplate, pod.namespace, name))
        return None if found is None else msgspec.convert(as_json(found), SeenTemplate)


class PodClaimMaker:
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

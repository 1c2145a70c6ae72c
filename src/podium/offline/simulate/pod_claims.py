"""Claims that controllers make for a pod once it exists (`podium.kubernetes.controllers.claims`).

The scheduler waits for them, so offline they are made here for pods that lack them.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from podium.kubernetes.controllers.claims import device_claim, volume_claim
from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimTemplate
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, PodResourceClaimStatus
from podium.kubernetes.kinds.storage import PersistentVolumeClaim, StorageClass
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid
from podium.offline.simulate.object_lookup import as_json
from podium.offline.simulate.volumes import provision_at_once

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

"""Claims that controllers make for a pod once it exists (`podium.kubernetes.controllers.claims`).

The scheduler waits for them, so offline they are made here for pods that lack them.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceClaimTemplate
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.kinds.pod import Pod, PodResourceClaimStatus
from podium.kubernetes.kinds.storage import PersistentVolumeClaim, StorageClass
from podium.simulator.admission import Admission, assign_uid
from podium.simulator.volumes import provision_at_once
from podium.kubernetes.controllers.claims import device_claim, volume_claim

Key = tuple[type, str, str]


class ClaimMaker:
    def __init__(self, objects: Iterable[KubeObject]) -> None:
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
            body = device_claim(pod.metadata, entry.name, msgspec.to_builtins(template.spec))
            # Named without the random part, so that two runs can be compared.
            body["metadata"]["name"] = name = f"{pod.name}-{entry.name}"
            body["metadata"]["namespace"] = pod.namespace
            made.append(assign_uid(msgspec.convert(body, ResourceClaim)))
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
            body = volume_claim(pod.metadata, volume.name, msgspec.to_builtins(template))
            body["metadata"]["namespace"] = pod.namespace
            claim = assign_uid(msgspec.convert(body, PersistentVolumeClaim))
            if (PersistentVolumeClaim, *claim.metadata.key) not in self._there:
                yield claim

    def _template(self, pod: Pod, name: str | None) -> ResourceClaimTemplate | None:
        found = self._there.get((ResourceClaimTemplate, pod.namespace, name or ""))
        return found if isinstance(found, ResourceClaimTemplate) else None


class PodClaims:
    """Makes the claims of a new pod, as controllers and provisioners would."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        """Of `objects`, templates of claims and classes count."""
        there = [obj for obj in objects if isinstance(obj, ResourceClaimTemplate | StorageClass)]
        self._claims = ClaimMaker(there)
        self._admission = Admission(there)
        self._classes = [obj for obj in there if isinstance(obj, StorageClass)]

    def make(self, pod: Pod, more: Iterable[KubeObject] = ()) -> tuple[Pod, list[KubeObject]]:
        """The pod with its claims' names, and the claims and volumes to add, `more` among them."""
        pod, made = self._claims.make(pod)
        claims = [self._admission.admit(assign_uid(claim)) for claim in made]
        provisioned = provision_at_once([*self._classes, *claims, *more])
        return pod, [obj for obj in provisioned if not isinstance(obj, StorageClass)]

"""Claims that controllers make for a pod once it exists.

A generic ephemeral volume is a PersistentVolumeClaim named after pod and volume; a claim template
becomes a ResourceClaim whose name is written into the pod's status. The scheduler waits for both,
so offline they are made here for pods that lack them.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from podium.api.devices import ResourceClaim, ResourceClaimTemplate
from podium.api.meta import KubeStruct, ObjectMeta, OwnerReference
from podium.api.pod import Pod, PodResourceClaimStatus
from podium.api.storage import PersistentVolumeClaim
from podium.simulator.admission import identified, metadata_of

Key = tuple[type, str, str]


class ClaimMaker:
    def __init__(self, objects: Iterable[KubeStruct]) -> None:
        self._there: dict[Key, KubeStruct] = {
            (type(obj), metadata_of(obj).namespace, metadata_of(obj).name): obj for obj in objects
        }

    def make(self, pod: Pod) -> tuple[Pod, list[KubeStruct]]:
        """The pod with its claims' names in its status, and the claims to add."""
        made: list[KubeStruct] = list(self._volume_claims(pod))
        statuses = list(pod.status.resource_claim_statuses or ())
        told = {status.name for status in statuses}
        for entry in pod.spec.resource_claims or ():
            template = self._template(pod, entry.resource_claim_template_name)
            if template is None or entry.name in told:
                continue
            name = f"{pod.metadata.name}-{entry.name}"
            claim = ResourceClaim(metadata=_metadata(pod, name), spec=template.spec.spec)
            made.append(identified(claim))
            statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=name))
        if len(statuses) > len(told):
            status = replace(pod.status, resource_claim_statuses=tuple(statuses))
            pod = replace(pod, status=status)
        return pod, made

    def _volume_claims(self, pod: Pod) -> Iterator[KubeStruct]:
        for volume in pod.spec.volumes or ():
            template = volume.ephemeral.volume_claim_template if volume.ephemeral else None
            if template is None:
                continue
            name = f"{pod.metadata.name}-{volume.name}"
            if (PersistentVolumeClaim, pod.metadata.namespace, name) in self._there:
                continue
            metadata = replace(_metadata(pod, name), labels=template.metadata.labels)
            yield identified(PersistentVolumeClaim(metadata=metadata, spec=template.spec))

    def _template(self, pod: Pod, name: str | None) -> ResourceClaimTemplate | None:
        found = self._there.get((ResourceClaimTemplate, pod.metadata.namespace, name or ""))
        return found if isinstance(found, ResourceClaimTemplate) else None


def _metadata(pod: Pod, name: str) -> ObjectMeta:
    owner = OwnerReference(
        api_version="v1",
        kind="Pod",
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        controller=True,
    )
    return ObjectMeta(name=name, namespace=pod.metadata.namespace, owner_references=(owner,))

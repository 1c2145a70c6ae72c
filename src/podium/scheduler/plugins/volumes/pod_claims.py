"""What the volume plugins ask about claims: which ones a pod uses, whose they are, their class.

A pod names a claim in two ways: a `persistentVolumeClaim` volume says the name, a generic ephemeral
volume implies it. Four plugins walk these volumes, each with its own idea of which problems matter,
so the walk and the texts users see are here once.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.kubernetes.kinds.volumes import Volume, ephemeral_claim_name
from podium.kubernetes.rules.storage_classes import CLASS_ANNOTATION
from podium.scheduler.cluster.catalog import Catalog

NO_CLAIM_NAME = "PersistentVolumeClaim had no name"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class PodVolumeClaim(NamedTuple):
    """A claim a pod uses; an ephemeral one is made for this pod and must belong to it."""

    name: str
    ephemeral: bool


class BindingModeUnset(ValueError):
    """A StorageClass that does not say when to bind, which the API server always fills in."""

    def __init__(self, class_name: str) -> None:
        super().__init__(f'VolumeBindingMode not set for StorageClass "{class_name}"')


def claim_of(pod: Pod, volume: Volume) -> PodVolumeClaim | None:
    """The claim behind one volume of a pod, if there is one."""
    if volume.persistent_volume_claim is not None:
        return PodVolumeClaim(volume.persistent_volume_claim.claim_name, ephemeral=False)
    if volume.ephemeral is not None:
        return PodVolumeClaim(ephemeral_claim_name(pod.metadata.name, volume.name), ephemeral=True)
    return None


def claims_of(pod: Pod) -> Iterator[PodVolumeClaim]:
    """The claims of a pod in the order of its volumes; one used twice comes twice."""
    for volume in pod.spec.volumes or ():
        claim = claim_of(pod, volume)
        if claim is not None:
            yield claim


def named_claims(pod: Pod) -> Iterator[str]:
    """Claims that `persistentVolumeClaim` volumes name; generic ephemeral volumes left out."""
    return (claim.name for claim in claims_of(pod) if not claim.ephemeral)


def uses_claim(pod: Pod, claim: PersistentVolumeClaim, *, ephemeral: bool) -> bool:
    """Whether a pod uses this claim; `ephemeral` also counts claims it only implies."""
    if claim.metadata.namespace != pod.metadata.namespace:
        return False
    return any(
        used.name == claim.metadata.name and (ephemeral or not used.ephemeral)
        for used in claims_of(pod)
    )


def find_claim(catalog: Catalog, pod: Pod, name: str) -> PersistentVolumeClaim | None:
    return catalog.get(PersistentVolumeClaim, name, pod.metadata.namespace)


def controls(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    """Whether the pod is the claim's controlling owner."""
    owners = claim.metadata.owner_references or ()
    controller = next((owner for owner in owners if owner.controller), None)
    return controller is not None and controller.uid == pod.metadata.uid


def not_owner(pod: Pod, claim: PersistentVolumeClaim) -> str:
    return (
        f"PVC {claim.metadata.namespace}/{claim.metadata.name} was not created for pod"
        f" {pod.metadata.namespace}/{pod.metadata.name} (pod is not owner)"
    )


def claim_not_found(name: str) -> str:
    return f'persistentvolumeclaim "{name}" not found'


def volume_not_found(name: str) -> str:
    return f'persistentvolume "{name}" not found'


def class_not_found(name: str) -> str:
    return f'storageclass.storage.k8s.io "{name}" not found'


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The claim's class; the beta annotation counts as soon as it is there, even empty."""
    return _class(claim.metadata.annotations, claim.spec.storage_class_name or "")


def class_of_volume(volume: PersistentVolume) -> str:
    return _class(volume.metadata.annotations, volume.spec.storage_class_name)


def waits_for_consumer(storage_class: StorageClass) -> bool:
    """Whether volumes of this class are bound only once a pod has a node."""
    if storage_class.volume_binding_mode is None:
        raise BindingModeUnset(storage_class.metadata.name)
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _class(annotations: Mapping[str, str] | None, written: str) -> str:
    return (annotations or {}).get(CLASS_ANNOTATION, written)

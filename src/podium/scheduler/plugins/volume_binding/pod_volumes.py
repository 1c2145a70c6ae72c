"""What VolumeBinding works with: a pod's claims by what is to be done, and the plan for them."""

from dataclasses import dataclass, field

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import (
    BIND_COMPLETED,
    SELECTED_NODE,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.kubernetes.rules.quantity import nano, value
from podium.scheduler.cluster.catalog import Catalog, object_key
from podium.scheduler.plugins.volume_binding.assumed_objects import AssumedObjects, not_found
from podium.scheduler.plugins.volumes.pod_claims import (
    PodClaim,
    claims_of,
    class_of_claim,
    controls,
    not_owner,
    waits_for_consumer,
)

STORAGE = "storage"


class ClaimError(Exception):
    """A claim that cannot be classified, which ends the attempt."""


@dataclass(slots=True)
class PodClaims:
    """A pod's claims in volume order: bound, to be bound with a node in mind, or overdue."""

    bound: list[PersistentVolumeClaim] = field(default_factory=list)
    delayed: list[PersistentVolumeClaim] = field(default_factory=list)
    immediate: list[PersistentVolumeClaim] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StaticBinding:
    """A claim and the existing volume chosen for it."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


@dataclass(frozen=True, slots=True)
class Provision:
    """A claim whose volume is to be made, and the capacity that promised room for it."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None = None


@dataclass(slots=True)
class PodVolumes:
    """The plan for a pod's claims on one node; once reserved it holds the assumed objects."""

    bindings: list[StaticBinding] = field(default_factory=list)
    provisions: list[Provision] = field(default_factory=list)


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in (claim.metadata.annotations or {})


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """The node a provisioner has been told to make the volume for."""
    return (claim.metadata.annotations or {}).get(SELECTED_NODE)


def requested_nano(claim: PersistentVolumeClaim) -> int:
    """How much a claim asks for, exactly; nothing is 0."""
    return nano((claim.spec.resources.requests or {}).get(STORAGE, 0))


def requested_bytes(claim: PersistentVolumeClaim) -> int | None:
    written = (claim.spec.resources.requests or {}).get(STORAGE)
    return value(written) if written is not None else None


def classify(
    pod: Pod, claims: AssumedObjects[PersistentVolumeClaim], catalog: Catalog
) -> PodClaims:
    found = PodClaims()
    delayed: dict[str, bool] = {}
    for used in claims_of(pod):
        claim = find(pod, used, claims)
        if is_fully_bound(claim):
            found.bound.append(claim)
        elif not claim.spec.volume_name and _is_delayed(class_of_claim(claim), catalog, delayed):
            found.delayed.append(claim)
        else:
            # A claim that names its volume is the volume controller's to bind, whatever its class.
            found.immediate.append(claim)
    return found


def all_bound(pod: Pod, claims: AssumedObjects[PersistentVolumeClaim]) -> bool:
    try:
        return all(is_fully_bound(find(pod, used, claims)) for used in claims_of(pod))
    except ClaimError:
        return False


def find(
    pod: Pod, used: PodClaim, claims: AssumedObjects[PersistentVolumeClaim]
) -> PersistentVolumeClaim:
    key = f"{pod.metadata.namespace}/{used.name}"
    claim = claims.get(key)
    if claim is None:
        missing = not_found(PersistentVolumeClaim, key)
        raise ClaimError(f'error getting PVC "{key}": {missing}')
    if used.ephemeral and not controls(pod, claim):
        raise ClaimError(not_owner(pod, claim))
    return claim


def claim_key(claim: PersistentVolumeClaim) -> str:
    return object_key(claim.metadata)


def _is_delayed(class_name: str, catalog: Catalog, known: dict[str, bool]) -> bool:
    """Whether claims of a class wait for a node; `known` are the classes asked about before."""
    if class_name not in known:
        storage_class = catalog.get(StorageClass, class_name) if class_name else None
        known[class_name] = storage_class is not None and waits_for_consumer(storage_class)
    return known[class_name]

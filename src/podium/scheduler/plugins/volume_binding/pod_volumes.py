"""A pod's claims by what is to be done, the plan for them, and what is decided but not yet shown.

What the scheduler has decided about volumes and claims but the API server does not show yet.
Between Reserve and the API server's answer, a volume is taken and a claim is on its way although
the catalog still says otherwise. Decisions stand here as changed copies laid over the catalog. A
copy holds only while the object it was made from is the current one: as soon as the API server
shows something newer, that is the truth and the copy is forgotten.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

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
from podium.scheduler.plugins.volumes.pod_claims import (
    PodClaim,
    claims_of,
    class_of_claim,
    controls,
    not_owner,
    waits_for_consumer,
)

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)

_RESOURCE_NAMES: dict[type, str] = {
    PersistentVolume: "persistentvolumes",
    PersistentVolumeClaim: "persistentvolumeclaims",
}


class AssumeError(Exception):
    """An object changed or went away since the decision about it was made."""


class _Assumed(NamedTuple, Generic[T]):
    stored: T
    changed: T


class AssumedObjects(Generic[T]):
    """One kind of objects as the scheduler has to see them."""

    def __init__(self, catalog: Catalog, kind: type[T]) -> None:
        self._catalog = catalog
        self._kind: type[T] = kind
        self._assumed: dict[str, _Assumed[T]] = {}
        self._touched: set[str] = set()

    def get(self, key: str) -> T | None:
        """The object by its key, with the scheduler's decisions in it."""
        stored = self.stored(key)
        held = self._assumed.get(key)
        if stored is None or held is None:
            return stored
        if not _same(stored, held.stored):
            del self._assumed[key]
            return stored
        return held.changed

    def stored(self, key: str) -> T | None:
        """The object as the API server shows it."""
        return self._catalog.get(self._kind, key)

    def assume(self, changed: T) -> None:
        key = object_key(changed.metadata)
        stored = self.stored(key)
        if stored is None:
            raise AssumeError(not_found(self._kind, key))
        old, new = stored.metadata.resource_version, changed.metadata.resource_version
        if old != new:
            raise AssumeError(f'"{key}" is out of sync (stored: {old or 0}, assume: {new or 0})')
        self._assumed[key] = _Assumed(stored, changed)
        self._touched.add(key)

    def restore(self, changed: T) -> None:
        """Take a decision back, unless a newer object has made it void already."""
        key = object_key(changed.metadata)
        held = self._assumed.get(key)
        version = changed.metadata.resource_version
        if held is not None and held.changed.metadata.resource_version == version:
            del self._assumed[key]
            self._touched.add(key)

    def take_touched(self) -> Collection[str]:
        """Keys whose decisions were made or taken back since the last call."""
        touched, self._touched = self._touched, set()
        return touched


def not_found(kind: type, key: str) -> str:
    return f'{_RESOURCE_NAMES[kind]} "{key}" not found'


def _same(stored: T, before: T) -> bool:
    """Whether an object has not changed; without resource versions only identity can tell."""
    version = stored.metadata.resource_version
    if not version:
        return stored is before
    return version == before.metadata.resource_version


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

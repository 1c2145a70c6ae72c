"""Which volume suits a claim: the smallest of those that offer everything it asks for.

Class and mode must be the same, every access mode must be offered, labels must fit the claim's
selector, and the size must suffice. Where a volume can be reached is not looked at: claims for
which that matters wait for their pod, and the scheduler chooses (`pkg/volume/util`).
"""

from collections.abc import Iterable
from typing import Final

from podium.kubernetes.kinds.meta import ResourceList
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.labels import selector_or_nothing
from podium.kubernetes.rules.quantity import QuantityError, value

FILESYSTEM: Final = "Filesystem"


def size_bytes(amounts: ResourceList | None) -> int:
    try:
        return value((amounts or {}).get("storage", 0))
    except QuantityError:
        return 0


def is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume names this claim, with or without its uid."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and (reference.namespace, reference.name) == claim.metadata.key
        and reference.uid in ("", claim.metadata.uid)
    )


def suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    spec, wanted = volume.spec, claim.spec
    if volume.metadata.is_terminating or spec.storage_class_name != (
        wanted.storage_class_name or ""
    ):
        return False
    if (spec.volume_mode or FILESYSTEM) != (wanted.volume_mode or FILESYSTEM):
        return False
    if not set(wanted.access_modes or ()) <= set(spec.access_modes or ()):
        return False
    labels = volume.metadata.labels
    if wanted.selector is not None and not selector_or_nothing(wanted.selector).matches(labels):
        return False
    return size_bytes(spec.capacity) >= size_bytes(wanted.resources.requests)


def choose(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]
) -> PersistentVolume | None:
    """The volume for a claim: one that was reserved for it, or the smallest that suits it."""
    free: list[PersistentVolume] = []
    for volume in volumes:
        if volume.spec.claim_ref is None:
            if suits(volume, claim):
                free.append(volume)
        elif is_reserved_for(volume, claim):
            return volume
    return min(free, key=lambda each: (size_bytes(each.spec.capacity), each.name), default=None)

"""Existing volumes that a claim might get, by class, smallest first.

A claim takes the smallest volume that fits, so the free volumes of a class stand in order of size
and a search begins where the size suffices. Volumes that are reserved for a claim are found by that
claim. The index follows the catalog and the scheduler's own decisions change by change.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from podium.api.labels import Selector, selector_of
from podium.api.node_affinity import parse_node_selector
from podium.api.quantity import nano
from podium.api.storage import PersistentVolume, PersistentVolumeClaim
from podium.cluster.catalog import Catalog
from podium.plugins.pod_claims import class_of_claim, class_of_volume
from podium.plugins.volume_binding.assumed_objects import AssumedObjects
from podium.plugins.volume_binding.node_reach import NodeReach
from podium.plugins.volume_binding.pod_volumes import STORAGE, claim_key, requested_nano

_AVAILABLE = "Available"
_FILESYSTEM = "Filesystem"
_FEW = 64


@dataclass(frozen=True, slots=True, eq=False)
class IndexedVolume:
    """A volume with what matching compares, worked out once."""

    volume: PersistentVolume
    order: tuple[int, str]
    class_name: str
    mode: str
    attributes_class: str
    access_modes: frozenset[str]
    reserved_for: str | None
    reach: int

    @property
    def name(self) -> str:
        return self.volume.metadata.name

    @property
    def capacity_nano(self) -> int:
        return self.order[0]


@dataclass(slots=True)
class ClassVolumes:
    """Volumes of one class: free ones by (size, name), reserved ones by claim."""

    free: list[IndexedVolume] = field(default_factory=list)
    reserved: dict[str, list[IndexedVolume]] = field(default_factory=dict)

    def add(self, volume: IndexedVolume) -> None:
        if volume.reserved_for is not None:
            insort(self.reserved.setdefault(volume.reserved_for, []), volume, key=_order)
        elif volume.volume.status.phase == _AVAILABLE:
            insort(self.free, volume, key=_order)

    def discard(self, volume: IndexedVolume) -> None:
        if volume.reserved_for is None:
            _remove(self.free, volume)
        elif volume.reserved_for in self.reserved:
            _remove(self.reserved[volume.reserved_for], volume)


class ClaimWants:
    """What a claim asks of a volume; raises SelectorError if its selector cannot be parsed."""

    def __init__(self, claim: PersistentVolumeClaim) -> None:
        self.claim = claim
        self.key = claim_key(claim)
        self.class_name = class_of_claim(claim)
        self.size_nano = requested_nano(claim)
        self._mode = claim.spec.volume_mode or _FILESYSTEM
        self._attributes_class = claim.spec.volume_attributes_class_name or ""
        self._access_modes = frozenset(claim.spec.access_modes or ())
        self._selector: Selector | None = None
        if claim.spec.selector is not None:
            self._selector = selector_of(claim.spec.selector)

    def reserved(self, volumes: ClassVolumes) -> list[IndexedVolume]:
        """Volumes set aside for this very claim that are good enough to be it."""
        return [
            volume
            for volume in volumes.reserved.get(self.key, ())
            if self._is_meant_by(volume.volume) and self._fits(volume)
        ]

    def free(self, volumes: ClassVolumes) -> Iterator[IndexedVolume]:
        """Volumes this claim could take, smallest first."""
        start = bisect_left(volumes.free, (self.size_nano, ""), key=_order)
        for volume in volumes.free[start:]:
            if (
                self._fits(volume)
                and self._access_modes <= volume.access_modes
                and (
                    self._selector is None or self._selector.matches(volume.volume.metadata.labels)
                )
            ):
                yield volume

    def _is_meant_by(self, volume: PersistentVolume) -> bool:
        wanted = volume.spec.claim_ref.uid if volume.spec.claim_ref is not None else ""
        return not wanted or wanted == self.claim.metadata.uid

    def _fits(self, volume: IndexedVolume) -> bool:
        return (
            volume.capacity_nano >= self.size_nano
            and volume.mode == self._mode
            and volume.attributes_class == self._attributes_class
        )


class VolumeIndex:
    def __init__(
        self, catalog: Catalog, assumed: AssumedObjects[PersistentVolume], reach: NodeReach
    ) -> None:
        self._catalog = catalog
        self._assumed = assumed
        self._reach = reach
        self._seen = 0
        self._volumes: dict[str, IndexedVolume] = {}
        self._classes: dict[str, ClassVolumes] = {}

    def of_class(self, name: str) -> ClassVolumes:
        return self._classes.get(name) or ClassVolumes()

    def refresh(self) -> None:
        """Take over what changed since the last search."""
        changed = self._catalog.changed_since(PersistentVolume, self._seen)
        self._seen = self._catalog.version(PersistentVolume)
        touched = set(self._assumed.take_touched())
        if changed is None or len(changed) > _FEW:
            self._rebuild()
        else:
            self._update(touched.union(changed))

    def _update(self, keys: Iterable[str]) -> None:
        for key in keys:
            before = self._volumes.pop(key, None)
            if before is not None:
                self._classes[before.class_name].discard(before)
            now = self._assumed.get(key)
            # A volume that is being deleted is nobody's to take.
            if now is not None and now.metadata.deletion_timestamp is None:
                indexed = self._volumes[key] = self._indexed(now)
                self._classes.setdefault(indexed.class_name, ClassVolumes()).add(indexed)

    def _rebuild(self) -> None:
        self._volumes.clear()
        self._classes.clear()
        volumes = sorted(self._catalog.all(PersistentVolume), key=_size)
        # By rising size, so that every insertion is at the end of its list.
        self._update([volume.metadata.name for volume in volumes])

    def _indexed(self, volume: PersistentVolume) -> IndexedVolume:
        spec = volume.spec
        claim = spec.claim_ref
        required = spec.node_affinity.required if spec.node_affinity is not None else None
        terms = parse_node_selector(required) if required is not None else None
        return IndexedVolume(
            volume=volume,
            order=(_size(volume), volume.metadata.name),
            class_name=class_of_volume(volume),
            mode=spec.volume_mode or _FILESYSTEM,
            attributes_class=spec.volume_attributes_class_name or "",
            access_modes=frozenset(spec.access_modes or ()),
            reserved_for=f"{claim.namespace}/{claim.name}" if claim is not None else None,
            reach=self._reach.of_terms(terms),
        )


def _size(volume: PersistentVolume) -> int:
    return nano((volume.spec.capacity or {}).get(STORAGE, 0))


def _order(volume: IndexedVolume) -> tuple[int, str]:
    return volume.order


def _remove(volumes: list[IndexedVolume], volume: IndexedVolume) -> None:
    place = bisect_left(volumes, volume.order, key=_order)
    if place < len(volumes) and volumes[place] is volume:
        del volumes[place]

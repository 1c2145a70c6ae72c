"""Existing volumes that a claim might get, by class, smallest first.

A claim takes the smallest volume that fits, so the free volumes of a class are in order of size
and a search begins where the size suffices. Volumes that are reserved for a claim are found by that
claim. The index follows the catalog and the scheduler's own decisions change by change.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim
from podium.kubernetes.rules.labels import Selector, selector_of
from podium.kubernetes.rules.node_affinity import parse_node_selector
from podium.kubernetes.rules.quantity import nano
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Interner, Ints
from podium.scheduler.plugins.volume_binding.node_reach import NodeReach
from podium.scheduler.plugins.volume_binding.pod_volumes import (
    STORAGE,
    AssumedObjects,
    claim_key,
    requested_nano,
)
from podium.scheduler.plugins.volumes.pod_claims import class_of_claim, class_of_volume

_AVAILABLE = "Available"
_FILESYSTEM = "Filesystem"
_FEW = 64


@dataclass(frozen=True, slots=True, eq=False)
class IndexedVolume:
    """A volume with what matching compares, worked out once.

    `number` is its own and never used again; `traits` and `reach` are those of many volumes.
    """

    number: int
    volume: PersistentVolume
    order: tuple[int, str]
    class_name: str
    reserved_for: str | None
    traits: int
    reach: int

    @property
    def name(self) -> str:
        return self.volume.metadata.name

    @property
    def capacity_nano(self) -> int:
        return self.order[0]

    @property
    def columns(self) -> tuple[int, int, int]:
        return self.number, self.traits, self.reach


class Traits(NamedTuple):
    """What a claim and a volume must agree on whatever the node."""

    mode: str
    attributes_class: str
    access_modes: frozenset[str]


class Offers(NamedTuple):
    """Volumes a claim could take, best first: their numbers, and where each can be reached."""

    numbers: Ints
    reach: Ints


_NO_OFFERS = Offers(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class ClassVolumes:
    """Volumes of one class: free ones by (size, name), reserved ones by claim."""

    def __init__(self) -> None:
        self.free: list[IndexedVolume] = []
        self.reserved: dict[str, list[IndexedVolume]] = {}
        self._columns: Ints | None = None

    def add(self, volume: IndexedVolume) -> None:
        if volume.reserved_for is not None:
            insort(self.reserved.setdefault(volume.reserved_for, []), volume, key=_order)
        elif volume.volume.status.phase == _AVAILABLE:
            place = bisect_left(self.free, volume.order, key=_order)
            self.free.insert(place, volume)
            if self._columns is not None:
                self._columns = np.insert(self._columns, place, volume.columns, axis=1)

    def discard(self, volume: IndexedVolume) -> None:
        if volume.reserved_for is not None:
            self.reserved[volume.reserved_for].remove(volume)
            return
        place = bisect_left(self.free, volume.order, key=_order)
        if place < len(self.free) and self.free[place] is volume:
            del self.free[place]
            if self._columns is not None:
                self._columns = np.delete(self._columns, place, axis=1)

    def forget_columns(self) -> None:
        """Make the columns anew when they are requested, which suits many changes at once."""
        self._columns = None

    def columns(self) -> Ints:
        """Numbers, traits and reach of the free volumes, as three rows."""
        if self._columns is None:
            flat = np.array([volume.columns for volume in self.free], dtype=np.int64)
            self._columns = flat.reshape(-1, 3).T.copy()
        return self._columns


class ClaimWants:
    """What a claim asks of a volume; raises SelectorError if its selector cannot be parsed."""

    def __init__(self, claim: PersistentVolumeClaim) -> None:
        self.claim = claim
        self.key = claim_key(claim)
        self.class_name = class_of_claim(claim)
        self._size_nano = requested_nano(claim)
        self._traits = Traits(
            claim.spec.volume_mode or _FILESYSTEM,
            claim.spec.volume_attributes_class_name or "",
            frozenset(claim.spec.access_modes or ()),
        )
        self._selector: Selector | None = None
        if claim.spec.selector is not None:
            self._selector = selector_of(claim.spec.selector)

    def find_reserved(self, volumes: ClassVolumes, traits: Interner[Traits]) -> list[IndexedVolume]:
        """Volumes set aside for this very claim that are good enough to be it."""
        return [
            volume
            for volume in volumes.reserved.get(self.key, ())
            if self._is_meant_by(volume.volume)
            and volume.capacity_nano >= self._size_nano
            and traits[volume.traits][:2] == self._traits[:2]
        ]

    def free(self, volumes: ClassVolumes, traits: Interner[Traits]) -> Offers:
        """Volumes this claim could take, smallest first."""
        if not volumes.free:
            return _NO_OFFERS
        start = bisect_left(volumes.free, (self._size_nano, ""), key=_order)
        numbers, of_traits, reach = volumes.columns()[:, start:]
        fine = traits.table(self._traits, self._is_served_by)[of_traits] != 0
        if self._selector is not None:
            for place in np.flatnonzero(fine).tolist():
                labels = volumes.free[start + place].volume.metadata.labels
                fine[place] = self._selector.matches(labels)
        return Offers(numbers[fine], reach[fine])

    def _is_served_by(self, traits: Traits) -> bool:
        wanted = self._traits
        return traits[:2] == wanted[:2] and wanted.access_modes <= traits.access_modes

    def _is_meant_by(self, volume: PersistentVolume) -> bool:
        wanted = volume.spec.claim_ref.uid if volume.spec.claim_ref is not None else ""
        return not wanted or wanted == self.claim.metadata.uid


class VolumeIndex:
    def __init__(
        self, catalog: Catalog, assumed: AssumedObjects[PersistentVolume], reach: NodeReach
    ) -> None:
        self._catalog = catalog
        self._assumed = assumed
        self._reach = reach
        self._seen = 0
        self._volumes: dict[str, IndexedVolume] = {}
        self._by_number: dict[int, IndexedVolume] = {}
        self._classes: dict[str, ClassVolumes] = {}
        self._traits: Interner[Traits] = Interner()
        self._made = 0

    @property
    def by_number(self) -> Mapping[int, IndexedVolume]:
        return self._by_number

    def find_reserved(self, wants: ClaimWants) -> list[IndexedVolume]:
        return wants.find_reserved(self.of_class(wants.class_name), self._traits)

    def free(self, wants: ClaimWants) -> Offers:
        return wants.free(self.of_class(wants.class_name), self._traits)

    def has_volumes(self, class_name: str) -> bool:
        """Whether there are volumes of a class that a claim may take, or that wait for one."""
        volumes = self._classes.get(class_name)
        return volumes is not None and bool(volumes.free or any(volumes.reserved.values()))

    def of_class(self, name: str) -> ClassVolumes:
        return self._classes.get(name) or ClassVolumes()

    def refresh(self) -> None:
        """Take over what changed since the last search."""
        changed = self._catalog.changed_since(PersistentVolume, self._seen)
        self._seen = self._catalog.version(PersistentVolume)
        touched = set(self._assumed.take_touched())
        if changed is None:
            self._rebuild()
            return
        touched.update(changed)
        if len(touched) > _FEW:
            for volumes in self._classes.values():
                volumes.forget_columns()
        self._update(touched)

    def _update(self, keys: Iterable[str]) -> None:
        for key in keys:
            before = self._volumes.pop(key, None)
            if before is not None:
                del self._by_number[before.number]
                self._classes[before.class_name].discard(before)
            now = self._assumed.get(key)
            # A volume that is being deleted is nobody's to take.
            if now is not None and now.metadata.deletion_timestamp is None:
                indexed = self._volumes[key] = self._index_volume(now)
                self._by_number[indexed.number] = indexed
                self._classes.setdefault(indexed.class_name, ClassVolumes()).add(indexed)

    def _rebuild(self) -> None:
        self._volumes.clear()
        self._by_number.clear()
        self._classes.clear()
        volumes = sorted(self._catalog.all(PersistentVolume), key=_size)
        # By rising size, so that every insertion is at the end of its list.
        self._update([volume.metadata.name for volume in volumes])

    def _index_volume(self, volume: PersistentVolume) -> IndexedVolume:
        spec = volume.spec
        claim = spec.claim_ref
        required = spec.node_affinity.required if spec.node_affinity is not None else None
        terms = parse_node_selector(required) if required is not None else None
        traits = Traits(
            spec.volume_mode or _FILESYSTEM,
            spec.volume_attributes_class_name or "",
            frozenset(spec.access_modes or ()),
        )
        self._made += 1
        return IndexedVolume(
            number=self._made,
            volume=volume,
            order=(_size(volume), volume.metadata.name),
            class_name=class_of_volume(volume),
            reserved_for=f"{claim.namespace}/{claim.name}" if claim is not None else None,
            traits=self._traits.id(traits),
            reach=self._reach.of_terms(terms),
        )


def _size(volume: PersistentVolume) -> int:
    return nano((volume.spec.capacity or {}).get(STORAGE, 0))


def _order(volume: IndexedVolume) -> tuple[int, str]:
    return volume.order

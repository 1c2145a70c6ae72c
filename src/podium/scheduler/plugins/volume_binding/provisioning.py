"""Where a volume for a claim can be made.

A class may restrict its volumes to parts of the cluster, and a driver may publish how much room it
has where (CSIStorageCapacity). Both are said in node labels. Every claim is checked alone: room is
not summed over claims, nor over pods.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from podium.kubernetes.kinds.storage import (
    CSIDriver,
    CSIStorageCapacity,
    StorageClass,
    TopologySelectorTerm,
)
from podium.kubernetes.rules.labels import (
    IN,
    Requirement,
    SelectorError,
    requirement_problems,
    selector_of,
)
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.plugins.volume_binding.node_reach import EVERYWHERE, NodeReach

NO_PROVISIONER = frozenset({"", "kubernetes.io/no-provisioner"})


class Rooms(NamedTuple):
    """Places with room for volumes of a class, by namespace and name."""

    capacities: Sequence[CSIStorageCapacity]
    largest_bytes: Ints
    reach: Ints

    def holding(self, size_bytes: int) -> "Rooms":
        """Those with room for a volume of this size."""
        places = np.flatnonzero(self.largest_bytes >= size_bytes)
        if len(places) == len(self.capacities):
            return self
        found = [self.capacities[place] for place in places.tolist()]
        return Rooms(found, self.largest_bytes[places], self.reach[places])


_NO_ROOMS = Rooms((), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def volume_limit(capacity: CSIStorageCapacity) -> int | None:
    """The largest volume that fits, in bytes; None if the driver does not know."""
    written = capacity.maximum_volume_size
    if written is None:
        written = capacity.capacity
    return value(written) if written is not None else None


class Provisioning:
    def __init__(self, catalog: Catalog, reach: NodeReach) -> None:
        self._catalog = catalog
        self._reach = reach
        self._seen = -1
        self._rooms: dict[str, Rooms] = {}

    def topology(self, storage_class: StorageClass) -> int:
        """The number of the nodes for which volumes of a class may be made."""
        terms = storage_class.allowed_topologies
        if not terms:
            return EVERYWHERE
        return self._reach.of_conditions(tuple(filter(None, map(_conditions, terms))))

    def tracks_capacity(self, provisioner: str) -> bool:
        driver = self._catalog.get(CSIDriver, provisioner)
        return driver is not None and bool(driver.spec.storage_capacity)

    def rooms(self, class_name: str, size_bytes: int) -> Rooms:
        version = self._catalog.version(CSIStorageCapacity)
        if version != self._seen:
            self._seen = version
            self._rooms = self._all_rooms()
        return self._rooms.get(class_name, _NO_ROOMS).holding(size_bytes)

    def _all_rooms(self) -> dict[str, Rooms]:
        found: defaultdict[str, list[tuple[CSIStorageCapacity, int, int]]] = defaultdict(list)
        for capacity in sorted(self._catalog.all(CSIStorageCapacity), key=_namespace_and_name):
            limit = volume_limit(capacity)
            if limit is None or capacity.node_topology is None:
                continue
            try:
                selector = selector_of(capacity.node_topology)
            except SelectorError:
                continue
            reach = self._reach.of_conditions((selector.requirements,))
            found[capacity.storage_class_name].append((capacity, limit, reach))
        return {
            name: Rooms(
                [capacity for capacity, _, _ in rooms],
                np.array([limit for _, limit, _ in rooms], dtype=np.int64),
                np.array([reach for _, _, reach in rooms], dtype=np.int64),
            )
            for name, rooms in found.items()
        }


def _namespace_and_name(capacity: CSIStorageCapacity) -> tuple[str, str]:
    return capacity.metadata.namespace, capacity.metadata.name


def _conditions(term: TopologySelectorTerm) -> tuple[Requirement, ...] | None:
    """The conditions of one allowed topology; one that is empty or malformed allows nothing."""
    written = term.match_label_expressions or ()
    if any(requirement_problems(e.key, IN, e.values, "") for e in written):
        return None
    return tuple(Requirement(e.key, IN, frozenset(e.values or ())) for e in written) or None

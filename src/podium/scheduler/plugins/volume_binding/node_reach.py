"""Which nodes a volume is reachable from, and where a volume for a claim can be made.

Both are said in node labels, and one cluster may have thousands of volumes that each live on one
node. So the answer is the list of rows, not a mask: it is as short as the volume is local, is found
through an index of the label's values, and is kept until a label that somebody asked for changes.
Handing out volumes to nodes treats those thousands as one array and only walks the far-reaching.

Where a volume for a claim can be made. A class may restrict its volumes to parts of the cluster,
and a driver may publish how much room it has where (CSIStorageCapacity). Both are said in node
labels. Every claim is checked alone: room is not summed over claims, nor over pods.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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
from podium.kubernetes.rules.node_affinity import NodeTerm
from podium.kubernetes.rules.quantity import value
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.growth import Codes, Interner, Ints, Mask, indices
from podium.scheduler.cluster.node_matching import labels_mask
from podium.scheduler.cluster.nodes import NodeTable

RowList = npt.NDArray[np.intp]
Alternatives = tuple[tuple[Requirement, ...], ...]
"""Conditions on labels: one of these lists must hold, all of it."""

EVERYWHERE = -1
NONE = -1

Allowed = Callable[[Ints, RowList], Mask]
"""(positions of offers, a row for each) -> whether that row may have that offer."""

_UNKNOWN, _NOWHERE, _WIDE = -3, -2, -1


class NodeReach:
    """Row lists by number: equal conditions have equal numbers."""

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: Interner[Alternatives] = Interner()
        self._rows: dict[int, RowList] = {}
        self._by_value: dict[str, tuple[RowList, npt.NDArray[np.int32]]] = {}
        self._keys: set[str] = set()
        self._state: tuple[int, ...] = ()
        self._only_row: Ints = np.zeros(0, dtype=np.int64)

    def of_terms(self, terms: tuple[NodeTerm, ...] | None) -> int:
        """The number for the terms of a volume's node affinity; None is no affinity at all.

        upstream: a volume's affinity is matched with a node that has labels and no name, on which
        conditions on fields are not looked at.
        """
        if terms is None:
            return EVERYWHERE
        return self._number(tuple(term.expressions for term in terms if term.error is None))

    def of_conditions(self, alternatives: Alternatives) -> int:
        """The number for conditions on labels."""
        return self._number(alternatives)

    def rows(self, number: int) -> RowList | None:
        """Rows that can reach it; None for all of them."""
        if number == EVERYWHERE:
            return None
        found = self._rows.get(number)
        if found is None:
            found = self._rows[number] = self._find(self._known[number])
        return found

    def mask(self, number: int) -> Mask:
        """The same as a mask over the whole table."""
        rows = self.rows(number)
        mask: Mask = np.zeros(self._nodes.size, dtype=np.bool_)
        mask[slice(None) if rows is None else rows] = True
        return mask

    def refresh(self) -> None:
        """Forget the row lists if a label they depend on changed; call it once per search."""
        labels = self._nodes.labels
        state = (self._nodes.size, *(labels.column(key).version for key in sorted(self._keys)))
        if state != self._state:
            self._rows.clear()
            self._by_value.clear()
            self._only_row = np.zeros(0, dtype=np.int64)
            self._state = state

    def first_fit(self, offers: Ints, open_rows: Mask, allowed: Allowed | None = None) -> Codes:
        """Give each open row the first offer that reaches it.

        `offers` holds the numbers of what is offered, in order of preference. Returns the position
        of each row's offer, or NONE.
        """
        late = len(offers)
        picks: Codes = np.full(len(open_rows), late, dtype=np.int32)
        only = self._only_rows(offers)
        lone = np.flatnonzero(only >= 0)
        rows = only[lone]
        if allowed is not None:
            fine = allowed(lone, rows)
            lone, rows = lone[fine], rows[fine]
        # Of several writes to one row the last one stays: backwards, that is the first offer.
        picks[rows[::-1]] = lone[::-1]
        left = open_rows.copy()
        for position in np.flatnonzero(only == _WIDE).tolist():
            reach = self.rows(int(offers[position]))
            rows = np.flatnonzero(left) if reach is None else reach[left[reach]]
            if allowed is not None:
                rows = rows[allowed(np.full(len(rows), position), rows)]
            picks[rows] = np.minimum(picks[rows], position)
            left[rows] = False
            if not left.any():
                break
        picks[~open_rows | (picks == late)] = NONE
        return picks

    def _only_rows(self, offers: Ints) -> Ints:
        """The row of each offer that reaches just one; else why not."""
        if len(self._only_row) < len(self._known):
            missing = np.full(len(self._known) - len(self._only_row), _UNKNOWN, dtype=np.int64)
            self._only_row = np.concatenate((self._only_row, missing))
        everywhere = offers == EVERYWHERE
        if everywhere.all():
            return np.full(len(offers), _WIDE, dtype=np.int64)
        for number in np.unique(offers[~everywhere & (self._only_row[offers] == _UNKNOWN)]):
            rows = self.rows(int(number))
            if rows is None or len(rows) > 1:
                self._only_row[number] = _WIDE
            else:
                self._only_row[number] = rows[0] if len(rows) else _NOWHERE
        return np.where(everywhere, _WIDE, self._only_row[offers])

    def _number(self, alternatives: Alternatives) -> int:
        if () in alternatives:
            return EVERYWHERE
        known = len(self._known)
        number = self._known.id(alternatives)
        if number == known:
            keys = {r.key for requirements in alternatives for r in requirements}
            if not keys <= self._keys:
                self._keys |= keys
                self.refresh()
        return number

    def _find(self, alternatives: Alternatives) -> RowList:
        lists = [self._find_matching_rows(requirements) for requirements in alternatives]
        if len(lists) == 1:
            return lists[0]
        return np.unique(np.concatenate(lists)) if lists else np.zeros(0, dtype=np.intp)

    def _find_matching_rows(self, requirements: tuple[Requirement, ...]) -> RowList:
        listed = next((r for r in requirements if r.operator == IN), None)
        if listed is None:
            everything = self._nodes.all_rows()
            mask = labels_mask(self._nodes, requirements, everything)
            return np.flatnonzero(mask) if mask is not None else indices(everything)
        rows = self._with_value(listed)
        others = [r for r in requirements if r is not listed]
        mask = labels_mask(self._nodes, others, rows)
        return rows if mask is None else rows[mask]

    def _with_value(self, requirement: Requirement) -> RowList:
        """Rows whose label has one of the values, through an index made once per label."""
        column = self._nodes.labels.column(requirement.key)
        index = self._by_value.get(requirement.key)
        if index is None:
            codes = column.codes[: self._nodes.size]
            order = np.argsort(codes, kind="stable")
            index = self._by_value[requirement.key] = (order, codes[order])
        order, sorted_codes = index
        found = [code for code in map(column.values.find, requirement.values) if code >= 0]
        lists = [
            order[
                np.searchsorted(sorted_codes, code) : np.searchsorted(sorted_codes, code, "right")
            ]
            for code in found
        ]
        if len(lists) == 1:
            return lists[0]
        return np.sort(np.concatenate(lists)) if lists else np.zeros(0, dtype=np.intp)


NO_PROVISIONER = frozenset({"", "kubernetes.io/no-provisioner"})


class FreeStorage(NamedTuple):
    """Capacities that volumes of a class fit into, by namespace and name."""

    capacities: Sequence[CSIStorageCapacity]
    largest_bytes: Ints
    reach: Ints

    def holding(self, size_bytes: int) -> "FreeStorage":
        """Those that a volume of this size fits into."""
        places = np.flatnonzero(self.largest_bytes >= size_bytes)
        if len(places) == len(self.capacities):
            return self
        found = [self.capacities[place] for place in places.tolist()]
        return FreeStorage(found, self.largest_bytes[places], self.reach[places])


_NO_STORAGE = FreeStorage((), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


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
        self._free: dict[str, FreeStorage] = {}

    def topology(self, storage_class: StorageClass) -> int:
        """The number of the nodes for which volumes of a class may be made."""
        terms = storage_class.allowed_topologies
        if not terms:
            return EVERYWHERE
        return self._reach.of_conditions(tuple(filter(None, map(_conditions, terms))))

    def tracks_capacity(self, provisioner: str) -> bool:
        driver = self._catalog.get(CSIDriver, provisioner)
        return driver is not None and bool(driver.spec.storage_capacity)

    def free_storage(self, class_name: str, size_bytes: int) -> FreeStorage:
        version = self._catalog.version(CSIStorageCapacity)
        if version != self._seen:
            self._seen = version
            self._free = self._read_capacities()
        return self._free.get(class_name, _NO_STORAGE).holding(size_bytes)

    def _read_capacities(self) -> dict[str, FreeStorage]:
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
            name: FreeStorage(
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

"""The static half of the cluster table: what nodes are, as columns.

A node keeps its row for its life and free rows are used again. What changes when pods come and go
is in `usage.py`; a row may hold pods before (or after) its node object exists, in which case it is
not `present` and no snapshot shows it. Every change of a row's node is logged, so that a remembered
vector can be told which of its rows are old.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.cluster.change_log import ChangeLog
from podium.scheduler.cluster.growth import Codes, Ints, Mask, RowSlice, next_capacity, wider
from podium.scheduler.cluster.images import ImageIndex
from podium.scheduler.cluster.interning import Interner
from podium.scheduler.cluster.label_columns import LabelColumns

CPU, MEMORY, EPHEMERAL_STORAGE = 0, 1, 2

MAX_UNOFFERED_RESOURCES = 64
"""How many resources that no node offers have a row in the tables because pods ask for them. A pod
may name tens of thousands, and each row is as long as the cluster."""

TaintTriple = tuple[str, str, str]


class NodeTable:
    """Rows of nodes with their labels, taints, allocatable resources, images and features."""

    def __init__(self) -> None:
        self.capacity = 0
        self.growth = 0
        """How often it has become wider or higher, for tables that grow along."""
        self.size = 0
        self.present_count = 0
        self.log = ChangeLog()
        self.membership = 0
        self.resources: Interner[str] = Interner("cpu", "memory", "ephemeral-storage")
        self.taint_sets: Interner[tuple[TaintTriple, ...]] = Interner(())
        self.feature_sets: Interner[tuple[str, ...]] = Interner(())
        self.labels = LabelColumns()
        self.images = ImageIndex()
        self.objects: list[Node | None] = []
        self.names: list[str] = []
        self.unschedulable_count = 0
        self.tainted_count = 0
        self.present: Mask = np.zeros(0, dtype=np.bool_)
        self.unschedulable: Mask = np.zeros(0, dtype=np.bool_)
        self.taint_set: Codes = np.zeros(0, dtype=np.int32)
        self.feature_set: Codes = np.zeros(0, dtype=np.int32)
        self.allowed_pods: Ints = np.zeros(0, dtype=np.int64)
        self.allocatable: Ints = np.zeros((len(self.resources), 0), dtype=np.int64)
        self.changed: Ints = np.zeros(0, dtype=np.int64)
        self.temporary: dict[str, list[int]] = {}
        """Rows at the end of the table that nodes have for a moment, by name;
        see `temporary_nodes.py`."""
        self._unoffered = 0
        self._row_of: dict[str, int] = {}
        self._free: list[int] = []

    @property
    def generation(self) -> int:
        """How many changes of node objects there were so far."""
        return self.log.generation

    def row(self, name: str) -> int:
        """The row of a name, or -1."""
        return self._row_of.get(name, -1)

    def rows_of(self, names: Sequence[str]) -> npt.NDArray[np.intp]:
        """The rows of names, which all have one."""
        rows = map(self._row_of.__getitem__, names)
        return np.fromiter(rows, dtype=np.intp, count=len(names))

    def is_present(self, name: str) -> bool:
        row = self._row_of.get(name, -1)
        return row >= 0 and bool(self.present[row])

    def all_rows(self) -> RowSlice:
        return slice(0, self.size)

    def dense(self) -> bool:
        """Whether every row of the table shows a node."""
        return self.present_count == self.size

    def resource_id(self, name: str) -> int:
        """The row of a resource in `allocatable`, made on first sight."""
        (index,) = self.resource_ids((name,))
        return index

    def resource_ids(self, names: Iterable[str]) -> list[int]:
        """The same for many, of which thousands may be new."""
        indices = [self.resources.id(name) for name in names]
        self._add_resource_rows()
        return indices

    def requested_resource_ids(self, names: Iterable[str]) -> list[int]:
        """The same for what pods on nodes ask for; -1 for what no node has ever offered and what
        has no row. Nothing fits because of it: who asks for such a resource fits nowhere."""
        indices = []
        for name in names:
            index = self.resources.find(name)
            if index < 0 and self._unoffered < MAX_UNOFFERED_RESOURCES:
                self._unoffered += 1
                index = self.resources.id(name)
            indices.append(index)
        self._add_resource_rows()
        return indices

    def _add_resource_rows(self) -> None:
        if len(self.resources) > self.allocatable.shape[0]:
            grown = np.zeros((len(self.resources), self.capacity), dtype=np.int64)
            grown[: self.allocatable.shape[0]] = self.allocatable
            self.allocatable = grown
            self.growth += 1

    def claim_row(self, name: str) -> int:
        """The row for a name, taking a free one if the name has none yet."""
        row = self._row_of.get(name)
        if row is not None:
            return row
        row = self._free.pop() if self._free else self._append_row()
        self._row_of[name] = row
        self.names[row] = name
        return row

    def claim_guest_row(self, name: str) -> int:
        """A row at the end for a node whose name may have a row already; `row` does not know it."""
        row = self._append_row()
        self.temporary.setdefault(name, []).append(row)
        self.names[row] = name
        return row

    def dismiss_guests(self) -> None:
        """Give back the rows of all temporary nodes."""
        for row in (row for rows in self.temporary.values() for row in rows):
            self.clear(row)
            self.names[row] = ""
            self.size -= 1
        self.temporary = {}

    def _append_row(self) -> int:
        row = self.size
        self.size += 1
        if self.size > self.capacity:
            self._grow(next_capacity(self.capacity, self.size))
        return row

    def release_row(self, row: int) -> None:
        """Give a row back; its node must be gone and it must hold no pods."""
        del self._row_of[self.names[row]]
        self.names[row] = ""
        self._free.append(row)

    def put(self, row: int, node: Node) -> None:
        """Write a node's columns."""
        if not self.present[row]:
            self.present[row] = True
            self.present_count += 1
            self.membership += 1
        self.objects[row] = node
        self.labels.put(row, node.metadata.labels or {})
        self._mark(row, node.spec.unschedulable, self._taints(node))
        self.feature_set[row] = self.feature_sets.id(tuple(node.status.declared_features or ()))
        self.images.put(row, node.status.images)
        self._put_allocatable(row, node)
        self._touch(row)

    def clear(self, row: int) -> None:
        """Take a node's columns away; pods may still hold the row."""
        if not self.present[row]:
            return
        self.present[row] = False
        self.present_count -= 1
        self.membership += 1
        self.objects[row] = None
        self.labels.put(row, None)
        self._mark(row, unschedulable=False, taints=())
        self.feature_set[row] = 0
        self.images.put(row, None)
        self.allocatable[:, row] = 0
        self.allowed_pods[row] = 0
        self._touch(row)

    def node(self, row: int) -> Node:
        node = self.objects[row]
        if node is None:
            raise LookupError(f"row {row} holds no node")
        return node

    def changed_since(self, generation: int) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.changed[: self.size] > generation)

    def _taints(self, node: Node) -> tuple[TaintTriple, ...]:
        return tuple((t.key, t.value, t.effect) for t in node.spec.taints or ())

    def _mark(self, row: int, unschedulable: bool, taints: tuple[TaintTriple, ...]) -> None:
        self.unschedulable_count += int(unschedulable) - int(self.unschedulable[row])
        self.unschedulable[row] = unschedulable
        code = self.taint_sets.id(taints)
        self.tainted_count += int(code != 0) - int(self.taint_set[row] != 0)
        self.taint_set[row] = code

    def _put_allocatable(self, row: int, node: Node) -> None:
        vector = allocatable_vector(node.status.allocatable)
        self.allowed_pods[row] = vector.pop("pods", 0)
        indices = self.resource_ids(vector)
        self.allocatable[:, row] = 0
        for index, amount in zip(indices, vector.values(), strict=True):
            self.allocatable[index, row] = amount

    def _touch(self, row: int) -> None:
        self.changed[row] = self.log.note(row)

    def _grow(self, capacity: int) -> None:
        self.capacity = capacity
        self.growth += 1
        self.labels.grow(capacity)
        self.objects.extend([None] * (capacity - len(self.objects)))
        self.names.extend([""] * (capacity - len(self.names)))
        self.present = wider(self.present, capacity)
        self.unschedulable = wider(self.unschedulable, capacity)
        self.taint_set = wider(self.taint_set, capacity)
        self.feature_set = wider(self.feature_set, capacity)
        self.allowed_pods = wider(self.allowed_pods, capacity)
        self.allocatable = wider(self.allocatable, capacity)
        self.changed = wider(self.changed, capacity)

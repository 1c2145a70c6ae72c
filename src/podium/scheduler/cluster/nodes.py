"""The static half of the cluster table: what nodes are, as columns, with their labels and images.

A node keeps its row for its life and free rows are used again. What changes when pods come and go
is in `usage.py`; a row may hold pods before (or after) its node object exists, in which case it is
not `present` and no snapshot shows it. Every change of a row's node is logged, so that a remembered
vector can be told which of its rows are old.

Node labels as columns of value ids. A label key gets a column the first time a selector, an
affinity term or a topology key asks for it; from then on each node change keeps the column current.
-1 stands for "no such label".

Pods may name any number of keys that no node has. Such keys get a column of their own only while
there are few of them; all others share one without any value, so that neither memory nor the work
for a node grows with what pods name.

Which nodes hold which images. An image name has one size for the whole cluster, the one reported by
the first node that listed it; a later node with another size does not change it, and the name goes
with its last node. That is what ImageLocality reads (spec: image states).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from podium.golang.errors import closest
from podium.kubernetes.kinds.node import ContainerImage, Node
from podium.kubernetes.rules.requests import allocatable_vector
from podium.scheduler.cluster.growth import (
    ChangeLog,
    Codes,
    Interner,
    Ints,
    Mask,
    RowSlice,
    next_capacity,
    wider,
)

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
        see `trials.py`."""
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


ABSENT = -1

_MAX_UNUSED = 256
"""Columns that are kept for keys that no node has."""


class LabelColumn:
    """One label key over all rows."""

    __slots__ = ("codes", "values", "version")

    def __init__(self, capacity: int) -> None:
        self.codes: Codes = np.full(capacity, ABSENT, dtype=np.int32)
        self.values: Interner[str] = Interner()
        self.version = 0

    def put(self, row: int, value: str | None) -> None:
        code = ABSENT if value is None else self.values.id(value)
        if self.codes[row] != code:
            self.codes[row] = code
            self.version += 1


class LabelColumns:
    """All label columns in use, plus the label maps that new ones are made from."""

    def __init__(self) -> None:
        self._columns: dict[str, LabelColumn] = {}
        self._labels: list[Mapping[str, str] | None] = []
        self._rows_with: dict[str, int] = {}
        self._unused = 0
        self._empty = LabelColumn(0)
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        self._empty = LabelColumn(capacity)
        self._labels.extend([None] * (capacity - len(self._labels)))
        for column in self._columns.values():
            column.codes = wider(column.codes, capacity, ABSENT)

    def put(self, row: int, labels: Mapping[str, str] | None) -> None:
        """Set the labels of a row; None takes the row out of every column."""
        self._count_keys(self._labels[row], labels)
        self._labels[row] = labels
        for key, column in self._columns.items():
            column.put(row, labels.get(key) if labels else None)

    def column(self, key: str) -> LabelColumn:
        """The column of a key; not to be kept for longer than an attempt takes."""
        found = self._columns.get(key)
        if found is not None:
            return found
        if key not in self._rows_with:
            if self._unused >= _MAX_UNUSED:
                return self._empty
            self._unused += 1
        found = self._columns[key] = LabelColumn(self._capacity)
        for row, labels in enumerate(self._labels):
            if labels and key in labels:
                found.put(row, labels[key])
        return found

    def _count_keys(
        self, before: Mapping[str, str] | None, after: Mapping[str, str] | None
    ) -> None:
        gone, come = (before or {}).keys(), (after or {}).keys()
        if gone == come:
            return
        rows_with = self._rows_with
        for key in come - gone:
            rows_with[key] = rows_with.get(key, 0) + 1
        for key in gone - come:
            rows_with[key] -= 1
            if not rows_with[key]:
                del rows_with[key]

    def codes(self, key: str) -> Codes:
        return self.column(key).codes

    def labels_of(self, row: int) -> Mapping[str, str]:
        return self._labels[row] or {}

    def keys(self) -> Sequence[str]:
        return tuple(self._columns)

    def closest_key(self, key: str) -> str:
        """The key of some node that may have been meant by one that no node has; "" if there is
        none like it."""
        return "" if key in self._rows_with else closest(key, sorted(self._rows_with))


class ImageState:
    __slots__ = ("_array", "_rows", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._rows: set[int] = set()
        self._array: npt.NDArray[np.intp] | None = None

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        if self._array is None:
            self._array = np.fromiter(self._rows, dtype=np.intp, count=len(self._rows))
        return self._array

    @property
    def node_count(self) -> int:
        return len(self._rows)

    def add(self, row: int) -> None:
        self._rows.add(row)
        self._array = None

    def discard(self, row: int) -> None:
        self._rows.discard(row)
        self._array = None


class ImageIndex:
    """Image names to their states, and the reverse for taking a node out."""

    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}
        self._listed: dict[int, tuple[ContainerImage, ...]] = {}
        self.version = 0

    def put(self, row: int, images: tuple[ContainerImage, ...] | None) -> None:
        """Replace what a row lists.

        upstream: the node is taken out before it is put in again, so a name that only this node
        lists gets the size it reports now.
        """
        before, now = self._listed.pop(row, ()), images or ()
        if now:
            self._listed[row] = now
        if now == before:
            return
        self.version += 1
        sizes = _sizes(now)
        for name in _sizes(before):
            state = self._states[name]
            if name not in sizes or state.node_count == 1:
                self._take_out(row, name)
        for name, size_bytes in sizes.items():
            if name not in self._states:
                self._states[name] = ImageState(size_bytes)
            self._states[name].add(row)

    def state(self, name: str) -> ImageState | None:
        return self._states.get(name)

    def _take_out(self, row: int, name: str) -> None:
        state = self._states[name]
        state.discard(row)
        if state.node_count == 0:
            del self._states[name]


def _sizes(images: Iterable[ContainerImage]) -> dict[str, int]:
    """The names of a list with their sizes; a name that comes twice has its first one."""
    sizes: dict[str, int] = {}
    for image in images:
        for name in image.names or ():
            sizes.setdefault(name, image.size_bytes)
    return sizes

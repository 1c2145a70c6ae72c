"""Node labels as columns of value ids.

A label key gets a column the first time a selector, an affinity term or a topology key asks for
it; from then on each node change keeps the column current. -1 stands for "no such label".

Pods may name any number of keys that no node has. Such keys get a column of their own only while
there are few of them; all others share one without any value, so that neither memory nor the work
for a node grows with what pods name.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from podium.scheduler.cluster.growth import Codes, wider
from podium.scheduler.cluster.interning import Interner

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

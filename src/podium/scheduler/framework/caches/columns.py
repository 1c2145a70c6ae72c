"""Remembered columns: what they were at some moment, and which of their rows are out of date.

From one pod to the next a row or two of a column change, and whoever kept the column as it was (a
decision, for those who ask later) must not see that. A copy for every change costs more than all
that is done with it. So the newest version has the array, and a version before it has the few
values by which it differs from the next: reading the past takes the newest array and undoes what
happened since. After many changes the array is copied once after all, so that no way back is long.

`RowChanges` says which rows changed since a moment. Several vectors of one pod are usually equally
old, so the rows are worked out once for all of them.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage

MAX_STEPS = 256
_PAST = "a version that is past has no array of its own"

ChangedRows = Sequence[int] | npt.NDArray[np.intp]


class ColumnVersion:
    """A column at one moment."""

    __slots__ = ("_array", "_newer", "_rows", "_steps", "_values")

    def __init__(self, array: Ints, steps: int = 0) -> None:
        self._array: Ints | None = array
        self._steps = steps
        self._newer: ColumnVersion | None = None
        self._rows: ChangedRows = ()
        self._values: Sequence[int] | Ints = ()

    @classmethod
    def of_another(cls, array: Ints) -> "ColumnVersion":
        """Of an array that is not to be changed; the first change makes a copy of it."""
        return cls(array, MAX_STEPS)

    @property
    def live(self) -> Ints:
        """The array itself, which only the newest version has: look at it, do not keep it."""
        if self._array is None:
            raise LookupError(_PAST)
        return self._array

    def read(self) -> Ints:
        """A copy of the column as it was at this moment."""
        past: list[ColumnVersion] = []
        version = self
        while version._newer is not None:
            past.append(version)
            version = version._newer
        column = version.live.copy()
        for older in reversed(past):
            column[older._rows] = older._values
        return column

    def with_values(self, rows: ChangedRows, values: Sequence[int] | Ints) -> "ColumnVersion":
        """The next version, with other values at some rows; this one becomes past."""
        array = self._array
        if array is None:
            raise LookupError(_PAST)
        steps = self._steps
        if steps >= MAX_STEPS:
            # The way back ends here: this version keeps its array, and the next one starts anew.
            array = array.copy()
            array[rows] = values
            return ColumnVersion(array)
        newer = ColumnVersion(array, steps + 1)
        if len(rows) == 1:
            row = rows[0]
            self._values = (array.item(row),)
            array[row] = values[0]
        else:
            self._values = array[rows]
            array[rows] = values
        self._rows, self._newer, self._array = rows, newer, None
        return newer


Column = Ints | ColumnVersion


def read(column: Column) -> Ints:
    return column.read() if isinstance(column, ColumnVersion) else column


def live(column: Column) -> Ints:
    return column.live if isinstance(column, ColumnVersion) else column


FEW: Final = 4
"""Up to so many rows plain Python is quicker than vectors."""

_RECOMPUTE_SHARE = 4
"""A vector with more than one in so many rows out of date is made anew."""


class Stale:
    """Rows to look at again, each of them once."""

    __slots__ = ("_array", "rows")

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows = list(rows)
        self._array: npt.NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def array(self) -> npt.NDArray[np.intp]:
        if self._array is None:
            self._array = np.fromiter(self.rows, dtype=np.intp, count=len(self.rows))
        return self._array


NOTHING: Final = Stale([])


class TableMoment:
    """How many changes of nodes and of pods there were at some time. What was worked out at one
    time has one moment in common."""

    __slots__ = ("nodes", "usage")

    def __init__(self, nodes: int, usage: int) -> None:
        self.nodes = nodes
        self.usage = usage


class RowChanges:
    """What changed since a moment; several vectors of one pod are usually equally old, so the
    last answer is kept."""

    __slots__ = ("_changed", "_now", "_then")

    def __init__(self) -> None:
        self._now = self._then = TableMoment(-1, -1)
        self._changed: Stale | None = None

    def now(self, nodes: NodeTable, usage: Usage) -> TableMoment:
        now = self._now
        if now.usage != usage.log.generation or now.nodes != nodes.log.generation:
            now = self._now = TableMoment(nodes.log.generation, usage.log.generation)
            self._then = now
            self._changed = NOTHING
        return now

    def since(self, then: TableMoment, nodes: NodeTable, usage: Usage) -> Stale | None:
        """Rows whose node or pods changed after a moment, up to the one that was last asked for;
        None if these are too many to look at one by one."""
        # By identity: what was worked out together has one and the same moment.
        if then is not self._then:
            self._then = then
            self._changed = _find_changed(nodes, usage, then.nodes, then.usage)
        return self._changed

    def of_nodes(self, then: TableMoment, nodes: NodeTable, usage: Usage) -> Stale | None:
        """`since`, whatever pods did."""
        if then.nodes == self._now.nodes:
            return NOTHING
        return _find_changed(nodes, usage, then.nodes, self._now.usage)


def _find_changed(nodes: NodeTable, usage: Usage, seen_nodes: int, seen_usage: int) -> Stale | None:
    changed, taken = nodes.log.since(seen_nodes), usage.log.since(seen_usage)
    if changed is None or taken is None:
        return None
    rows = set(taken)
    if changed:
        rows.update(changed)
    if len(rows) * _RECOMPUTE_SHARE > nodes.size:
        return None
    if nodes.dense():
        return Stale(rows)
    # A row without a node may have changed too; plugins answer for nodes only.
    return Stale([row for row in rows if nodes.present[row]])

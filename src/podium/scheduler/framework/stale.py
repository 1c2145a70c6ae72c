"""Which rows of a remembered vector have to be looked at again."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage

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


class Moment:
    """How many changes of nodes and of pods there were at some time. What was worked out at one
    time has one moment in common."""

    __slots__ = ("nodes", "usage")

    def __init__(self, nodes: int, usage: int) -> None:
        self.nodes = nodes
        self.usage = usage


class Changes:
    """What changed since a moment; several vectors of one pod are usually equally old, so the
    last answer is kept."""

    __slots__ = ("_changed", "_now", "_then")

    def __init__(self) -> None:
        self._now = self._then = Moment(-1, -1)
        self._changed: Stale | None = None

    def now(self, nodes: NodeTable, usage: Usage) -> Moment:
        now = self._now
        if now.usage != usage.log.generation or now.nodes != nodes.log.generation:
            now = self._now = Moment(nodes.log.generation, usage.log.generation)
            self._then = now
            self._changed = NOTHING
        return now

    def since(self, then: Moment, nodes: NodeTable, usage: Usage) -> Stale | None:
        """Rows whose node or pods changed after a moment, up to the one that was last asked for;
        None if these are too many to look at one by one."""
        if then is not self._then:
            self._then = then
            self._changed = _changed(nodes, usage, then.nodes, then.usage)
        return self._changed

    def of_nodes(self, then: Moment, nodes: NodeTable, usage: Usage) -> Stale | None:
        """`since`, whatever pods did."""
        if then.nodes == self._now.nodes:
            return NOTHING
        return _changed(nodes, usage, then.nodes, self._now.usage)


def _changed(nodes: NodeTable, usage: Usage, seen_nodes: int, seen_usage: int) -> Stale | None:
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
    return Stale([row for row in rows if nodes.present[row]])

"""Which rows of a remembered vector have to be looked at again."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from podium.cluster.nodes import NodeTable
from podium.cluster.usage import Usage

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


class Changes:
    """What changed since a moment; several vectors of one pod are usually equally old, so the
    last answer is kept."""

    __slots__ = ("_changed", "_span")

    def __init__(self) -> None:
        self._span = (-1, -1, -1, -1)
        self._changed: Stale | None = None

    def since(
        self, seen_nodes: int, seen_usage: int, nodes: NodeTable, usage: Usage
    ) -> Stale | None:
        """Rows whose node or pods changed after two generations; None if these are too many to
        look at one by one."""
        now_nodes, now_usage = nodes.log.generation, usage.log.generation
        if seen_nodes == now_nodes and seen_usage == now_usage:
            return NOTHING
        span = (seen_nodes, now_nodes, seen_usage, now_usage)
        if span != self._span:
            self._span = span
            self._changed = _changed(nodes, usage, seen_nodes, seen_usage)
        return self._changed


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

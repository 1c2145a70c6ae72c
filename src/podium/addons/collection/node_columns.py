"""A number for every node that a plugin works out from one row at a time, kept as a column.

What was worked out stays until the log of the rows says that something happened to the row; so a
cluster of thousands of nodes costs Python for the few that changed, and reading is numpy's.
"""

from collections.abc import Callable

import numpy as np

from podium.scheduler.cluster.growth import ChangeLog
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.sources import Floats


class NodeColumn:
    """`work_out` gives a row's number; rows without a node have NaN."""

    def __init__(self, nodes: NodeTable, log: ChangeLog, work_out: Callable[[int], float]) -> None:
        self._nodes = nodes
        self._log = log
        self._work_out = work_out
        self._values: Floats = np.empty(0)
        self._generation = -1
        self._membership = -1

    def read(self) -> Floats:
        """The column over the whole table, up to date; not to be changed."""
        nodes, log = self._nodes, self._log
        changed = log.since(self._generation) if self._is_same_table() else None
        for row in range(nodes.size) if changed is None else set(changed):
            if row < nodes.size:
                self._values[row] = self._work_out(row) if nodes.present[row] else np.nan
        self._generation, self._membership = log.generation, nodes.membership
        return self._values

    def _is_same_table(self) -> bool:
        """Whether the rows hold the nodes that they held when the column was read last."""
        if self._values.size == self._nodes.size and self._membership == self._nodes.membership:
            return True
        self._values = np.full(self._nodes.size, np.nan)
        return False

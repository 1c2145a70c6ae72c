"""Measured loads as columns over the nodes, in percent of capacity.

Made anew when the source has another answer or nodes come and go; a node whose object changed has
its row brought up to date, since its capacity may be another.
"""

from typing import NamedTuple

import numpy as np

from podium.addons.collection.load.loads import Loads, NodeLoad
from podium.kubernetes.rules.quantity import milli_value, value
from podium.plugin import Rows
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.sources import Floats, SourceColumn

_UNKNOWN = NodeLoad()
_CPU, _CPU_CAPACITY = 0, 4


class LoadRows(NamedTuple):
    """Of some rows; NaN where nothing was measured."""

    cpu: Floats
    cpu_deviation: Floats
    memory: Floats
    memory_deviation: Floats
    cpu_capacity_milli: Floats


class LoadColumns:
    def __init__(self) -> None:
        self._columns: Floats = np.zeros((5, 0))
        self._moment: tuple[object, ...] = ()
        self._generation = 0

    def of(self, column: SourceColumn, nodes: NodeTable, rows: Rows) -> LoadRows:
        self._follow(column, nodes)
        return LoadRows(*self._columns[:, rows])

    def of_row(self, column: SourceColumn, nodes: NodeTable, row: int) -> tuple[float, float]:
        """(cpu in percent, cpu capacity in milli-cores) of one node."""
        self._follow(column, nodes)
        item = self._columns.item
        return item(_CPU, row), item(_CPU_CAPACITY, row)

    def _follow(self, column: SourceColumn, nodes: NodeTable) -> None:
        loads = column.value
        known = loads if isinstance(loads, Loads) else Loads({}, 0.0)
        moment = (column.version, nodes.membership, nodes.size)
        if moment != self._moment:
            self._columns = np.empty((5, nodes.size))
            self._update(range(nodes.size), known, nodes)
            self._moment = moment
        elif self._generation != nodes.generation:
            self._update(nodes.changed_since(self._generation).tolist(), known, nodes)
        self._generation = nodes.generation

    def _update(self, rows: "list[int] | range", loads: Loads, nodes: NodeTable) -> None:
        for row in rows:
            load = loads.nodes.get(nodes.names[row], _UNKNOWN)
            cpu_milli, memory_bytes = _capacity(nodes, row)
            if not loads.in_percent:
                cpu = 100 * load.cpu / cpu_milli if cpu_milli else np.nan
                memory = 100 * load.memory / memory_bytes if memory_bytes else np.nan
                load = load._replace(cpu=cpu, memory=memory)
            self._columns[:, row] = (*load, cpu_milli)


def _capacity(nodes: NodeTable, row: int) -> tuple[int, int]:
    """(cpu milli, memory bytes); allocatable where a node does not tell its capacity."""
    node = nodes.objects[row]
    if node is None:
        return 0, 0
    amounts = node.status.capacity or node.status.allocatable or {}
    return milli_value(amounts.get("cpu", 0)), value(amounts.get("memory", 0))

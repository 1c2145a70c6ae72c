"""Reports about nodes as columns: one row a node, as in the cluster's table, and one place a zone.

Zones of a node stand in order of their ids; where a node has fewer than another one, or a zone does
not report a resource, the amount is `ABSENT`. Rows are written again when their report is another.
"""

from typing import Final

import numpy as np

from podium.addons.collection.node_resource_topology.reports import Report, Reports
from podium.addons.collection.node_resource_topology.topologies import (
    POD_SCOPE,
    SINGLE_NUMA_NODE,
    NumaZone,
    TopologyManager,
    topology_manager_of,
    zones_of,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.nodes import NodeTable

ABSENT: Final = -1


class ZoneTable:
    """`known` rows have a report; of `stale` ones nothing is believed; `aligned` ones have the
    policy `single-numa-node`, `by_pod` ones the scope `pod`."""

    def __init__(self, nodes: NodeTable, reports: Reports) -> None:
        self._nodes = nodes
        self._reports = reports
        self._membership = -1
        self.version = 0
        self.width = 1
        self.managers: dict[int, TopologyManager] = {}
        self.zones: dict[int, list[NumaZone]] = {}
        self._available: dict[str, Ints] = {}
        self._clear()

    def follow(self) -> None:
        """Read the reports again that may have changed."""
        changed = self._reports.take_changed()
        if self._membership != self._nodes.membership or changed is None:
            self._clear()
            rows = list(range(self._nodes.size))
        else:
            rows = sorted({self._nodes.row(name) for name in changed} - {-1})
            if not rows:
                return
        self.version += 1
        for row in rows:
            if self._nodes.present[row]:
                self._put(row, self._reports.report_of(self._nodes.names[row]))

    def available(self, resource: str, rows: Rows) -> Ints:
        """(row, place) -> amount, a copy."""
        column = self._available.get(resource)
        if column is None:
            return np.full((len(self.known[rows]), self.width), ABSENT, dtype=np.int64)
        return column[rows].copy()

    def _clear(self) -> None:
        size = self._nodes.size
        self._membership = self._nodes.membership
        self.managers, self.zones, self._available = {}, {}, {}
        self.known: Mask = np.zeros(size, dtype=np.bool_)
        self.stale: Mask = np.zeros(size, dtype=np.bool_)
        self.aligned: Mask = np.zeros(size, dtype=np.bool_)
        self.by_pod: Mask = np.zeros(size, dtype=np.bool_)
        self.zone_counts: Ints = np.zeros(size, dtype=np.int64)

    def _put(self, row: int, report: Report) -> None:
        topology = report.topology
        self.known[row], self.stale[row] = topology is not None, report.stale
        for column in self._available.values():
            column[row] = ABSENT
        self.managers.pop(row, None)
        self.zones.pop(row, None)
        self.aligned[row] = self.by_pod[row] = False
        self.zone_counts[row] = 0
        if topology is None:
            return
        manager = self.managers[row] = topology_manager_of(topology)
        self.aligned[row] = manager.policy == SINGLE_NUMA_NODE
        self.by_pod[row] = manager.scope == POD_SCOPE
        zones = self.zones[row] = [_less(zone, report) for zone in zones_of(topology)]
        self.zone_counts[row] = len(zones)
        self._widen(len(zones))
        for place, zone in enumerate(zones):
            for resource, amount in zone.available.items():
                self._column(resource)[row, place] = amount

    def _column(self, resource: str) -> Ints:
        column = self._available.get(resource)
        if column is None:
            shape = (self._nodes.size, self.width)
            column = self._available[resource] = np.full(shape, ABSENT, dtype=np.int64)
        return column

    def _widen(self, width: int) -> None:
        if width <= self.width:
            return
        for resource, column in self._available.items():
            wider = np.full((column.shape[0], width), ABSENT, dtype=np.int64)
            wider[:, : self.width] = column
            self._available[resource] = wider
        self.width = width


def _less(zone: NumaZone, report: Report) -> NumaZone:
    """A zone without what was reserved on its node since the report."""
    if not report.reserved:
        return zone
    left = dict(zone.available)
    for request in report.reserved:
        for resource in left.keys() & request.keys():
            left[resource] = max(0, left[resource] - request[resource])
    return zone._replace(available=left)

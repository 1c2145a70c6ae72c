"""Whether a single zone of each node can hold what has to be held together.

In the scope `pod` that is the whole pod. In the scope `container` it is each container by itself:
init containers see the zones as they are, the others take what they need from the first zone that
has it, one after another (`filter.go` of the collection).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from podium.addons.collection.node_resource_topology.evictions import (
    NOTHING_FREED,
    TOO_MUCH_FREED,
    Freed,
)
from podium.addons.collection.node_resource_topology.zone_requests import (
    ContainerRequest,
    ZoneRequests,
    is_of_node,
    is_of_zone,
)
from podium.addons.collection.node_resource_topology.zone_table import ABSENT, ZoneTable
from podium.plugin import unschedulable
from podium.scheduler.cluster.growth import Ints, Mask, Rows, indices
from podium.scheduler.cluster.nodes import NodeTable

STATUSES: Final = (
    unschedulable("invalid node topology data"),
    unschedulable("cannot align pod"),
    unschedulable("cannot align container"),
    unschedulable("cannot align init container"),
    unschedulable("cannot align sidecar container"),
    *(
        unschedulable(f"eviction simulation in NRT is not possible:{why}")
        for why in (NOTHING_FREED, TOO_MUCH_FREED)
    ),
)
STALE, POD, CONTAINER, INIT, SIDECAR, NOT_FREED, FREED_TOO_MUCH = range(1, 8)

_KINDS: Final = {"": CONTAINER, "init": INIT, "sidecar": SIDECAR}
_ALWAYS_THERE: Final = ("cpu", "memory", "ephemeral-storage")


def find_misaligned(
    requests: ZoneRequests,
    table: ZoneTable,
    nodes: NodeTable,
    rows: Rows,
    freed: Mapping[int, Freed] = MappingProxyType({}),
) -> Ints:
    """For each row 0, or the number of the status that refuses it; `freed` is what zones of rows
    have besides, in a trial."""
    free = _Free(requests, table, nodes, rows, freed)
    whole = np.where(free.match(requests.whole)[1], 0, POD)
    single = _find_misaligned_container(requests.containers, free)
    concerned = table.known[rows] & table.aligned[rows]
    found = np.where(concerned, np.where(table.by_pod[rows], whole, single), 0)
    return np.where(table.stale[rows], STALE, found)


def _find_misaligned_container(containers: Iterable[ContainerRequest], free: "_Free") -> Ints:
    found = np.zeros(free.count, dtype=np.int64)
    for container in containers:
        zones, fits = free.match(container.amounts)
        found = np.where((found == 0) & ~fits, _KINDS[container.kind], found)
        if not container.kind:
            free.take(container.amounts, zones, fits)
    return found


class _Free:
    """What is free in the zones of some rows, while containers take from it."""

    def __init__(
        self,
        requests: ZoneRequests,
        table: ZoneTable,
        nodes: NodeTable,
        rows: Rows,
        freed: Mapping[int, Freed],
    ) -> None:
        self._guaranteed = requests.guaranteed
        self._table = table
        self._nodes = nodes
        self._rows = rows
        self._freed = freed
        self._columns: dict[str, Ints] = {}
        self.count = len(table.known[rows])

    def match(self, amounts: Iterable[tuple[str, int]]) -> tuple[Ints, Mask]:
        """(the first zone that has everything, whether there is one) for each row."""
        suitable = np.ones((self.count, self._table.width), dtype=np.bool_)
        fits = np.ones(self.count, dtype=np.bool_)
        for resource, amount in amounts:
            if amount:
                free = self._column(resource)
                reported = free != ABSENT
                enough = reported if self._is_ignored(resource) else free >= amount
                counts = reported.any(axis=1) | (not is_of_node(resource))
                suitable &= enough | ~counts[:, None]
                fits &= self._is_on_nodes(resource)
        fits &= suitable.any(axis=1)
        return suitable.argmax(axis=1), fits

    def take(self, amounts: Iterable[tuple[str, int]], zones: Ints, fits: Mask) -> None:
        """Take amounts from one zone of each row that has them."""
        every = np.arange(self.count)
        for resource, amount in amounts:
            if amount and not self._is_ignored(resource):
                column = self._column(resource)
                held = column[every, zones]
                takes = fits & (held != ABSENT)
                column[every, zones] = np.where(takes, held - amount, held)

    def _is_ignored(self, resource: str) -> bool:
        return not self._guaranteed and is_of_zone(resource)

    def _is_on_nodes(self, resource: str) -> Mask:
        """Whether the nodes have the resource at all."""
        if resource in _ALWAYS_THERE:
            return np.ones(self.count, dtype=np.bool_)
        index = self._nodes.resources.find(resource)
        if index < 0:
            return np.zeros(self.count, dtype=np.bool_)
        on_nodes: Mask = self._nodes.allocatable[index, self._rows] > 0
        return on_nodes

    def _column(self, resource: str) -> Ints:
        if resource not in self._columns:
            self._columns[resource] = column = self._table.available(resource, self._rows)
            self._add_freed(resource, column)
        return self._columns[resource]

    def _add_freed(self, resource: str, column: Ints) -> None:
        for row, freed in self._freed.items():
            (positions,) = np.nonzero(indices(self._rows) == row)
            for place, zone in enumerate(self._table.zones.get(row, ())):
                amount = freed.get(zone.numa_id, {}).get(resource, 0)
                if amount and resource in zone.available:
                    column[positions, place] += amount

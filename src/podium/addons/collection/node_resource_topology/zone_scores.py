"""The zones of nodes as a table, and how well a request fits into them.

A node is rated by its zone with the lowest score above 0; in the scope `container` containers are
rated one by one and averaged. Amounts are compared exactly; scores come from whole units, so half
a cpu counts as one (`score.go`, `least_allocated.go`, `most_allocated.go`,
`balanced_allocation.go` of the collection).

Example: 2 of 4 cpus and 1Gi of 4Gi are 50 and 75 by LeastAllocated, 62 together.

LeastNUMANodes: the fewer zones a pod has to be spread over, the better; and the closer they are.
The smallest set of zones that holds a request is looked for; of sets of one size that with the
shortest mean distance. A unit is 100 divided by the most zones a node may have: a node gets 100
less one unit a zone, and half a unit back if no set of that size is closer (`least_numa.go` of the
collection). Nodes whose zones are alike are worked out once.

Example: of at most 8 zones, one at the best distance gives 94, two give 82 or 76.

Reports about nodes as columns: one row a node, as in the cluster's table, and one place a zone.
Zones of a node stand in order of their ids; where a node has fewer than another one, or a zone does
not report a resource, the amount is `ABSENT`. Rows are written again when their report is another.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import Final

import numpy as np

from podium.addons.collection.node_resource_topology.reports import Reports, TopologyReport
from podium.addons.collection.node_resource_topology.topologies import (
    POD_SCOPE,
    SINGLE_NUMA_NODE,
    NumaZone,
    TopologyManager,
    ZoneRequests,
    is_of_zone,
    topology_manager_of,
    zones_of,
)
from podium.addons.collection.score_ranges import MAX_SCORE
from podium.plugin import Floats, Ints, Mask, NodeTable, Rows, indices

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

    def _put(self, row: int, report: TopologyReport) -> None:
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


def _less(zone: NumaZone, report: TopologyReport) -> NumaZone:
    """A zone without what was reserved on its node since the report."""
    if not report.reserved:
        return zone
    left = dict(zone.available)
    for request in report.reserved:
        for resource in left.keys() & request.keys():
            left[resource] = max(0, left[resource] - request[resource])
    return zone._replace(available=left)


Amounts = Sequence[tuple[str, int]]
Weights = Mapping[str, int]
Strategy = Callable[[Amounts, ZoneTable, Rows, Weights], Ints]
"""Scores by (row, zone)."""


def score_zones(
    requests: ZoneRequests, table: ZoneTable, rows: Rows, strategy: Strategy, weights: Weights
) -> Ints:
    """A score for each row; 0 where pods are not aligned or nothing is known."""
    whole = _lowest(strategy(requests.whole, table, rows, weights))
    each = [_lowest(strategy(c.amounts, table, rows, weights)) for c in requests.containers]
    mean = np.mean(each, axis=0).astype(np.int64) if each else np.zeros_like(whole)
    concerned = table.known[rows] & table.aligned[rows] & ~table.stale[rows]
    return np.where(concerned, np.where(table.by_pod[rows], whole, mean), 0)


def least_allocated(amounts: Amounts, table: ZoneTable, rows: Rows, weights: Weights) -> Ints:
    return _average_points(
        amounts, table, rows, weights, lambda asked, free: (free - asked) * MAX_SCORE
    )


def most_allocated(amounts: Amounts, table: ZoneTable, rows: Rows, weights: Weights) -> Ints:
    return _average_points(amounts, table, rows, weights, lambda asked, _: asked * MAX_SCORE)


def balanced_allocation(amounts: Amounts, table: ZoneTable, rows: Rows, weights: Weights) -> Ints:  # noqa: ARG001
    """Where shares of all resources are alike; 0 where one is more than there is."""
    shares: list[Floats] = []
    for resource, asked in amounts:
        free = _units(resource, np.maximum(table.available(resource, rows), 0))
        share = _units(resource, np.array(asked)) / np.maximum(free, 1)
        shares.append(np.where(free > 0, share, 1.0))
    valid = _valid(table, rows)
    if not shares:
        return np.where(valid, MAX_SCORE, 0)
    together = np.stack(shares)
    spread = together.var(axis=0, ddof=1) if len(shares) > 1 else np.zeros(valid.shape)
    scores = ((1 - spread) * MAX_SCORE).astype(np.int64)
    return np.where(valid & (together <= 1).all(axis=0), scores, 0)


STRATEGIES: Final[Mapping[str, Strategy]] = {
    "LeastAllocated": least_allocated,
    "MostAllocated": most_allocated,
    "BalancedAllocation": balanced_allocation,
}


def _average_points(
    amounts: Amounts,
    table: ZoneTable,
    rows: Rows,
    weights: Weights,
    points: Callable[[Ints, Ints], Ints],
) -> Ints:
    total = np.zeros((len(table.known[rows]), table.width), dtype=np.int64)
    weight_sum = 0
    for resource, asked in amounts:
        available = table.available(resource, rows)
        free = _units(resource, np.maximum(available, 0))
        scored = points(_units(resource, np.array(asked)), free) // np.maximum(free, 1)
        weight = max(1, weights.get(resource, 1))
        total += np.where((free > 0) & (asked <= available), scored, 0) * weight
        weight_sum += weight
    return np.where(_valid(table, rows), total // max(1, weight_sum), 0)


def _units(resource: str, amounts: Ints) -> Ints:
    """Whole units: cpus instead of milli-cpus, rounded up."""
    return -(-amounts // 1000) if resource == "cpu" else amounts


def _valid(table: ZoneTable, rows: Rows) -> Mask:
    """(row, place) -> whether there is a zone."""
    valid: Mask = np.arange(table.width) < table.zone_counts[rows][:, None]
    return valid


def _lowest(scores: Ints) -> Ints:
    """The lowest score of each row that is not 0."""
    high = np.where(scores > 0, scores, np.iinfo(np.int64).max).min(axis=1)
    return np.where((scores > 0).any(axis=1), high, 0)


MAX_COMBINATIONS: Final = 10_000
"""Sets of one size that are looked at; upstream looks at all, of which there may be no end."""

_MAX_DISTANCE: Final = 255

ZoneAmounts = Iterable[tuple[str, int]]


def score_least_numa(requests: ZoneRequests, table: ZoneTable, rows: Rows) -> Ints:
    known: dict[Hashable, int] = {}
    scores = np.zeros(len(table.known[rows]), dtype=np.int64)
    for position, row in enumerate(indices(rows).tolist()):
        if not table.known[row] or table.stale[row]:
            continue
        zones, most = table.zones[row], table.managers[row].max_numa_nodes
        by_pod = bool(table.by_pod[row])
        alike = (by_pod, most, *(_key(zone) for zone in zones))
        if alike not in known:
            parts = [requests.whole] if by_pod else [c.amounts for c in requests.containers]
            known[alike] = _score(parts, zones, most, guaranteed=requests.guaranteed)
        scores[position] = known[alike]
    return scores


def _key(zone: NumaZone) -> Hashable:
    return zone.numa_id, tuple(zone.available.items()), tuple(zone.costs.items())


def _score(
    parts: Sequence[ZoneAmounts], zones: Sequence[NumaZone], most: int, *, guaranteed: bool
) -> int:
    left = [zone._replace(available=dict(zone.available)) for zone in zones]
    widest, all_close = 0, True
    for part in parts:
        amounts = dict(part)
        if not any(name in zone.available for zone in left for name in amounts):
            continue
        found, is_close = find_zones(amounts, left, guaranteed=guaranteed)
        if not found:
            return 0
        widest, all_close = max(widest, len(found)), all_close and is_close
        _take(amounts, [left[place] for place in found])
    if not widest:
        return MAX_SCORE
    unit = MAX_SCORE // most
    return MAX_SCORE - widest * unit + (unit // 2 if all_close else 0)


def find_zones(
    amounts: Mapping[str, int], zones: Sequence[NumaZone], *, guaranteed: bool = True
) -> tuple[tuple[int, ...], bool]:
    """(places of the smallest set of zones that holds the amounts, whether no set of that size is
    closer); no places if there is none."""
    for size in range(1, len(zones) + 1):
        sets = list(islice(combinations(range(len(zones)), size), MAX_COMBINATIONS))
        distances = [_distance([zones[place] for place in each]) for each in sets]
        shortest = min([_MAX_DISTANCE * size * size, *distances])
        fitting = [
            (distance, each)
            for distance, each in zip(distances, sets, strict=True)
            if _holds([zones[place] for place in each], amounts, guaranteed=guaranteed)
        ]
        if fitting:
            distance, best = min(fitting, key=lambda pair: pair[0])
            return best, distance == shortest
    return (), False


def _distance(zones: Sequence[NumaZone]) -> int:
    """Of each zone to each, added up: sets of one size are compared."""
    return sum(one.costs.get(other.numa_id, _MAX_DISTANCE) for one in zones for other in zones)


def _holds(zones: Sequence[NumaZone], amounts: Mapping[str, int], *, guaranteed: bool) -> bool:
    # upstream: every zone of a set has to report every resource, even one of the whole node
    if not all(name in zone.available for zone in zones for name in amounts):
        return False
    return all(
        (not guaranteed and is_of_zone(name))
        or sum(zone.available[name] for zone in zones) >= amount
        for name, amount in amounts.items()
    )


def _take(amounts: Mapping[str, int], zones: Iterable[NumaZone]) -> None:
    """Take amounts from zones in order, from each what it has."""
    wanted = dict(amounts)
    for zone in zones:
        left = zone.available
        assert isinstance(left, dict)
        for name in wanted.keys() & left.keys():
            taken = min(wanted[name], left[name])
            wanted[name] -= taken
            left[name] -= taken

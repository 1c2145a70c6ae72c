"""How well a request fits into the zones of each node, by three strategies.

A node is rated by its zone with the lowest score above 0; in the scope `container` containers are
rated one by one and averaged. Amounts are compared exactly; scores come from whole units, so half
a cpu counts as one (`score.go`, `least_allocated.go`, `most_allocated.go`,
`balanced_allocation.go` of the collection).

Example: 2 of 4 cpus and 1Gi of 4Gi are 50 and 75 by LeastAllocated, 62 together.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from podium.addons.collection.node_resource_topology.zone_requests import ZoneRequests
from podium.addons.collection.node_resource_topology.zone_table import ZoneTable
from podium.addons.collection.score_ranges import MAX_SCORE
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.framework.sources import Floats

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
    return _weighted(amounts, table, rows, weights, lambda asked, free: (free - asked) * MAX_SCORE)


def most_allocated(amounts: Amounts, table: ZoneTable, rows: Rows, weights: Weights) -> Ints:
    return _weighted(amounts, table, rows, weights, lambda asked, _: asked * MAX_SCORE)


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


def _weighted(
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

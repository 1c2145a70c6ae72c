"""LeastNUMANodes: the fewer zones a pod has to be spread over, the better; and the closer they are.

The smallest set of zones that holds a request is looked for; of sets of one size that with the
shortest mean distance. A unit is 100 divided by the most zones a node may have: a node gets 100
less one unit a zone, and half a unit back if no set of that size is closer (`least_numa.go` of the
collection). Nodes whose zones are alike are worked out once.

Example: of at most 8 zones, one at the best distance gives 94, two give 82 or 76.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import Final

import numpy as np

from podium.addons.collection.node_resource_topology.topologies import NumaZone
from podium.addons.collection.node_resource_topology.zone_requests import (
    ZoneRequests,
    is_of_zone,
)
from podium.addons.collection.node_resource_topology.zone_table import ZoneTable
from podium.addons.collection.score_ranges import MAX_SCORE
from podium.scheduler.cluster.growth import Ints, Rows, indices

MAX_COMBINATIONS: Final = 10_000
"""Sets of one size that are looked at; upstream looks at all, of which there may be no end."""

_MAX_DISTANCE: Final = 255

Amounts = Iterable[tuple[str, int]]


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
    parts: Sequence[Amounts], zones: Sequence[NumaZone], most: int, *, guaranteed: bool
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

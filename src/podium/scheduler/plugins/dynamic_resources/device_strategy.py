"""A preference among devices and nodes: `scoringStrategy`, with its `locality`.

By default the first devices that fit are taken, in the order in which they are listed, and nodes
are distinguished by nothing but the alternatives that they serve. A strategy changes both. Where
devices are comes first (`locality`), then `type`:

    MostAllocated    devices that are in use already and stay the fullest; nodes with few free ones.
                     Whole devices and whole nodes stay free for those who need them.
    LeastAllocated   devices and nodes that stay the emptiest.

How full a device is comes from what is consumed of its capacity and of the counters that it draws
on, each with the share that the request would add; a device without either is taken or not. How
full a node is comes from all of its devices that one of the requests could have. Whether claims can
be served does not depend on the order of the search, so Filter answers as ever.

Where devices are: `locality` of `scoringStrategy`. A GPU and a network card on one PCIe root
exchange data without passing through the processor, eight GPUs of one NVLink domain work as one,
and the pods of a training job talk to each other all the time. Drivers publish the place of a
device as attributes, administrators that of a node as labels. Each entry of `locality` is one of
the two, with a weight:

    attribute  the devices of a pod lie together: those with the same value are taken, and a node
               scores by how many pairs of its devices would have it in common
    nodeLabel  the pods of a workload lie near each other: a node scores by how many of those that
               have devices already run on nodes with the same value

With two GPUs and two network cards of which three share a NUMA node, three of six pairs lie
together: 50 points. Nothing here decides whether claims can be served; a claim that must have its
devices together says so (`matchAttribute`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import fsum

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import DeviceAttribute
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.config.plugin_args import DeviceLocality
from podium.scheduler.plugins.dynamic_resources.capacity import taken_of
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.inventory import Content, DeviceEntry
from podium.scheduler.plugins.dynamic_resources.picks import AvailableCounters, Pick, values_of
from podium.scheduler.plugins.dynamic_resources.pools import NodePools
from podium.scheduler.plugins.dynamic_resources.requests import ClaimRequest

MAX_POINTS = 100
_NOWHERE: Hashable = None

Usable = Callable[[DeviceEntry], bool]
Rank = Callable[[DeviceEntry], float]


class DevicePlaces:
    """The attributes by which the devices of a pod are to lie together."""

    def __init__(self, locality: Iterable[DeviceLocality]) -> None:
        self._weights = [(each.attribute, each.weight) for each in locality if each.attribute]
        self._weights.sort(key=lambda pair: -pair[1])
        self.weight = sum(weight for _, weight in self._weights)

    def order(
        self,
        devices: Sequence[DeviceEntry],
        count: int,
        near: Sequence[DeviceEntry],
        usable: Usable,
        rank: Rank,
    ) -> list[DeviceEntry]:
        """The usable devices of a node in the order in which a request for some of them is to try
        them: first those beside the ones that other requests of the pod have got (`near`), then
        those of the smallest group that is large enough. `rank` decides among equals."""
        left = [entry for entry in devices if usable(entry)]
        places = {id(entry): self._places(entry) for entry in (*left, *near)}
        sizes = [Counter(places[id(entry)][at] for entry in left) for at in range(self._depth)]
        taken = [Counter(places[id(entry)][at] for entry in near) for at in range(self._depth)]
        ranks = {id(entry): rank(entry) for entry in left}
        best: dict[Hashable, float] = {}
        numbers: dict[Hashable, int] = {}
        for entry in left:
            group = places[id(entry)]
            best[group] = min(best.get(group, ranks[id(entry)]), ranks[id(entry)])
            numbers.setdefault(group, len(numbers))

        def key(entry: DeviceEntry) -> tuple[float, ...]:
            group = places[id(entry)]
            beside = together = slack = 0.0
            for at, (_, weight) in enumerate(self._weights):
                if group[at] is _NOWHERE:
                    continue
                size = sizes[at][group[at]]
                beside += weight * taken[at][group[at]]
                together += weight * min(size, count)
                slack += weight * max(0, size - count)
            return -beside, -together, slack, best[group], numbers[group], ranks[id(entry)]

        return sorted(left, key=key)

    def points(self, devices: Sequence[DeviceEntry]) -> int:
        """How many pairs of a pod's devices lie together: 0 to 100."""
        pairs = len(devices) * (len(devices) - 1) // 2
        if not pairs or not self.weight:
            return MAX_POINTS
        places = [self._places(entry) for entry in devices]
        shares = []
        for at, (_, weight) in enumerate(self._weights):
            same = sum(
                one[at] is not _NOWHERE and one[at] == other[at]
                for one, other in combinations(places, 2)
            )
            shares.append(weight * same / pairs)
        return round(MAX_POINTS * fsum(shares) / self.weight)

    @property
    def _depth(self) -> int:
        return len(self._weights)

    def _places(self, entry: DeviceEntry) -> tuple[Hashable, ...]:
        """The value of each attribute, `_NOWHERE` where the device has none."""
        return tuple(_place(entry.content, name) for name, _ in self._weights)


class NodePlaces:
    """The labels by which the pods of a workload are to lie near each other."""

    def __init__(self, locality: Iterable[DeviceLocality], nodes: NodeTable) -> None:
        self._weights = [(each.node_label, each.weight) for each in locality if each.node_label]
        self._nodes = nodes
        self.weight = sum(weight for _, weight in self._weights)

    def points(self, workload: Ints, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """How many of a workload's pods, of which each is on a row, a node has near: 0 to 100, by
        all labels together. All nodes are as good while there are none."""
        if not len(workload) or not self.weight:
            return np.full(len(rows), float(MAX_POINTS))
        total = np.zeros(len(rows))
        for key, weight in self._weights:
            column = self._nodes.labels.column(key)
            placed = column.codes[workload]
            counts = np.bincount(placed[placed >= 0], minlength=len(column.values) + 1)
            here = column.codes[rows]
            total += weight * np.where(here >= 0, counts[here], 0)
        points: npt.NDArray[np.float64] = MAX_POINTS * total / (self.weight * len(workload))
        return points


def _place(content: Content, name: str) -> Hashable:
    """The value of an attribute; a name without a domain is each driver's own."""
    found = _find(content, name)
    values = values_of(found, lists=False) if found is not None else ()
    return next(iter(values), _NOWHERE)


def _find(content: Content, name: str) -> DeviceAttribute | None:
    return content.attribute(name) if "/" in name else content.own_attribute(name)


@dataclass(frozen=True, slots=True)
class DeviceStrategy:
    """`fullest_first` is True for MostAllocated, False for LeastAllocated, None without a type."""

    fullest_first: bool | None
    places: DevicePlaces
    allocated: AllocatedDevices

    @property
    def weight(self) -> int:
        """What `points` count beside those of node labels; a type counts as much as one."""
        return self.places.weight + (self.fullest_first is not None)

    def order(
        self,
        request: ClaimRequest,
        near: Sequence[DeviceEntry],
        usable: Usable,
        pools: NodePools,
        counters: AvailableCounters,
    ) -> Sequence[DeviceEntry]:
        """The devices of a node in the order in which a request is to try them, when others of the
        pod have got those that are `near`."""
        if self.fullest_first is None:
            rank: Rank = _as_listed
        else:
            rank = partial(self._rank, request, pools, counters)
        if self.places.weight:
            return self.places.order(pools.sequence, request.count, near, usable, rank)
        return pools.sequence if rank is _as_listed else sorted(pools.sequence, key=rank)

    def points(
        self,
        wanted: Iterable[DeviceEntry],
        picks: Sequence[Pick],
        pools: NodePools,
        counters: AvailableCounters,
    ) -> int:
        """How good a node is whose `wanted` devices could serve the requests and whose `picks`
        will: 0 to 100."""
        together = self.places.points([pick.entry for pick in picks])
        if self.fullest_first is None:
            return together
        picked = {pick.entry.id: pick for pick in picks}
        shares = [self._share(each, picked.get(each.id), pools, counters) for each in wanted]
        full = fsum(shares) / len(shares) if shares else 0.0
        of_type = MAX_POINTS * (full if self.fullest_first else 1 - full)
        return round((of_type + self.places.weight * together) / self.weight)

    def _rank(
        self,
        request: ClaimRequest,
        pools: NodePools,
        counters: AvailableCounters,
        entry: DeviceEntry,
    ) -> float:
        full = self._fullness(entry, pools, counters, request)
        return -full if self.fullest_first else full

    def _share(
        self,
        entry: DeviceEntry,
        pick: Pick | None,
        pools: NodePools,
        counters: AvailableCounters,
    ) -> float:
        if pick is not None and pick.taken is None:
            return 1.0
        return self._fullness(entry, pools, counters, pick.request if pick is not None else None)

    def _fullness(
        self,
        entry: DeviceEntry,
        pools: NodePools,
        counters: AvailableCounters,
        request: ClaimRequest | None,
    ) -> float:
        """The share of a device that is taken, with what a request would take of it."""
        if self.allocated.is_dedicated(entry.id):
            return 1.0
        shares = [*self._capacity(entry, request), *self._counters(entry, pools, counters, request)]
        return fsum(shares) / len(shares) if shares else 0.0

    def _capacity(self, entry: DeviceEntry, request: ClaimRequest | None) -> Iterable[float]:
        """A device that only one may have is as full as it would be of what the request asks for;
        one that is shared, with what all who have it consume."""
        content = entry.content
        asked = request.asked if request is not None else {}
        taking = taken_of(content.capacity, asked) if request is not None else {}
        consumed = self.allocated.consumed.get(entry.id) or {}
        for name in content.capacity if content.multiple else asked:
            rule = content.capacity.get(name)
            if rule is not None and rule.value:
                amount = taking[name][0] if name in taking else 0
                yield min(1.0, (consumed.get(name, 0) + amount) / rule.value)

    def _counters(
        self,
        entry: DeviceEntry,
        pools: NodePools,
        counters: AvailableCounters,
        request: ClaimRequest | None,
    ) -> Iterable[float]:
        if not entry.consumption:
            return
        pool = pools.pool_of[id(entry)]
        left = counters.of(pool)
        for counter, amount in entry.consumption:
            total = pool.counters.get(counter, 0)
            if total:
                asked = amount if request is not None else 0
                yield min(1.0, (total - left.get(counter, total) + asked) / total)


def _as_listed(entry: DeviceEntry) -> float:  # noqa: ARG001
    return 0.0

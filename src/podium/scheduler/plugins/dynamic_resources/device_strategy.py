"""A preference among devices that satisfy a claim, and among nodes: `scoringStrategy`.

By default the first devices that fit are taken, in the order in which they are listed, and nodes
are told apart by nothing but the alternatives that they serve. A strategy changes both. Where
devices are comes first (`locality`, see `device_locality`), then `type`:

    MostAllocated    devices that are in use already and stay the fullest; nodes with few free ones.
                     Whole devices and whole nodes stay free for those who need them.
    LeastAllocated   devices and nodes that stay the emptiest.

How full a device is comes from what is consumed of its capacity and of the counters that it draws
on, each with the share that the request would add; a device without either is taken or not. How
full a node is comes from all of its devices that one of the requests could have. Whether claims can
be served does not depend on the order of the search, so Filter answers as ever.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum

from podium.scheduler.plugins.dynamic_resources.capacity import taken_of
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.device_locality import (
    MAX_POINTS,
    DevicePlaces,
    Rank,
    Usable,
)
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceEntry
from podium.scheduler.plugins.dynamic_resources.picks import AvailableCounters, Pick
from podium.scheduler.plugins.dynamic_resources.pools import NodePools
from podium.scheduler.plugins.dynamic_resources.requests import Request


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
        request: Request,
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
        self, request: Request, pools: NodePools, counters: AvailableCounters, entry: DeviceEntry
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
        request: Request | None,
    ) -> float:
        """The share of a device that is taken, with what a request would take of it."""
        if self.allocated.is_dedicated(entry.id):
            return 1.0
        shares = [*self._capacity(entry, request), *self._counters(entry, pools, counters, request)]
        return fsum(shares) / len(shares) if shares else 0.0

    def _capacity(self, entry: DeviceEntry, request: Request | None) -> Iterable[float]:
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
        request: Request | None,
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

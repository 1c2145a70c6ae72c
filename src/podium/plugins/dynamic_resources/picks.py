"""Devices picked so far in a search: who has them, and what they use up.

The search adds a pick and takes it back when it leads nowhere. upstream does not take everything
back: counters stay used by a device that a taint or a constraint then refused, and by a shared
device that was given back. Which devices a pod gets depends on it, so it is the same here.
"""

from dataclasses import dataclass

from podium.api.meta import Quantity
from podium.plugins.dynamic_resources.capacity import Amounts, has_room, taken_of
from podium.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.plugins.dynamic_resources.constraints import Constraint
from podium.plugins.dynamic_resources.inventory import DeviceEntry, DeviceId
from podium.plugins.dynamic_resources.pools import Counters, Pool
from podium.plugins.dynamic_resources.requests import AllocationError, Request
from podium.plugins.dynamic_resources.taints import all_tolerated


@dataclass(frozen=True, slots=True)
class Pick:
    """A device given to a request; `taken` is set for a share of a device."""

    request: Request
    entry: DeviceEntry
    taken: dict[str, tuple[int, Quantity]] | None
    held_by: tuple[Constraint, ...]


class AvailableCounters:
    """What allocated devices leave of the counters of pools.

    upstream: pools are told apart by name only here, whatever their driver, and the first that is
    asked about stands for all of that name.
    """

    def __init__(self, allocated: AllocatedDevices) -> None:
        self._allocated = allocated
        self._left: dict[str, Counters] = {}

    def of(self, pool: Pool) -> Counters:
        left = self._left.get(pool.name)
        if left is None:
            left = self._left[pool.name] = dict(pool.counters)
            for device in (*pool.devices, *pool.elsewhere):
                if device.consumption and self._allocated.is_held(device.id):
                    for counter, amount in device.consumption:
                        left[counter] -= amount
        return left


@dataclass(frozen=True, slots=True)
class Rules:
    """Features that change what may be picked."""

    sharing: bool = True
    partitions: bool = True
    taints: bool = True
    binding_conditions: bool = True


class Picks:
    """The picks of one search on one node."""

    def __init__(
        self, allocated: AllocatedDevices, counters: AvailableCounters, rules: Rules
    ) -> None:
        self._allocated = allocated
        self._counters = counters
        self._rules = rules
        self._holders: dict[DeviceId, set[int]] = {}
        self._taking: dict[DeviceId, Amounts] = {}
        self._used: dict[str, Counters] = {}

    def is_busy(self, entry: DeviceEntry, request: Request, claim: int) -> bool:
        """Whether the device is in use, as far as this kind of request minds."""
        holders = self._holders.get(entry.id)
        if request.admin:
            return holders is not None and claim in holders
        return bool(holders) or self._allocated.is_dedicated(entry.id)

    def has_room(self, entry: DeviceEntry, request: Request) -> bool:
        if not self._rules.sharing:
            return True
        content = entry.content
        consumed = self._allocated.consumed.get(entry.id)
        taking = self._taking.get(entry.id)
        if not request.asked and content.plain_capacity and consumed is None and taking is None:
            return True
        return has_room(content.capacity, request.asked, consumed or {}, taking or {})

    def add(
        self,
        entry: DeviceEntry,
        pool: Pool,
        request: Request,
        claim: int,
        constraints: list[Constraint],
        *,
        must: bool,
    ) -> Pick | None:
        """Pick a device if nothing speaks against it. With `must` a constraint that does is an
        error, because every device of the list was asked for."""
        shared = self._rules.sharing and entry.content.multiple
        if self.is_busy(entry, request, claim):
            return None
        if entry.consumption and not self._use_counters(entry, pool, shared=shared):
            return None
        if self._rules.taints and not all_tolerated(
            entry.content.blocking_taints, request.tolerations or ()
        ):
            return None
        held_by = self._constrain(entry, request, constraints, must=must)
        if held_by is None:
            return None
        if not shared:
            self._holders.setdefault(entry.id, set()).add(claim)
        if not self.has_room(entry, request):
            return None
        taken = None
        if shared:
            taken = taken_of(entry.content.capacity, request.asked)
            amounts = self._taking.setdefault(entry.id, {})
            for name, (amount, _) in taken.items():
                amounts[name] = amounts.get(name, 0) + amount
        return Pick(request, entry, taken, held_by)

    def undo(self, pick: Pick, pool: Pool, claim: int) -> None:
        entry = pick.entry
        for constraint in pick.held_by:
            constraint.remove(pick.request.base)
        if pick.taken is None:
            self._holders[entry.id].discard(claim)
            if entry.consumption:
                self._release_counters(entry, pool)
        elif pick.taken:
            amounts = self._taking[entry.id]
            for name, (amount, _) in pick.taken.items():
                amounts[name] -= amount
            if not any(amounts.values()):
                del self._taking[entry.id]

    def _constrain(
        self, entry: DeviceEntry, request: Request, constraints: list[Constraint], *, must: bool
    ) -> tuple[Constraint, ...] | None:
        held_by: list[Constraint] = []
        for constraint in constraints:
            if not constraint.concerns(request.base, request.alternative):
                continue
            if constraint.add(request.base, entry.content):
                held_by.append(constraint)
                continue
            if must:
                raise AllocationError(
                    f"claim {request.claim}, request {request.name}: cannot add device {entry.id}"
                    " because a claim constraint would not be satisfied"
                )
            for earlier in held_by:
                earlier.remove(request.base)
            return None
        return tuple(held_by)

    def _use_counters(self, entry: DeviceEntry, pool: Pool, *, shared: bool) -> bool:
        if not self._rules.partitions:
            return False
        if shared and (entry.id in self._allocated.consumed or entry.id in self._taking):
            return True
        used = self._used.setdefault(pool.name, {})
        for counter, amount in entry.consumption:
            used[counter] = used.get(counter, 0) + amount
        # upstream: every counter of the pool is looked at, not just those the device uses.
        for counter, left in self._counters.of(pool).items():
            if left < used.get(counter, 0):
                self._release_counters(entry, pool)
                return False
        return True

    def _release_counters(self, entry: DeviceEntry, pool: Pool) -> None:
        used = self._used[pool.name]
        for counter, amount in entry.consumption:
            used[counter] -= amount

"""Devices picked so far in a search: who has them, what they use up, and what ties them together.

The search adds a pick and takes it back when it leads nowhere; either way nothing of a device that
is not picked stays behind.

Conditions that tie the devices of a claim together: same attribute, or different ones. A constraint
is told of every device that is picked or given back and says whether a pick still satisfies it.

Sources: `matchAttributeConstraint` in `allocator_incubating.go` and `distinctAttributeConstraint`
in `constraint.go`, both in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.kubernetes.kinds.devices import DeviceAttribute, DeviceConstraint
from podium.kubernetes.kinds.meta import Quantity
from podium.scheduler.plugins.dynamic_resources.capacity import Amounts, has_room, taken_of
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.inventory import Content, DeviceEntry, DeviceId
from podium.scheduler.plugins.dynamic_resources.pools import Counters, Pool
from podium.scheduler.plugins.dynamic_resources.requests import AllocationError, ClaimRequest
from podium.scheduler.plugins.dynamic_resources.taint_rules import all_tolerated

Value = tuple[str, object]
"""The type and a value of an attribute."""

Values = frozenset[Value]
"""All values of an attribute: one, or with the gate DRAListTypeAttributes those of a list. Without
it a list has none."""


class EmptyConstraintError(ValueError):
    """A constraint of no known kind."""


class Constraint:
    """What both kinds share: which requests they are about, and the attribute they read."""

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool) -> None:
        self._requests = frozenset(requests)
        self._attribute = attribute
        self._lists = lists

    def concerns(self, request: str, alternative: str) -> bool:
        """Whether picks for a request (or its alternative) are bound by this constraint."""
        return (
            not self._requests
            or request in self._requests
            or (bool(alternative) and f"{request}/{alternative}" in self._requests)
        )

    def add(self, request: str, content: Content) -> bool:
        """Take note of a pick if it satisfies the constraint."""
        raise NotImplementedError

    def remove(self, request: str) -> None:
        """Undo a successful `add`."""
        raise NotImplementedError


class MatchAttribute(Constraint):
    """All devices must have the same value, or all lists of values one in common."""

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool = False) -> None:
        super().__init__(requests, attribute, lists=lists)
        self._common: list[Values] = []
        """What the picks so far have in common, after each of them."""

    def add(self, request: str, content: Content) -> bool:  # noqa: ARG002
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        values = values_of(attribute, lists=self._lists)
        common = values & self._common[-1] if self._common else values
        if not common and (self._common or self._lists):
            return False
        self._common.append(common)
        return True

    def remove(self, request: str) -> None:  # noqa: ARG002
        self._common.pop()


class DistinctAttribute(Constraint):
    """All devices must have different values, or lists without a value in common.

    upstream: one value is remembered per request, the latest, and giving a device back forgets it.
    A request for several devices is therefore compared with its last pick only.
    """

    def __init__(self, requests: Sequence[str], attribute: str, *, lists: bool = False) -> None:
        super().__init__(requests, attribute, lists=lists)
        self._values: dict[str, Values] = {}
        self._count = 0

    def add(self, request: str, content: Content) -> bool:
        attribute = content.attribute(self._attribute)
        if attribute is None:
            return False
        values = values_of(attribute, lists=self._lists)
        if self._count:
            others = self._values.values()
            if not values and (others or self._lists):
                return False
            if any(values & other for other in others):
                return False
        self._values[request] = values
        self._count += 1
        return True

    def remove(self, request: str) -> None:
        self._values.pop(request, None)
        self._count -= 1


def constraint_of(written: DeviceConstraint, *, lists: bool) -> Constraint:
    """`lists` is the gate DRAListTypeAttributes."""
    requests = written.requests or ()
    if written.match_attribute is not None:
        return MatchAttribute(requests, written.match_attribute, lists=lists)
    if written.distinct_attribute is not None:
        return DistinctAttribute(requests, written.distinct_attribute, lists=lists)
    raise EmptyConstraintError("empty constraint (unsupported constraint type?)")


def values_of(attribute: DeviceAttribute, *, lists: bool) -> Values:
    """The values of an attribute, each with its type."""
    if lists:
        for kind, listed in (
            ("int", attribute.ints),
            ("bool", attribute.bools),
            ("string", attribute.strings),
            ("version", attribute.versions),
        ):
            if listed:
                return frozenset((kind, value) for value in listed)
    for kind, value in (
        ("string", attribute.string),
        ("int", attribute.int_),
        ("bool", attribute.bool_),
        ("version", attribute.version),
    ):
        if value is not None:
            return frozenset({(kind, value)})
    return frozenset()


@dataclass(frozen=True, slots=True)
class Pick:
    """A device given to a request; `taken` is set for a share of a device.

    `counted` says that the counters of its pool were charged for this pick.
    """

    request: ClaimRequest
    entry: DeviceEntry
    taken: dict[str, tuple[int, Quantity]] | None
    held_by: tuple[Constraint, ...]
    counted: bool


class AvailableCounters:
    """What allocated devices leave of the counters of pools.

    upstream: pools are distinguished by name only here, whatever their driver, and the first that
    is asked about stands for all of that name.
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
class PickRules:
    """Features that change what may be picked."""

    sharing: bool = True
    partitions: bool = True
    taints: bool = True
    binding_conditions: bool = True
    lists: bool = False


class Picks:
    """The picks of one search on one node."""

    def __init__(
        self, allocated: AllocatedDevices, counters: AvailableCounters, rules: PickRules
    ) -> None:
        self._allocated = allocated
        self._counters = counters
        self._rules = rules
        self._holders: dict[DeviceId, set[int]] = {}
        self._taking: dict[DeviceId, Amounts] = {}
        self._shares: dict[DeviceId, int] = {}
        self._used: dict[str, Counters] = {}

    def is_busy(self, entry: DeviceEntry, request: ClaimRequest, claim: int) -> bool:
        """Whether the device is in use, as far as this kind of request minds."""
        holders = self._holders.get(entry.id)
        if request.admin:
            return holders is not None and claim in holders
        return bool(holders) or self._allocated.is_dedicated(entry.id)

    def has_room(self, entry: DeviceEntry, request: ClaimRequest) -> bool:
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
        request: ClaimRequest,
        claim: int,
        constraints: list[Constraint],
        *,
        must: bool,
    ) -> Pick | None:
        """Pick a device if nothing speaks against it. With `must` a constraint that does is an
        error, because every device of the list was requested."""
        shared = self._rules.sharing and entry.content.multiple
        if self.is_busy(entry, request, claim):
            return None
        charge = bool(entry.consumption) and not (shared and self._is_charged(entry))
        if charge and not (self._rules.partitions and self._use_counters(entry, pool)):
            return None
        held_by: tuple[Constraint, ...] | None = None
        if not self._rules.taints or all_tolerated(
            entry.content.blocking_taints, request.tolerations or ()
        ):
            held_by = self._constrain(entry, request, constraints, must=must)
        if held_by is None or not self.has_room(entry, request):
            for constraint in held_by or ():
                constraint.remove(request.base)
            if charge:
                self._release_counters(entry, pool)
            return None
        taken = None
        if shared:
            taken = taken_of(entry.content.capacity, request.asked)
            self._take(entry.id, taken, 1)
        else:
            self._holders.setdefault(entry.id, set()).add(claim)
        return Pick(request, entry, taken, held_by, charge)

    def undo(self, pick: Pick, pool: Pool, claim: int) -> None:
        entry = pick.entry
        for constraint in pick.held_by:
            constraint.remove(pick.request.base)
        if pick.counted:
            self._release_counters(entry, pool)
        if pick.taken is None:
            self._holders[entry.id].discard(claim)
        else:
            self._take(entry.id, pick.taken, -1)

    def _take(self, device: DeviceId, taken: dict[str, tuple[int, Quantity]], sign: int) -> None:
        amounts = self._taking.setdefault(device, {})
        for name, (amount, _) in taken.items():
            amounts[name] = amounts.get(name, 0) + sign * amount
        left = self._shares[device] = self._shares.get(device, 0) + sign
        if not left:
            del self._taking[device], self._shares[device]

    def _is_charged(self, entry: DeviceEntry) -> bool:
        """Whether the counters of a shared device were charged with an earlier share.

        upstream: a share without any capacity does not show in what is recorded of a claim, and
        is charged again.
        """
        return entry.id in self._allocated.consumed or entry.id in self._taking

    def _constrain(
        self,
        entry: DeviceEntry,
        request: ClaimRequest,
        constraints: list[Constraint],
        *,
        must: bool,
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

    def _use_counters(self, entry: DeviceEntry, pool: Pool) -> bool:
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

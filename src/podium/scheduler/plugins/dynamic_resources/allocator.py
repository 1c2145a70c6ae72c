"""The search for devices: first fit, depth first, in a fixed order.

Claims, requests, alternatives and devices are tried in the order in which they are written, and
the last decision is changed first, so the outcome is a function of the input alone. Two
short cuts leave the outcome as it is: a request that would exceed the size of a claim whatever the
devices ends all attempts to choose other ones, and a device equal to one that has just failed is
not tried again.

The time limits of a node and of an attempt are counted in steps rather than seconds
(`search_budget`): the engine owns no clock, and a search must end the same way whenever it is
repeated.

Source: `Allocate` and `allocateOne` in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`.
"""

import enum
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices, claim_key
from podium.scheduler.plugins.dynamic_resources.device_strategy import DeviceStrategy, Usable
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceEntry
from podium.scheduler.plugins.dynamic_resources.picks import (
    AvailableCounters,
    Constraint,
    EmptyConstraintError,
    Pick,
    PickRules,
    Picks,
    constraint_of,
)
from podium.scheduler.plugins.dynamic_resources.pools import NodePools
from podium.scheduler.plugins.dynamic_resources.requests import (
    ALL,
    MAX_RESULTS,
    AllocationError,
    ClaimRequest,
    ClaimRequests,
)
from podium.scheduler.plugins.dynamic_resources.search_budget import (
    STEPS_PER_SECOND,
    SearchBudget,
    TimedOut,
)

Order = Callable[[ClaimRequest, Sequence[DeviceEntry], Usable], Sequence[DeviceEntry]]
"""Of a request: beside which devices, and which ones it may have."""


class NoDevices(Exception):
    """The node cannot serve the claims; the text is the reason."""


class _Outcome(enum.Enum):
    FAILED = 0
    DONE = 1
    TOO_BIG = 2


_FAILED, _DONE, _TOO_BIG = _Outcome.FAILED, _Outcome.DONE, _Outcome.TOO_BIG


@dataclass(frozen=True, slots=True)
class AllocationSolution:
    """Picks per claim, and per claim the index of the alternative each request got. `points` are
    those of the node under a strategy, 0 without one."""

    picks: Sequence[Sequence[Pick]]
    chosen: Sequence[Sequence[int]]
    points: int = 0


class Allocator:
    """Allocation of some claims: what is the same for all nodes of an attempt."""

    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        allocated: AllocatedDevices,
        rules: PickRules,
        timeout_s: float,
        strategy: DeviceStrategy | None = None,
    ) -> None:
        """With a `strategy` devices are tried in its order instead of that of the lists."""
        self._claims = claims
        self._allocated = allocated
        self._rules = rules
        self._strategy = strategy
        self._counters = AvailableCounters(allocated)
        self._most_decisions = int(timeout_s * STEPS_PER_SECOND) or None

    def allocate(
        self,
        pools: NodePools,
        node_name: str,
        labels: Mapping[str, str],
        budget: SearchBudget | None = None,
    ) -> AllocationSolution | None:
        """Devices for all claims on a node, or None if there is no way. The work is paid for from
        the budget of the attempt, if it has one.

        Raises AllocationError, NoDevices and TimedOut.
        """
        budget = budget or SearchBudget(0)
        budget.begin_node()
        picks = Picks(self._allocated, self._counters, self._rules)
        order = None
        if self._strategy is not None:
            order = partial(self._strategy.order, pools=pools, counters=self._counters)
        search = _Search(
            self._claims, pools, picks, self._rules, self._most_decisions, order, budget
        )
        search.prepare(node_name, labels)
        try:
            solution = search.run()
        except RecursionError:
            raise AllocationError("too many devices are requested at once") from None
        if solution is None and any(pool.invalid for pool in pools.pools):
            raise NoDevices("invalid resource pools were encountered")
        if solution is not None and self._strategy is not None:
            picked = [pick for of_claim in solution.picks for pick in of_claim]
            wanted = search.wanted_by(picked)
            points = self._strategy.points(wanted, picked, pools, self._counters)
            return replace(solution, points=points)
        return solution


class _Search:
    def __init__(
        self,
        claims: Sequence[ClaimRequests],
        pools: NodePools,
        picks: Picks,
        rules: PickRules,
        most_decisions: int | None,
        order: Order | None,
        budget: SearchBudget,
    ) -> None:
        self._claims = claims
        self._pools = pools
        self._picks = picks
        self._rules = rules
        self._decisions_left = most_decisions
        self._order = order
        self._budget = budget
        self._sequences: dict[int, Sequence[DeviceEntry]] = {}
        self._wanted: dict[int, dict[int, bool]] = {}
        self._all: dict[int, list[DeviceEntry]] = {}
        self._constraints: list[list[Constraint]] = []
        self._results: list[list[Pick]] = [[] for _ in claims]
        self._chosen: list[list[int]] = [[0] * len(claim.requests) for claim in claims]
        self._skip_equals = True
        self._node_name = ""
        self._labels: Mapping[str, str] = {}

    def prepare(self, node_name: str, labels: Mapping[str, str]) -> None:
        """Check the claims for this node before anything is tried."""
        self._node_name, self._labels = node_name, labels
        for claim in self._claims:
            self._budget.charge(sum(map(len, claim.requests)))
            least = sum(
                min(self._count(request) for request in alternatives)
                for alternatives in claim.requests
            )
            if least > MAX_RESULTS:
                raise AllocationError(
                    f"claim {claim_key(claim.claim)}: number of requested devices {least} exceeds"
                    f" the claim limit of {MAX_RESULTS}"
                )
            constraints: list[Constraint] = []
            for number, written in enumerate(claim.claim.spec.devices.constraints or ()):
                try:
                    constraints.append(constraint_of(written, lists=self._rules.lists))
                except EmptyConstraintError as problem:
                    key = claim_key(claim.claim)
                    raise AllocationError(f"claim {key}, constraint #{number}: {problem}") from None
            self._constraints.append(constraints)

    def _count(self, request: ClaimRequest) -> int:
        """How many devices a request needs on this node."""
        if request.problem is not None:
            raise AllocationError(request.problem)
        if request.mode != ALL:
            return request.count
        self._skip_equals = False
        found: list[DeviceEntry] = []
        for pool in self._pools.pools:
            if pool.incomplete or pool.invalid:
                state = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(
                    f"claim {request.claim}, request {request.name}: asks for all devices, but"
                    f" resource pool {pool} is currently {state}"
                )
            self._budget.charge_devices(len(pool.devices))
            found.extend(
                entry
                for entry in pool.devices
                if self._wants(request, entry) and self._picks.has_room(entry, request)
            )
        self._all[id(request)] = found
        return len(found)

    def _wants(self, request: ClaimRequest, entry: DeviceEntry) -> bool:
        known = self._wanted.setdefault(id(request), {})
        wanted = known.get(id(entry))
        if wanted is None:
            wanted = known[id(entry)] = self._is_selectable(request, entry)
        return wanted

    def _is_selectable(self, request: ClaimRequest, entry: DeviceEntry) -> bool:
        if entry.device.binding_conditions and not self._rules.binding_conditions:
            return False
        if not request.wants(entry, self._budget):
            return False
        try:
            return entry.reach is None or entry.reach.covers(self._node_name, self._labels)
        except ValueError as problem:
            raise AllocationError(str(problem)) from None

    def wanted_by(self, picks: Iterable[Pick]) -> list[DeviceEntry]:
        """The devices of the node that one of the requests with a pick could have."""
        requests = {id(pick.request): pick.request for pick in picks}.values()
        return [
            entry
            for entry in self._pools.sequence
            if any(self._wants(request, entry) for request in requests)
        ]

    def _sequence(self, claim: int, request: ClaimRequest, picked: int) -> Sequence[DeviceEntry]:
        """The devices of the node in the order in which they are tried for a request, which stays
        the same from its first device to its last."""
        if self._order is None:
            return self._pools.sequence
        if not picked:
            self._budget.charge_devices(len(self._pools.sequence))
            near = [pick.entry for picks in self._results for pick in picks]
            usable = partial(self._is_usable, claim, request)
            self._sequences[id(request)] = self._order(request, near, usable)
        return self._sequences[id(request)]

    def _is_usable(self, claim: int, request: ClaimRequest, entry: DeviceEntry) -> bool:
        return (
            not self._picks.is_busy(entry, request, claim)
            and self._wants(request, entry)
            and self._picks.has_room(entry, request)
        )

    def run(self) -> AllocationSolution | None:
        if self._request(0, 0) is not _DONE:
            return None
        return AllocationSolution(self._results, self._chosen)

    def _request(self, claim: int, number: int) -> _Outcome:
        """Go on with a request of a claim and everything behind it."""
        if claim == len(self._claims):
            return _DONE
        requests = self._claims[claim].requests
        if number == len(requests):
            outcome = self._request(claim + 1, 0)
            return _FAILED if outcome is _TOO_BIG else outcome
        alternatives = requests[number]
        if not alternatives[0].alternative:
            return self._pick(claim, number, alternatives[0], 0, 0)
        all_too_big = True
        for index, alternative in enumerate(alternatives):
            outcome = self._pick(claim, number, alternative, 0, 0)
            if outcome is _DONE:
                self._chosen[claim][number] = index
                return _DONE
            all_too_big &= outcome is _TOO_BIG
        return _TOO_BIG if all_too_big else _FAILED

    def _pick(
        self, claim: int, number: int, request: ClaimRequest, picked: int, start: int
    ) -> _Outcome:
        """Find the next device of a request, at or behind a position of the sequence."""
        self._budget.charge(1)
        if self._decisions_left is not None:
            self._decisions_left -= 1
            if self._decisions_left < 0:
                raise TimedOut
        listed = self._all[id(request)] if request.mode == ALL else None
        if listed is not None and not listed:
            return _FAILED
        count = request.count if listed is None else len(listed)
        if picked >= count:
            return self._request(claim, number + 1)
        if len(self._results[claim]) + count - picked > MAX_RESULTS:
            return _TOO_BIG
        if listed is not None:
            entry = listed[picked]
            return self._try(claim, number, request, picked, entry, 0) or _FAILED
        failed: set[Hashable] = set()
        sequence = self._sequence(claim, request, picked)
        busy, has_room = self._picks.is_busy, self._picks.has_room
        passed = start
        for position in range(start, len(sequence)):
            entry = sequence[position]
            if (
                busy(entry, request, claim)
                or not self._wants(request, entry)
                or entry.likeness in failed
                or not has_room(entry, request)
            ):
                continue
            self._budget.charge_devices(position - passed)
            passed = position
            outcome = self._try(claim, number, request, picked, entry, position + 1)
            if outcome is None:
                continue
            if outcome is not _FAILED:
                return outcome
            if self._skip_equals and not request.admin and not entry.content.multiple:
                failed.add(entry.likeness)
        self._budget.charge_devices(len(sequence) - passed)
        return _FAILED

    def _try(
        self,
        claim: int,
        number: int,
        request: ClaimRequest,
        picked: int,
        entry: DeviceEntry,
        following: int,
    ) -> _Outcome | None:
        """Pick a device and go on behind it; None if it cannot be picked."""
        pool = self._pools.pool_of[id(entry)]
        pick = self._picks.add(
            entry, pool, request, claim, self._constraints[claim], must=request.mode == ALL
        )
        if pick is None:
            return None
        results = self._results[claim]
        results.append(pick)
        outcome = self._pick(claim, number, request, picked + 1, following)
        if outcome is not _DONE:
            results.pop()
            self._picks.undo(pick, pool, claim)
        return outcome

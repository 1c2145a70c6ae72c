"""Filter: which nodes can serve the pod's claims?

What a node can do is a search of its own (`allocator`), but most answers are known from the pods
before (`search_memory`); only the devices of the node that is chosen in the end are worked out as
an allocation. Pods on nodes change nothing here, so trials with other pods get the same answers;
what counts them is `node_allocatable`, where devices stand for resources of their node.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import AllocationResult, ResourceClaim
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of, indices
from podium.scheduler.cluster.node_matching import terms_mask
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.dynamic_resources.allocator import (
    AllocationSolution,
    Allocator,
    NoDevices,
)
from podium.scheduler.plugins.dynamic_resources.attempt_state import (
    ClaimsState,
    ExtendedClaim,
    Task,
)
from podium.scheduler.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    is_overdue,
    is_ready,
)
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.device_strategy import (
    MAX_POINTS,
    DeviceStrategy,
    NodePlaces,
)
from podium.scheduler.plugins.dynamic_resources.extended_resources import requests_on_node
from podium.scheduler.plugins.dynamic_resources.node_allocatable import (
    Footprint,
    NodeAllocatable,
    used_by_others,
)
from podium.scheduler.plugins.dynamic_resources.picks import PickRules
from podium.scheduler.plugins.dynamic_resources.pools import GatherError, NodePools, Supply
from podium.scheduler.plugins.dynamic_resources.requests import (
    AllocationError,
    ClaimRequests,
    FindClass,
    requests_of,
)
from podium.scheduler.plugins.dynamic_resources.results import (
    INVALID_POOLS,
    NOT_SERVED,
    SERVED,
    TIMED_OUT,
    UNKNOWN,
    Answer,
    SearchMemory,
    allocations_of,
    check_reach,
    points_of_allocated,
    points_of_solution,
)
from podium.scheduler.plugins.dynamic_resources.search_budget import (
    BudgetSpent,
    SearchBudget,
    TimedOut,
)
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses
from podium.scheduler.plugins.resources.stack import number_patterns

CANNOT_ALLOCATE = unresolvable("cannot allocate all claims")
INVALID = unresolvable("invalid resource pools were encountered")
CLAIM_ELSEWHERE = unresolvable("resourceclaim not available on the node")
STALE_CLAIM = unresolvable("cannot schedule extended resource claim")
CANNOT_FIT = unresolvable("cannot fit resource")
LATE = "node {}: timed out trying to allocate devices"

_STATUSES = (CANNOT_ALLOCATE, INVALID, CLAIM_ELSEWHERE, STALE_CLAIM, CANNOT_FIT)
_NUMBER = {status: number + 1 for number, status in enumerate(_STATUSES)}
_BY_CODE = np.zeros(5, dtype=np.int32)
_BY_CODE[NOT_SERVED] = _NUMBER[CANNOT_ALLOCATE]
_BY_CODE[INVALID_POOLS] = _NUMBER[INVALID]

_encode = msgspec.msgpack.Encoder().encode

RowArray = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class BindingDeadline:
    """How long devices may take to become ready, and what time it is."""

    timeout_s: float
    now_s: float


class DeviceSearch:
    """The searches of one plugin instance."""

    def __init__(
        self,
        nodes: NodeTable,
        supply: Supply,
        devices: AllocatedDevices,
        classes: ExtendedResourceClasses,
        find_class: FindClass,
        gates: Mapping[str, bool],
        rules: PickRules,
        timeout_s: float,
        strategy: DeviceStrategy | None = None,
        node_allocatable: NodeAllocatable | None = None,
        node_places: NodePlaces | None = None,
    ) -> None:
        """`node_allocatable` is there where devices may stand for resources of their node,
        `node_places` with a strategy."""
        self._nodes = nodes
        self._supply = supply
        self._devices = devices
        self._classes = classes
        self._find_class = find_class
        self._gates = gates
        self._rules = rules
        self._timeout_s = timeout_s
        self._strategy = strategy
        self._node_allocatable = node_allocatable
        self._node_places = node_places
        self._memory = SearchMemory(nodes, supply, devices)

    # answers for many rows

    def verdict(
        self, cycle: Cycle, state: ClaimsState, rows: Rows, deadline: BindingDeadline | None
    ) -> Verdict | None:
        found = indices(rows)
        values = np.zeros(len(found), dtype=np.int32)
        failures: dict[int, Status] = {}
        for positions, task in self._tasks(state, found):
            if isinstance(task, Status):
                values[positions] = _NUMBER[task]
            elif task is not None:
                values[positions] = self._ask(state, task, found[positions])
        for position in np.flatnonzero(values < 0).tolist():
            failures[position] = state.failures[int(found[position])]
        if self._node_allocatable is not None:
            failures |= self._used_by_others(cycle, state, found, values)
            for position in np.flatnonzero(values == 0).tolist():
                short = self._lack(cycle, state, self._node_allocatable, int(found[position]))
                if short is not None:
                    failures[position] = short
                    values[position] = -1
        blocked = self._mask_blocked(state, rows, deadline)
        if blocked is not None:
            values[blocked & (values == 0)] = _NUMBER[CLAIM_ELSEWHERE]
        return _verdict(values, failures)

    def scores(self, state: ClaimsState, workload: Ints, rows: Rows) -> Ints:
        """Points of the alternatives that nodes would serve, and below them those of a strategy; 0
        where nothing is allocated now. `workload` are the rows where others of the pod's workload
        have devices, one for each."""
        found = indices(rows)
        scores: Ints = np.zeros(len(found), dtype=np.int64)
        before = sum(points_of_allocated(own.claim, own.pending) for own in state.claims)
        before *= MAX_POINTS + 1 if self._strategy else 1
        for positions, task in self._tasks(state, found):
            if isinstance(task, Task):
                points = self._memory.answers(task.key).points[found[positions]]
                scores[positions] = self._with_places(points, workload, found[positions]) + before
        return scores

    def _with_places(
        self, points: npt.NDArray[np.int32], workload: Ints, rows: RowArray
    ) -> npt.NDArray[np.int32]:
        """The points of a strategy with those of node labels, each by its weight."""
        places, strategy = self._node_places, self._strategy
        if places is None or strategy is None or not places.weight:
            return points
        alternatives, own = np.divmod(points, MAX_POINTS + 1)
        weighted = strategy.weight * own + places.weight * places.points(workload, rows)
        both = np.rint(weighted / (strategy.weight + places.weight)).astype(np.int32)
        return alternatives * (MAX_POINTS + 1) + both

    def find_blocking_claims(
        self, state: ClaimsState, rows: Rows, deadline: BindingDeadline | None
    ) -> list[int]:
        """Positions of the allocated claims that keep the pod from some of the rows, in the order
        in which a walk over the rows meets them."""
        met: list[tuple[int, int]] = []
        for position, mask in self._unavailable(state, rows, deadline):
            where = np.arange(count_of(rows)) if mask is None else np.flatnonzero(mask)
            if len(where):
                met.append((int(where[0]), position))
        return [position for _, position in sorted(met)]

    def _used_by_others(
        self, cycle: Cycle, state: ClaimsState, rows: RowArray, values: npt.NDArray[np.int32]
    ) -> dict[int, Status]:
        """Positions of rows where pods have a claim already that is for one of them; comes before
        all but what extended resources are rejected for."""
        found: dict[int, Status] = {}
        earlier = (_NUMBER[STALE_CLAIM], _NUMBER[CANNOT_FIT])
        for own in state.claims:
            if not own.allocated:
                continue
            for row, status in used_by_others(own.claim, cycle.pod.uid, cycle.usage):
                for position in np.flatnonzero(rows == row).tolist():
                    where = rows[position : position + 1]
                    usable = own.terms is None or terms_mask(self._nodes, own.terms, where)[0]
                    if usable and position not in found and values[position] not in earlier:
                        found[position] = status
                        values[position] = -1
        return found

    def _lack(
        self, cycle: Cycle, state: ClaimsState, check: NodeAllocatable, row: int
    ) -> Status | None:
        """Why a node that can serve the claims has not the resources that go with them."""
        if row not in state.footprints:
            state.footprints[row] = self._footprint(cycle, state, check, row)
        footprint = state.footprints[row]
        if isinstance(footprint, Footprint):
            return check.lack(footprint, cycle.usage, row)
        return footprint

    def _footprint(
        self, cycle: Cycle, state: ClaimsState, check: NodeAllocatable, row: int
    ) -> Footprint | Status | None:
        allocated = list(state.shared)
        if state.allocates and _is_mapped(self._supply.pools_of(row)):
            try:
                found = self.allocations(state, row, self._budget(state))
            except TimedOut:
                return error(LATE.format(self._nodes.names[row]))
            if found is not None:
                task, allocations = found
                claims = (requests.claim for requests in task.claims)
                allocated = [*zip(claims, allocations, strict=True), *allocated]
        return check.footprint(cycle.pod.pod, state.claim_uids, allocated) if allocated else None

    def _mask_blocked(
        self, state: ClaimsState, rows: Rows, deadline: BindingDeadline | None
    ) -> Mask | None:
        blocked: Mask | None = None
        for _, mask in self._unavailable(state, rows, deadline):
            if mask is None:
                return np.ones(count_of(rows), dtype=np.bool_)
            blocked = mask if blocked is None else blocked | mask
        return blocked

    def _unavailable(
        self, state: ClaimsState, rows: Rows, deadline: BindingDeadline | None
    ) -> Iterator[tuple[int, Mask | None]]:
        """(position of an allocated claim, rows where it is of no use; None for all of them).

        upstream: an allocation that another member of the group got in the same attempt counts for
        every node, even where its devices cannot be reached; here as once it is written.
        """
        for position, own in enumerate(state.claims):
            if not own.allocated and own.pending is None:
                continue
            if own.allocated and deadline is not None and _is_given_up(own.claim, deadline):
                yield position, None
            elif own.terms is not None:
                yield position, ~terms_mask(self._nodes, own.terms, rows)

    def _ask(self, state: ClaimsState, task: Task, rows: RowArray) -> npt.NDArray[np.int32]:
        """Numbers of statuses for rows; negative where the search could not be finished."""
        answers = self._memory.answers(task.key)
        budget = self._budget(state)
        for row in rows[answers.codes[rows] == UNKNOWN].tolist():
            if row in state.failures:
                continue
            try:
                pools = self._supply.pools_of(row)
                kind = pools.kind_with(self._devices)
                answer = answers.by_kind.get(kind) if kind is not None else None
                if answer is None:
                    answer = self._search(task, row, budget)
                    if kind is not None:
                        answers.by_kind[kind] = answer
                answers.put(row, answer)
            except BudgetSpent:
                break
            except (AllocationError, GatherError) as problem:
                state.failures[row] = error(str(problem))
        codes = answers.codes[rows]
        values = _BY_CODE[codes]
        for position in np.flatnonzero((codes == UNKNOWN) | (codes == TIMED_OUT)).tolist():
            row = int(rows[position])
            name = self._nodes.names[row]
            late = error(LATE.format(name))
            state.failures.setdefault(row, late)
            values[position] = -1
        return values

    def _budget(self, state: ClaimsState) -> SearchBudget:
        if state.budget is None:
            state.budget = SearchBudget(self._timeout_s)
        return state.budget

    def _search(self, task: Task, row: int, budget: SearchBudget) -> Answer:
        """Raises BudgetSpent: what the attempt had no time for is not known of the node."""
        try:
            solution = self._solve(task, row, budget)
        except BudgetSpent:
            raise
        except TimedOut:
            return TIMED_OUT, 0
        except NoDevices:
            return INVALID_POOLS, 0
        if solution is None:
            return NOT_SERVED, 0
        check_reach(solution, task.claims)
        points = points_of_solution(task.claims, solution)
        # What users wrote down themselves outweighs how full a node is.
        return SERVED, points * (MAX_POINTS + 1) + solution.points if self._strategy else points

    def _solve(
        self, task: Task, row: int, budget: SearchBudget | None = None
    ) -> AllocationSolution | None:
        return task.allocator.allocate(
            self._supply.pools_of(row),
            self._nodes.names[row],
            self._nodes.labels.labels_of(row),
            budget,
        )

    # the chosen node

    def allocations(
        self, state: ClaimsState, row: int, budget: SearchBudget | None = None
    ) -> tuple[Task, list[AllocationResult]] | None:
        """The allocations that a node would serve, for the claims of its task. Without a budget,
        as for the node that was chosen, the search is one that was made before."""
        ((_, task),) = self._tasks(state, np.array([row], dtype=np.intp))
        solution = self._solve(task, row, budget) if isinstance(task, Task) else None
        if not isinstance(task, Task) or solution is None:
            return None
        return task, allocations_of(solution, task.claims, self._nodes.names[row])

    # tasks

    def _tasks(
        self, state: ClaimsState, rows: RowArray
    ) -> Iterator[tuple[Rows, Task | Status | None]]:
        """What has to be allocated where: positions of rows, and their task or verdict."""
        everything = slice(0, len(rows))
        if state.extended is None:
            yield everything, self._task(state, ())
        elif state.extended.stale:
            yield everything, STALE_CLAIM
        else:
            yield from self._extended_tasks(state, state.extended, rows)

    def _extended_tasks(
        self, state: ClaimsState, extended: ExtendedClaim, rows: RowArray
    ) -> Iterator[tuple[RowArray, Task | Status | None]]:
        """Nodes differ in which extended resources devices have to serve there."""
        mapped = [name for name in extended.resources if self._classes.find(name) is not None]
        masks = [self._mask_lacking(name, rows) for name in mapped]
        masks.extend(
            self._never_heard_of(name, rows) for name in extended.resources if name not in mapped
        )
        numbers, patterns = number_patterns(masks)
        for number, pattern in enumerate(patterns):
            positions = np.flatnonzero(numbers == number)
            if any(index >= len(mapped) for index in pattern):
                yield positions, CANNOT_FIT
            else:
                yield positions, self._task(state, tuple(mapped[index] for index in pattern))

    def _mask_lacking(self, resource: str, rows: RowArray) -> Mask:
        """Rows whose nodes have nothing of a resource."""
        column = self._nodes.resources.find(resource)
        if column < 0:
            return np.ones(len(rows), dtype=np.bool_)
        mask: Mask = self._nodes.allocatable[column, rows] == 0
        return mask

    def _never_heard_of(self, resource: str, rows: RowArray) -> Mask:
        """Rows whose nodes do not even list a resource."""
        mask = self._mask_lacking(resource, rows)
        for position in np.flatnonzero(mask).tolist():
            node = self._nodes.objects[rows[position]]
            if node is not None and resource in (node.status.allocatable or {}):
                mask[position] = False
        return mask

    def _task(self, state: ClaimsState, served: tuple[str, ...]) -> Task | None:
        if served not in state.tasks:
            state.tasks[served] = self._new_task(state, served)
        return state.tasks[served]

    def _new_task(self, state: ClaimsState, served: tuple[str, ...]) -> Task | None:
        claims: Sequence[ClaimRequests] = state.requests
        wanted = None
        extended = state.extended
        if extended is not None and (served or state.claims):
            wanted = requests_on_node(extended.claim, extended.pod, served, self._classes)
            claims = [*claims, requests_of(wanted.claim, self._find_class, self._gates)]
        if not claims:
            return None
        allocator = Allocator(claims, self._devices, self._rules, self._timeout_s, self._strategy)
        return Task(claims, allocator, _key(claims), wanted)


def _key(claims: Sequence[ClaimRequests]) -> bytes:
    """Everything about claims that an answer depends on."""
    parts: list[object] = []
    for claim in claims:
        devices = claim.claim.spec.devices
        parts.append((devices.requests, devices.constraints))
        parts.extend(
            request.class_.spec.selectors if request.class_ is not None else None
            for alternatives in claim.requests
            for request in alternatives
        )
    return _encode(parts)


def _verdict(values: npt.NDArray[np.int32], failures: dict[int, Status]) -> Verdict | None:
    if not failures:
        return choosing(values, _STATUSES)
    statuses = list(_STATUSES)
    numbers: dict[Status, int] = {}
    for position, status in failures.items():
        if status not in numbers:
            statuses.append(status)
            numbers[status] = len(statuses)
        values[position] = numbers[status]
    return choosing(values, statuses)


def _is_mapped(pools: NodePools) -> bool:
    """Whether some device of a node stands for resources of the node."""
    return any(entry.device.node_allocatable_resource_mappings for entry in pools.sequence)


def _is_given_up(claim: ResourceClaim, deadline: BindingDeadline) -> bool:
    """Whether a device of the claim failed to become ready, or took too long."""
    try:
        return not is_ready(claim) and is_overdue(claim, deadline.timeout_s, deadline.now_s)
    except BindingFailed:
        return True

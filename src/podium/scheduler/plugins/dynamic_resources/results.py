"""Solutions of the search: as the allocation in a claim's status, remembered, and as a score.

Source: `Allocate` and `createNodeSelector` in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`.

Answers of the search, remembered by question and node. Pods of one template ask the same question
of every node, and between two of them little changes: the devices of one pool were taken, a node
came. A question's answers are kept as columns over the node table, and rows whose node, slices or
pools have changed are forgotten before each use.

Score: how early in their lists the alternatives stand that a node would serve. A request with
`firstAvailable` names up to eight alternatives, best first. The first one is worth eight points,
the last of eight one.

Source: `computeScore` in `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import numpy.typing as npt

from podium.kubernetes.kinds.devices import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from podium.kubernetes.kinds.pod import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from podium.scheduler.cluster.growth import wider
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.plugins.dynamic_resources.allocator import AllocationSolution
from podium.scheduler.plugins.dynamic_resources.claim_state import AllocatedDevices
from podium.scheduler.plugins.dynamic_resources.picks import Pick
from podium.scheduler.plugins.dynamic_resources.pools import Supply
from podium.scheduler.plugins.dynamic_resources.requests import (
    AllocationError,
    ClaimRequest,
    ClaimRequests,
)

FROM_CLASS, FROM_CLAIM = "FromClass", "FromClaim"


def allocations_of(
    solution: AllocationSolution, claims: Sequence[ClaimRequests], node_name: str
) -> list[AllocationResult]:
    """One allocation per claim; raises AllocationError."""
    return [
        _allocation(claim, picks, chosen, node_name)
        for claim, picks, chosen in zip(claims, solution.picks, solution.chosen, strict=True)
    ]


def check_reach(solution: AllocationSolution, claims: Sequence[ClaimRequests]) -> None:
    """Find out whether a solution can be written as allocations; raises AllocationError."""
    for claim, picks in zip(claims, solution.picks, strict=True):
        _selector_of(claim, picks, "")


def _allocation(
    claim: ClaimRequests, picks: Sequence[Pick], chosen: Sequence[int], node_name: str
) -> AllocationResult:
    granted = [
        alternatives[index] for alternatives, index in zip(claim.requests, chosen, strict=True)
    ]
    uid = claim.claim.metadata.uid
    results = tuple(_result(pick, f"{uid}/{number}") for number, pick in enumerate(picks))
    config = (*_class_config(granted), *_claim_config(claim, granted))
    return AllocationResult(
        devices=DeviceAllocationResult(results=results or None, config=config or None),
        node_selector=_selector_of(claim, picks, node_name),
    )


def _selector_of(
    claim: ClaimRequests, picks: Sequence[Pick], node_name: str
) -> NodeSelector | None:
    try:
        return _node_selector(picks, node_name)
    except ValueError as problem:
        raise AllocationError(
            f"create NodeSelector for claim {claim.claim.metadata.name}: {problem}"
        ) from None


def _result(pick: Pick, share: str) -> DeviceRequestAllocationResult:
    device = pick.entry.device
    driver, pool, name = pick.entry.id
    consumed = {key: written for key, (_, written) in (pick.taken or {}).items()}
    return DeviceRequestAllocationResult(
        request=pick.request.full_name,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=True if pick.request.admin else None,
        tolerations=pick.request.tolerations,
        binding_conditions=device.binding_conditions,
        binding_failure_conditions=device.binding_failure_conditions,
        # Upstream draws a random UUID; one derived from the claim is as unique and repeatable.
        share_id=None if pick.taken is None else str(uuid5(NAMESPACE_URL, f"{share}/{name}")),
        consumed_capacity=consumed or None,
    )


def _class_config(granted: Sequence[ClaimRequest]) -> list[DeviceAllocationConfiguration]:
    """The configuration of each class, once, for all requests that use the class."""
    users: dict[str, list[ClaimRequest]] = {}
    for request in granted:
        if request.class_ is not None:
            users.setdefault(request.class_.metadata.name, []).append(request)
    return [
        DeviceAllocationConfiguration(
            source=FROM_CLASS,
            requests=tuple(request.full_name for request in requests),
            opaque=config.opaque,
        )
        for requests in users.values()
        if requests[0].class_ is not None
        for config in requests[0].class_.spec.config or ()
    ]


def _claim_config(
    claim: ClaimRequests, granted: Sequence[ClaimRequest]
) -> list[DeviceAllocationConfiguration]:
    """The claim's own configuration.

    upstream: an entry that names several requests is repeated for each of them.
    """
    configs: list[DeviceAllocationConfiguration] = []
    for config in claim.claim.spec.devices.config or ():
        named = config.requests or ()
        times = sum(
            request.base in named or (bool(request.alternative) and request.full_name in named)
            for request in granted
        )
        entry = DeviceAllocationConfiguration(
            source=FROM_CLAIM, requests=config.requests or None, opaque=config.opaque
        )
        configs.extend([entry] * (times if named else 1))
    return configs


def _node_selector(picks: Sequence[Pick], node_name: str) -> NodeSelector | None:
    """Where the picked devices can be used; None for everywhere."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for pick in picks:
        entry = pick.entry
        reach = entry.reach or entry.slice.reach
        if reach.node_name or entry.device.binds_to_node:
            own = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(own,)),))
        terms = reach.selector.node_selector_terms or () if reach.selector is not None else ()
        if len(terms) > 1:
            raise ValueError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
        for term in terms:
            _merge(fields, term.match_fields or ())
            _merge(expressions, term.match_expressions or ())
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(
        match_fields=tuple(fields) or None, match_expressions=tuple(expressions) or None
    )
    return NodeSelector(node_selector_terms=(term,))


def _merge(known: list[NodeSelectorRequirement], more: Sequence[NodeSelectorRequirement]) -> None:
    for requirement in more:
        if not any(_same(requirement, other) for other in known):
            known.append(requirement)


def _same(one: NodeSelectorRequirement, other: NodeSelectorRequirement) -> bool:
    return (
        one.key == other.key
        and one.operator == other.operator
        and set(one.values or ()) == set(other.values or ())
    )


UNKNOWN, SERVED, NOT_SERVED, INVALID_POOLS, TIMED_OUT = range(5)

_MAX_QUESTIONS = 64

Answer = tuple[int, int]
"""(one of the codes above, points of the alternatives that were chosen)"""


class Answers:
    """What is known about one question: a code and points for each row."""

    def __init__(self) -> None:
        self.codes: npt.NDArray[np.int8] = np.zeros(0, dtype=np.int8)
        self.points: npt.NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.by_kind: dict[Hashable, Answer] = {}
        """Answers for nodes that have the same devices, as far as a search can see."""
        self._supply_version = -1
        self._node_generation = 0
        self._sequence = 0

    def catch_up(self, nodes: NodeTable, supply: Supply, devices: AllocatedDevices) -> None:
        """Forget what may not be true any more."""
        touched = devices.touched_since(self._sequence)
        if supply.version != self._supply_version or touched is None:
            self.codes[:] = UNKNOWN
            self.by_kind.clear()
        else:
            for pool in touched:
                rows = supply.rows_of(pool)
                if rows:
                    self.codes[list(rows)] = UNKNOWN
        if nodes.capacity > len(self.codes):
            self.codes = wider(self.codes, nodes.capacity)
            self.points = wider(self.points, nodes.capacity)
        self.codes[nodes.changed_since(self._node_generation)] = UNKNOWN
        self._supply_version = supply.version
        self._node_generation = nodes.generation
        self._sequence = devices.sequence

    def put(self, row: int, answer: Answer) -> None:
        self.codes[row], self.points[row] = answer


class SearchMemory:
    """Answers by question; the least recently asked is forgotten first."""

    def __init__(self, nodes: NodeTable, supply: Supply, devices: AllocatedDevices) -> None:
        self._nodes = nodes
        self._supply = supply
        self._devices = devices
        self._answers: OrderedDict[bytes, Answers] = OrderedDict()

    def answers(self, key: bytes) -> Answers:
        """The answers to a question, up to date."""
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = Answers()
            if len(self._answers) > _MAX_QUESTIONS:
                self._answers.popitem(last=False)
        else:
            self._answers.move_to_end(key)
        found.catch_up(self._nodes, self._supply, self._devices)
        return found


MAX_ALTERNATIVES = 8


def points_of_solution(claims: Sequence[ClaimRequests], solution: AllocationSolution) -> int:
    """Points of claims that are allocated now."""
    return sum(
        MAX_ALTERNATIVES - index
        for claim, chosen in zip(claims, solution.chosen, strict=True)
        for alternatives, index in zip(claim.requests, chosen, strict=True)
        if alternatives[0].alternative
    )


def points_of_allocated(claim: ResourceClaim, pending: AllocationResult | None = None) -> int:
    """Points of a claim that was allocated before, or whose allocation is to be written."""
    allocation = pending if pending is not None else claim.status.allocation
    results = allocation.devices.results or () if allocation is not None else ()
    granted = {result.request for result in results}
    points = 0
    for request in claim.spec.devices.requests or ():
        for index, alternative in enumerate(request.first_available or ()):
            if f"{request.name}/{alternative.name}" in granted:
                points += MAX_ALTERNATIVES - index
                break
    return points

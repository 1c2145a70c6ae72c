"""Filter, node by node: can this node serve the pod's claims?

Everything that does not depend on the node was prepared at PreFilter. Nodes are independent, and
what was found for one is kept for the rest of the attempt: the pass with nominated pods and trials
of preemption ask again, and pods on nodes change nothing here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from podium.api.devices import ResourceClaim
from podium.cluster.nodes import NodeTable
from podium.framework.status import Status, error, unresolvable
from podium.plugins.dynamic_resources.allocator import NoDevices, TimedOut
from podium.plugins.dynamic_resources.attempt_state import ClaimsState, ExtendedClaim, NodeOutcome
from podium.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    is_overdue,
    is_ready,
)
from podium.plugins.dynamic_resources.extended_resources import NodeRequests, requests_on_node
from podium.plugins.dynamic_resources.pools import GatherError
from podium.plugins.dynamic_resources.requests import AllocationError, FindClass, requests_of
from podium.plugins.dynamic_resources.results import allocations_of
from podium.plugins.dynamic_resources.supply import Supply
from podium.plugins.extended_resource_classes import ExtendedResourceClasses

CANNOT_ALLOCATE = unresolvable("cannot allocate all claims")
CLAIM_ELSEWHERE = unresolvable("resourceclaim not available on the node")
STALE_CLAIM = unresolvable("cannot schedule extended resource claim")
CANNOT_FIT = unresolvable("cannot fit resource")

_PASSED = NodeOutcome()


@dataclass(frozen=True, slots=True)
class BindingDeadline:
    """How long devices may take to become ready, and what time it is."""

    timeout_s: float
    now_s: float


class NodeSearch:
    """The filter of one plugin instance."""

    def __init__(
        self,
        nodes: NodeTable,
        supply: Supply,
        classes: ExtendedResourceClasses,
        find_class: FindClass,
        gates: Mapping[str, bool],
    ) -> None:
        self._nodes = nodes
        self._supply = supply
        self._classes = classes
        self._find_class = find_class
        self._gates = gates

    def examine(
        self, state: ClaimsState, row: int, deadline: BindingDeadline | None
    ) -> NodeOutcome:
        """What the node in a row means for the pod; remembered for the attempt."""
        outcome = state.outcomes.get(row)
        if outcome is None:
            outcome = state.outcomes[row] = self._examine(state, row, deadline)
        return outcome

    def _examine(
        self, state: ClaimsState, row: int, deadline: BindingDeadline | None
    ) -> NodeOutcome:
        extended: NodeRequests | None = None
        if state.extended is not None:
            found = self._extended(state, state.extended, row)
            if isinstance(found, Status):
                return NodeOutcome(found)
            if found is None:
                return _PASSED
            extended = found
        unavailable = self._unavailable(state, row, deadline)
        outcome = self._allocate(state, row, extended)
        if outcome.status is None and unavailable:
            return NodeOutcome(CLAIM_ELSEWHERE, unavailable=unavailable)
        return outcome

    def _unavailable(
        self, state: ClaimsState, row: int, deadline: BindingDeadline | None
    ) -> tuple[int, ...]:
        """Positions of allocated claims that cannot be used here, or no longer."""
        name, labels = self._nodes.names[row], self._nodes.labels.labels_of(row)
        return tuple(
            position
            for position, held in enumerate(state.claims)
            if held.allocated
            and (
                not held.usable_on(name, labels)
                or (deadline is not None and _is_given_up(held.claim, deadline))
            )
        )

    def _allocate(self, state: ClaimsState, row: int, extended: NodeRequests | None) -> NodeOutcome:
        if state.allocator is None:
            return _PASSED
        name, labels = self._nodes.names[row], self._nodes.labels.labels_of(row)
        extra = (
            None if extended is None else requests_of(extended.claim, self._find_class, self._gates)
        )
        claims = state.requests if extra is None else [*state.requests, extra]
        try:
            solution = state.allocator.allocate(self._supply.pools_of(row), name, labels, extra)
            if solution is None:
                return NodeOutcome(CANNOT_ALLOCATE)
            allocations = allocations_of(solution, claims, name)
        except TimedOut:
            return NodeOutcome(error(f"node {name}: timed out trying to allocate devices"))
        except NoDevices as reason:
            return NodeOutcome(unresolvable(str(reason)))
        except (AllocationError, GatherError) as problem:
            return NodeOutcome(error(str(problem)))
        if extended is None:
            return NodeOutcome(allocations=allocations)
        return NodeOutcome(
            allocations=allocations, extended=extended.claim, mappings=extended.mappings
        )

    def _extended(
        self, state: ClaimsState, extended: ExtendedClaim, row: int
    ) -> NodeRequests | Status | None:
        """The claim for extended resources on a node; None if the pod needs nothing else and a
        device plugin serves it all."""
        if extended.stale:
            return STALE_CLAIM
        through_devices: list[str] = []
        for resource in extended.resources:
            column = self._nodes.resources.find(resource)
            amount = int(self._nodes.allocatable[column, row]) if column >= 0 else 0
            if amount == 0 and self._classes.find(resource) is not None:
                through_devices.append(resource)
            elif amount == 0 and resource not in (self._nodes.node(row).status.allocatable or {}):
                return CANNOT_FIT
        if not state.claims and not through_devices:
            return None
        return requests_on_node(extended.claim, extended.pod, through_devices, self._classes)


def _is_given_up(claim: ResourceClaim, deadline: BindingDeadline) -> bool:
    """Whether a device of the claim failed to become ready, or took too long."""
    try:
        return not is_ready(claim) and is_overdue(claim, deadline.timeout_s, deadline.now_s)
    except BindingFailed:
        return True

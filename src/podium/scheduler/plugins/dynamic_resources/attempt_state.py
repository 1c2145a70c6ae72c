"""What one attempt knows about the pod's claims, from PreFilter to PreBind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podium.kubernetes.kinds.devices import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from podium.kubernetes.kinds.pod import (
    ContainerExtendedResourceRequest,
    NodeAllocatableResourceClaimStatus,
    Pod,
)
from podium.kubernetes.rules.node_affinity import NodeTerm
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins.dynamic_resources.allocator import Allocator
from podium.scheduler.plugins.dynamic_resources.extended_resources import NodeRequests
from podium.scheduler.plugins.dynamic_resources.node_allocatable import Footprint
from podium.scheduler.plugins.dynamic_resources.requests import ClaimRequests
from podium.scheduler.plugins.dynamic_resources.search_budget import SearchBudget


@dataclass(slots=True)
class PodClaim:
    """A claim of the pod; `terms` say where an allocated one can be used (None: everywhere).

    `user` is whom it is reserved for, None for the pod itself. `pending` is an allocation that an
    earlier member of the pod's group got in the same attempt. `name` is the pod's own for it.
    """

    claim: ResourceClaim
    terms: tuple[NodeTerm, ...] | None = None
    user: ResourceClaimConsumerReference | None = None
    pending: AllocationResult | None = None
    name: str = ""

    @property
    def allocated(self) -> bool:
        return self.claim.status.allocation is not None


@dataclass(slots=True)
class ExtendedClaim:
    """The claim for the pod's extended resources.

    `stale` marks one that an earlier attempt left in the API server.
    """

    claim: ResourceClaim
    pod: Pod
    stale: bool
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Task:
    """Claims that have to be allocated together on a node.

    Equal keys stand for equal questions: the answer for a node can be used again.
    """

    claims: Sequence[ClaimRequests]
    allocator: Allocator
    key: bytes
    extended: NodeRequests | None = None


@dataclass(slots=True)
class Reservation:
    """Allocations held for the pod until they are written."""

    held: list[tuple[ResourceClaim, AllocationResult]]
    extended: ResourceClaim | None = None
    """The claim for extended resources, if one of `held` is for it."""
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    written: dict[str, ResourceClaim] = field(default_factory=dict)
    """Claims as the API server returned them, by the uid they had when they were held."""
    statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    """What the claims take of the node's own resources."""

    def allocation(self, claim: ResourceClaim) -> AllocationResult | None:
        uid = claim.metadata.uid
        return next((given for held, given in self.held if held.metadata.uid == uid), None)


@dataclass(slots=True)
class ClaimsState:
    """Left by PreFilter for all later points; empty for a pod without claims."""

    claims: list[PodClaim] = field(default_factory=list)
    extended: ExtendedClaim | None = None
    requests: list[ClaimRequests] = field(default_factory=list)
    """Of the claims without an allocation, in their order."""
    tasks: dict[tuple[str, ...], Task | None] = field(default_factory=dict)
    """By the extended resources that devices have to serve; None where nothing is to be done."""
    failures: dict[int, Status] = field(default_factory=dict)
    """Rows whose search could not be finished."""
    budget: SearchBudget | None = None
    """What the searches of the attempt may cost; made with the first of them."""
    footprints: dict[int, Footprint | Status | None] = field(default_factory=dict)
    """What the claims would take of nodes' own resources, by row, or why they cannot be had."""
    filtered: bool = False
    """Whether Filter was asked; a profile may leave it out, and then no node has devices."""
    reservation: Reservation | None = None
    of_group: bool = False
    """Whether the pod was tried as a member of a group."""

    @property
    def empty(self) -> bool:
        return not self.claims and self.extended is None

    @property
    def shared(self) -> list[tuple[ResourceClaim, AllocationResult]]:
        """Claims with an allocation that another member of the group got before."""
        return [(own.claim, own.pending) for own in self.claims if own.pending is not None]

    @property
    def claim_uids(self) -> dict[str, str]:
        """UIDs of the claims by the names that the pod has for them."""
        return {own.name: own.claim.metadata.uid for own in self.claims}

    def claim_statuses(self, row: int) -> tuple[NodeAllocatableResourceClaimStatus, ...]:
        """What the claims would take of a node's own resources."""
        footprint = self.footprints.get(row)
        return footprint.statuses if isinstance(footprint, Footprint) else ()

    @property
    def allocates(self) -> bool:
        """Whether some claim needs an allocation."""
        return bool(self.requests) or (self.extended is not None and not self.extended.stale)

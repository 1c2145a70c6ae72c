"""What one attempt knows about the pod's claims, from PreFilter to PreBind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podium.api.devices import AllocationResult, ResourceClaim
from podium.api.node_affinity import NodeTerm
from podium.api.pod import ContainerExtendedResourceRequest, Pod
from podium.framework.status import Status
from podium.plugins.dynamic_resources.allocator import Allocator
from podium.plugins.dynamic_resources.requests import ClaimRequests


@dataclass(slots=True)
class PodClaim:
    """A claim of the pod; `terms` say where an allocated one can be used (None: everywhere)."""

    claim: ResourceClaim
    terms: tuple[NodeTerm, ...] | None = None

    @property
    def allocated(self) -> bool:
        return self.claim.status.allocation is not None

    def usable_on(self, name: str, labels: Mapping[str, str]) -> bool:
        return self.terms is None or any(term.matches(labels, name) for term in self.terms)


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
class NodeOutcome:
    """What Filter found for a node.

    `allocations` are those of the unallocated claims, that for extended resources last; None when
    there was nothing to allocate. `unavailable` are positions of claims that keep the pod away.
    """

    status: Status | None = None
    allocations: Sequence[AllocationResult] | None = None
    unavailable: tuple[int, ...] = ()
    extended: ResourceClaim | None = None
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()


@dataclass(slots=True)
class Reservation:
    """Allocations held for the pod until they are written: claim and allocation."""

    node_name: str
    held: list[tuple[ResourceClaim, AllocationResult]] = field(default_factory=list)
    extended: ResourceClaim | None = None
    """The claim for extended resources, if one of `held` is for it."""
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    written: dict[str, ResourceClaim] = field(default_factory=dict)
    """Claims as the API server returned them, by the uid they had when they were held."""


@dataclass(slots=True)
class ClaimsState:
    """Left by PreFilter for all later points; empty for a pod without claims."""

    claims: list[PodClaim] = field(default_factory=list)
    extended: ExtendedClaim | None = None
    requests: list[ClaimRequests] = field(default_factory=list)
    """Of the claims without an allocation, in their order."""
    allocator: Allocator | None = None
    outcomes: dict[int, NodeOutcome] = field(default_factory=dict)
    reservation: Reservation | None = None

    @property
    def empty(self) -> bool:
        return not self.claims and self.extended is None

"""What claims ask for, in the form the search wants it.

A request of a claim is either exact or a list of alternatives; both become `ClaimRequest`s with a
class, selectors and a count. What is wrong with one is kept in it, because upstream reports
problems in the order of claims and requests, mixed with those that depend on the node.

Source: `Allocate` and `validateDeviceRequest` in
`staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from podium.kubernetes.kinds.devices import (
    DeviceClass,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)
from podium.scheduler.plugins.dynamic_resources.capacity import Asked, asked_of
from podium.scheduler.plugins.dynamic_resources.claim_state import claim_key
from podium.scheduler.plugins.dynamic_resources.inventory import DeviceEntry, DeviceSelectorError
from podium.scheduler.plugins.dynamic_resources.search_budget import SearchBudget

MAX_RESULTS = 32
EXACT_COUNT, ALL = "ExactCount", "All"

FindClass = Callable[[str], DeviceClass | None]


class AllocationError(Exception):
    """The attempt cannot go on; the text ends up in the pod's condition."""


@dataclass(frozen=True, slots=True, eq=False)
class ClaimRequest:
    """One request, or one alternative of a request."""

    claim: str
    """`namespace/name` of the claim, for messages."""
    base: str
    """Name of the request in the claim."""
    alternative: str
    """Name of the alternative, empty for an exact request."""
    class_: DeviceClass | None
    selectors: Sequence[DeviceSelector]
    mode: str
    count: int
    admin: bool
    tolerations: tuple[DeviceToleration, ...] | None
    asked: Asked
    problem: str | None = None

    @property
    def name(self) -> str:
        """The name messages use: that of the alternative itself."""
        return self.alternative or self.base

    @property
    def full_name(self) -> str:
        return f"{self.base}/{self.alternative}" if self.alternative else self.base

    def wants(self, entry: DeviceEntry, budget: SearchBudget | None = None) -> bool:
        """Whether class and request selectors accept a device; raises AllocationError, and
        BudgetSpent if they cost more than the attempt has left."""
        content = entry.content
        if self.class_ is not None:
            for number, selector in enumerate(self.class_.spec.selectors or ()):
                try:
                    if selector.cel is not None and not content.matches(
                        selector.cel.expression, budget
                    ):
                        return False
                except DeviceSelectorError as problem:
                    name = self.class_.metadata.name
                    raise AllocationError(f"class {name}: selector #{number}: {problem}") from None
        for number, selector in enumerate(self.selectors):
            try:
                if selector.cel is not None and not content.matches(
                    selector.cel.expression, budget
                ):
                    return False
            except DeviceSelectorError as problem:
                raise AllocationError(
                    f"claim {self.claim}: selector #{number}: {problem}"
                ) from None
        return True


@dataclass(frozen=True, slots=True, eq=False)
class ClaimRequests:
    """All requests of one claim: per request its alternatives, one if it is exact."""

    claim: ResourceClaim
    requests: Sequence[Sequence[ClaimRequest]]


def requests_of(
    claim: ResourceClaim, find_class: FindClass, gates: Mapping[str, bool]
) -> ClaimRequests:
    return ClaimRequests(
        claim,
        [
            _alternatives(claim, request, find_class, gates)
            for request in claim.spec.devices.requests or ()
        ],
    )


def _alternatives(
    claim: ResourceClaim, request: DeviceRequest, find_class: FindClass, gates: Mapping[str, bool]
) -> Sequence[ClaimRequest]:
    wanted: Sequence[ExactDeviceRequest | DeviceSubRequest] = request.first_available or (
        (request.exactly or ExactDeviceRequest()),
    )
    problem = _find_disabled(claim, request, gates)
    return [_request(claim, request, part, find_class, gates, problem) for part in wanted]


def _request(
    claim: ResourceClaim,
    request: DeviceRequest,
    part: ExactDeviceRequest | DeviceSubRequest,
    find_class: FindClass,
    gates: Mapping[str, bool],
    problem: str | None,
) -> ClaimRequest:
    alternative = part.name if isinstance(part, DeviceSubRequest) else ""
    admin_access = part.admin_access if isinstance(part, ExactDeviceRequest) else None
    where = f"claim {claim_key(claim)}, request {alternative or request.name}"
    class_ = find_class(part.device_class_name)
    mode = part.allocation_mode or EXACT_COUNT
    if problem is None:
        admin_allowed = admin_access is None or gates["DRAAdminAccess"]
        problem = _problem(where, part, class_, mode, admin_allowed=admin_allowed)
    return ClaimRequest(
        claim=claim_key(claim),
        base=request.name,
        alternative=alternative,
        class_=class_,
        selectors=part.selectors or (),
        mode=mode,
        # The API server defaults a missing count to one.
        count=part.count or 1,
        admin=bool(admin_access),
        tolerations=part.tolerations,
        asked=asked_of(part.capacity.requests if part.capacity is not None else None),
        problem=problem,
    )


def _problem(
    where: str,
    part: ExactDeviceRequest | DeviceSubRequest,
    class_: DeviceClass | None,
    mode: str,
    *,
    admin_allowed: bool,
) -> str | None:
    for number, selector in enumerate(part.selectors or ()):
        if selector.cel is None:
            return f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)"
    if not admin_allowed:
        return f"{where}: admin access is requested, but the feature is disabled"
    name = part.device_class_name
    if not name:
        return f"{where}: missing device class name (unsupported request type?)"
    if class_ is None:
        return (
            f"{where}: could not retrieve device class {name}: "
            f'deviceclass.resource.k8s.io "{name}" not found'
        )
    if mode not in (EXACT_COUNT, ALL):
        return f"{where}: unsupported count mode {mode}"
    return None


def _find_disabled(
    claim: ResourceClaim, request: DeviceRequest, gates: Mapping[str, bool]
) -> str | None:
    """What the request uses although its feature is off."""
    where = f"claim {claim_key(claim)}, request {request.name}"
    if request.first_available and not gates["DRAPrioritizedList"]:
        return f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled"
    if gates["DRAConsumableCapacity"]:
        return None
    off = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
    if request.exactly is not None and request.exactly.capacity is not None:
        return f"{where}: {off}"
    for part in request.first_available or ():
        if part.capacity is not None:
            return f"claim {claim_key(claim)}, subrequest {part.name}: {off}"
    return None

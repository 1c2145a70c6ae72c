"""PreFilter: the claims of a pod, and whether they can be had anywhere at all (spec 7.6)."""

from collections.abc import Iterator, Mapping

from podium.api.devices import AllocationResult, DeviceRequest, ResourceClaim
from podium.api.node_affinity import NodeSelectorError, NodeTerm, parse_node_selector
from podium.api.pod import Pod
from podium.framework.status import Status, error, unresolvable
from podium.plugins.dynamic_resources.attempt_state import ClaimsState, ExtendedClaim, PodClaim
from podium.plugins.dynamic_resources.claim_state import ClaimState
from podium.plugins.dynamic_resources.extended_resources import claim_in_memory, extended_requests
from podium.plugins.dynamic_resources.pod_claims import ClaimProblem, claim_key, claims_of
from podium.plugins.dynamic_resources.requests import FindClass, requests_of
from podium.plugins.extended_resource_classes import ExtendedResourceClasses


class _Rejected(Exception):
    """The pod cannot go anywhere."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


class Preparation:
    def __init__(
        self,
        claims: ClaimState,
        classes: ExtendedResourceClasses,
        find_class: FindClass,
        gates: Mapping[str, bool],
    ) -> None:
        self._claims = claims
        self._classes = classes
        self._find_class = find_class
        self._gates = gates
        self._extended = gates["DRAExtendedResource"]

    def problem(self, pod: Pod) -> Status | None:
        """Why the pod cannot have its claims yet."""
        try:
            claims_of(pod, self._claims.find)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return None

    def prepare(self, pod: Pod) -> ClaimsState | Status:
        """What later points need to know about the pod's claims, or why it is rejected."""
        state = ClaimsState()
        try:
            claims = claims_of(pod, self._claims.find)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        state.extended = self._extended_claim(pod)
        try:
            for claim in claims:
                self._add(claim, state)
        except _Rejected as rejected:
            return rejected.status
        return state

    def _extended_claim(self, pod: Pod) -> ExtendedClaim | None:
        if not self._extended:
            return None
        resources = extended_requests(pod, self._classes)
        if resources is None:
            return None
        claim = self._claims.extended_claim_of(pod)
        if claim is None:
            return ExtendedClaim(claim_in_memory(pod), pod, stale=False, resources=resources)
        return ExtendedClaim(claim, pod, claim.spec.devices.requests is not None, resources)

    def _add(self, claim: ResourceClaim, state: ClaimsState) -> None:
        allocation = claim.status.allocation
        if allocation is not None:
            state.claims.append(PodClaim(claim, _terms(allocation)))
            return
        if self._claims.is_pending(claim.metadata.uid):
            raise _Rejected(
                unresolvable(
                    f"resource claim {claim_key(claim)} is in the process of being allocated"
                )
            )
        for request in claim.spec.devices.requests or ():
            self._check_classes(claim, request)
        state.claims.append(PodClaim(claim))
        state.requests.append(requests_of(claim, self._find_class, self._gates))

    def _check_classes(self, claim: ResourceClaim, request: DeviceRequest) -> None:
        wanted = list(_wanted_classes(request))
        if not wanted:
            raise _Rejected(
                unresolvable(
                    f"resource claim {claim_key(claim)}, request {request.name}: unknown request"
                    " type"
                )
            )
        for name, class_name in wanted:
            if not class_name:
                raise _Rejected(error(f"request {name}: unsupported request type"))
            if self._find_class(class_name) is None:
                raise _Rejected(
                    unresolvable(f"request {name}: device class {class_name} does not exist")
                )


def _wanted_classes(request: DeviceRequest) -> Iterator[tuple[str, str]]:
    """(name for messages, device class) of a request or of each of its alternatives."""
    if request.exactly is not None:
        yield request.name, request.exactly.device_class_name
        return
    for part in request.first_available or ():
        yield f"{request.name}/{part.name}", part.device_class_name


def _terms(allocation: AllocationResult) -> tuple[NodeTerm, ...] | None:
    if allocation.node_selector is None:
        return None
    try:
        return parse_node_selector(allocation.node_selector, strict=True)
    except NodeSelectorError as problem:
        raise _Rejected(error(str(problem))) from None

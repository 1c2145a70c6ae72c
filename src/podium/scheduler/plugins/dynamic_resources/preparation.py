"""PreFilter: the claims of a pod, and whether they can be had anywhere at all.

Source: `PreFilter` in `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections.abc import Container, Iterator, Mapping

from podium.kubernetes.kinds.devices import AllocationResult, DeviceRequest, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.node_affinity import NodeSelectorError, NodeTerm, parse_node_selector
from podium.scheduler.cluster.catalog import Catalog
from podium.scheduler.cluster.pod_group_state import PodGroupMissing, pod_group
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.dynamic_resources.attempt_state import (
    ClaimsState,
    ExtendedClaim,
    PodClaim,
)
from podium.scheduler.plugins.dynamic_resources.claim_state import ClaimState
from podium.scheduler.plugins.dynamic_resources.extended_resources import (
    claim_in_memory,
    extended_requests,
)
from podium.scheduler.plugins.dynamic_resources.pod_claims import (
    ClaimProblem,
    claim_key,
    claims_of,
    group_name,
    named_claims,
    user_of,
)
from podium.scheduler.plugins.dynamic_resources.requests import FindClass, requests_of
from podium.scheduler.plugins.resources.extended_resource_classes import ExtendedResourceClasses


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
        catalog: Catalog,
    ) -> None:
        self._claims = claims
        self._catalog = catalog
        self._classes = classes
        self._find_class = find_class
        self._gates = gates
        self._extended = gates["DRAExtendedResource"]
        self._of_groups = gates["DRAWorkloadResourceClaims"]

    def problem(self, pod: Pod) -> Status | None:
        """Why the pod cannot have its claims yet."""
        try:
            claims_of(pod, self._claims.find, of_groups=self._of_groups)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        return None

    def prepare(self, pod: Pod, pending: Container[str] = ()) -> ClaimsState | Status:
        """What later points need to know about the pod's claims, or why it is rejected.

        `pending` are claims, by UID, that got an allocation in this attempt of the pod's group."""
        state = ClaimsState()
        try:
            claims = named_claims(pod, self._claims.find, of_groups=self._of_groups)
        except ClaimProblem as problem:
            return unresolvable(str(problem))
        state.extended = self._extended_claim(pod)
        group = self._group_of(pod)
        if isinstance(group, Status):
            return group
        try:
            for reference, claim in claims:
                self._add(claim, state, pending)
                state.claims[-1].user = user_of(reference, group)
                state.claims[-1].name = reference.name
        except _Rejected as rejected:
            return rejected.status
        return state

    def _group_of(self, pod: Pod) -> PodGroup | Status | None:
        """The pod's group, where claims may be the group's."""
        name = group_name(pod) if self._of_groups else None
        if name is None:
            return None
        try:
            return pod_group(self._catalog, (pod.metadata.namespace, name))
        except PodGroupMissing as missing:
            return unresolvable(str(missing))

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

    def _add(self, claim: ResourceClaim, state: ClaimsState, pending: Container[str]) -> None:
        allocation = claim.status.allocation
        if allocation is not None:
            state.claims.append(PodClaim(claim, _terms(allocation)))
            return
        found = self._claims.pending(claim.metadata.uid)
        if found is not None and claim.metadata.uid in pending:
            state.claims.append(PodClaim(claim, _terms(found), pending=found))
            return
        if found is not None:
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

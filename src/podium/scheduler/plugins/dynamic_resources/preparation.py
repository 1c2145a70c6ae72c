"""What surrounds Filter: PreFilter, which prepares a pod's claims, and the queueing hints.

Source: `PreFilter` in `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.

Which events are worth another attempt for a pod that this plugin rejected.

Source: `EventsToRegister`, `isSchedulableAfterClaimChange` and `isSchedulableAfterPodChange` in
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections.abc import Container, Iterator, Mapping, Sequence

from podium.kubernetes.kinds.devices import AllocationResult, DeviceRequest, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.rules.node_affinity import NodeSelectorError, NodeTerm, parse_node_selector
from podium.scheduler.cluster.catalog import Catalog, PodGroupMissing, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.dynamic_resources.attempt_state import (
    ClaimsState,
    ExtendedClaim,
    PodClaim,
)
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    ClaimProblem,
    ClaimState,
    FindClaim,
    claim_key,
    claims_of,
    group_name,
    named_claims,
    user_of,
)
from podium.scheduler.plugins.dynamic_resources.extended_resources import (
    claim_in_memory,
    extended_requests,
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
        found = self._claims.pending_allocation(claim.metadata.uid)
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


class ClaimHints:
    def __init__(self, find: FindClaim, *, of_groups: bool = False) -> None:
        self._find = find
        self._of_groups = of_groups

    def registrations(self) -> Sequence[Registration]:
        node_changes = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
        return (
            Registration(Resource.NODE, node_changes),
            Registration(Resource.RESOURCE_CLAIM, Action.ADD | Action.UPDATE, self.on_claim),
            Registration(
                Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, self.on_generated_claim
            ),
            Registration(Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE),
            Registration(Resource.RESOURCE_SLICE, Action.ADD | Action.UPDATE),
        )

    def on_claim(self, pod: PodInfo, old: ResourceClaim | None, new: ResourceClaim | None) -> bool:
        """A claim appeared or changed."""
        if new is None:
            return True
        try:
            own = claims_of(pod.pod, self._find, of_groups=self._of_groups)
        except ClaimProblem:
            # upstream: a pod that still lacks a claim is not woken by devices becoming free
            return False
        if old is not None and old.status.allocation is not None and new.status.allocation is None:
            return True
        if all(claim.metadata.uid != new.metadata.uid for claim in own):
            return False
        return old is None or old.status != new.status

    def on_generated_claim(self, pod: PodInfo, old: Pod | None, new: Pod | None) -> bool:  # noqa: ARG002
        """A pod was told of a claim made from its template."""
        if new is None or new.metadata.uid != pod.pod.metadata.uid:
            return False
        try:
            claims_of(new, self._find, of_groups=self._of_groups)
        except ClaimProblem:
            return False
        return True

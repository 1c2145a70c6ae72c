"""What Reserve holds for a pod, told to others: as a record, and as the claims it will lead to."""

import hashlib

from msgspec.structs import replace

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.devices import AllocationResult, ResourceClaim
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.plugins.dynamic_resources.attempt_state import ClaimsState
from podium.scheduler.plugins.dynamic_resources.claim_state import (
    FindClaim,
    claim_key,
    is_reserved_for,
)
from podium.scheduler.plugins.dynamic_resources.claim_writing import (
    is_granted,
    pod_user,
    protect_claim,
    reserve_claim,
)
from podium.scheduler.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME


def recorded_claims(state: ClaimsState, pod: PodInfo) -> dict[str, list[JsonObject]]:
    """Claim -> devices in the order of the allocation, in the form of recorded decisions."""
    held = state.reservation
    claims: dict[str, list[JsonObject]] = {}
    for own in state.claims:
        allocation = own.claim.status.allocation
        if allocation is None and held is not None:
            allocation = held.allocation(own.claim)
        if allocation is not None:
            claims[claim_key(own.claim)] = _devices(allocation)
    if held is not None and held.extended is not None:
        allocation = held.allocation(held.extended)
        if allocation is not None:
            claims[f"{pod.key}:extended-resources"] = _devices(allocation)
    return claims


def claims_after_binding(
    state: ClaimsState, pod: PodInfo, find: FindClaim, now_s: float, *, of_groups: bool
) -> tuple[ResourceClaim, ...]:
    """The claims that PreBind changes, as they are afterwards."""
    users = {own.claim.metadata.uid: own.user for own in state.claims}
    updated = [
        reserve_claim(own.claim, own.user or pod_user(pod.pod), None, now_s)
        for own in state.claims
        if own.allocated and not is_reserved_for(own.claim, pod.pod, of_groups=of_groups)
    ]
    for claim, allocation in state.reservation.held if state.reservation is not None else ():
        user = users.get(claim.metadata.uid) or pod_user(pod.pod)
        latest = find(claim.metadata.namespace, claim.metadata.name)
        if state.of_group and latest is not None and is_granted(latest, allocation):
            if not is_reserved_for(latest, pod.pod, of_groups=of_groups):
                updated.append(reserve_claim(latest, user, None, now_s))
            continue
        kept = protect_claim(_name_claim(claim, pod.pod.metadata.name))
        updated.append(reserve_claim(kept, user, allocation, now_s))
    return tuple(updated)


def with_claim_statuses(pod: Pod, state: object, row: int) -> Pod:
    """The pod as it counts on a node: with what its claims take of the node's own resources."""
    found = state.claim_statuses(row) if isinstance(state, ClaimsState) else ()
    if found == (pod.status.node_allocatable_resource_claim_statuses or ()):
        return pod
    status = replace(pod.status, node_allocatable_resource_claim_statuses=found or None)
    return replace(pod, status=status)


def _devices(allocation: AllocationResult) -> list[JsonObject]:
    devices: list[JsonObject] = []
    for result in allocation.devices.results or ():
        device: JsonObject = {
            "request": result.request,
            "driver": result.driver,
            "pool": result.pool,
            "device": result.device,
        }
        if result.admin_access:
            device["adminAccess"] = True
        devices.append(device)
    return devices


def _name_claim(claim: ResourceClaim, pod_name: str) -> ResourceClaim:
    """A claim made up in memory under a name of the kind the API server would generate."""
    if claim.metadata.name != IN_MEMORY_NAME:
        return claim
    suffix = hashlib.sha256(claim.metadata.uid.encode()).hexdigest()[:5]
    name = f"{pod_name}-extended-resources-{suffix}"
    return replace(claim, metadata=replace(claim.metadata, name=name))

"""What Reserve holds for a pod, told to others: as a record, and as the claims it will lead to."""

import hashlib

from msgspec.structs import replace

from podium.api.devices import AllocationResult, ResourceClaim
from podium.api.json_values import JsonObject
from podium.cluster.pod_info import PodInfo
from podium.plugins.dynamic_resources.attempt_state import ClaimsState
from podium.plugins.dynamic_resources.claim_writing import protected, reserved
from podium.plugins.dynamic_resources.extended_resources import IN_MEMORY_NAME
from podium.plugins.dynamic_resources.pod_claims import claim_key, is_reserved_for


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
    state: ClaimsState, pod: PodInfo, now_s: float
) -> tuple[ResourceClaim, ...]:
    """The claims that PreBind changes, as they are afterwards."""
    updated = [
        reserved(own.claim, pod.pod, None, now_s)
        for own in state.claims
        if own.allocated and not is_reserved_for(own.claim, pod.pod)
    ]
    for claim, allocation in state.reservation.held if state.reservation is not None else ():
        kept = protected(_named(claim, pod.pod.metadata.name))
        updated.append(reserved(kept, pod.pod, allocation, now_s))
    return tuple(updated)


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


def _named(claim: ResourceClaim, pod_name: str) -> ResourceClaim:
    """A claim made up in memory under a name of the kind the API server would generate."""
    if claim.metadata.name != IN_MEMORY_NAME:
        return claim
    suffix = hashlib.sha256(claim.metadata.uid.encode()).hexdigest()[:5]
    name = f"{pod_name}-extended-resources-{suffix}"
    return replace(claim, metadata=replace(claim.metadata, name=name))

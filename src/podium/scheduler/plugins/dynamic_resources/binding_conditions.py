"""Devices that have to be made ready before a pod may start with them.

An allocated device can name conditions that its driver sets on the claim. Until all are true the
pod is not bound; when one of the failure conditions is, or the time is up, the claim has to be
given back.

Source: `isClaimReadyForBinding`, `isClaimTimeout` and `isPodReadyForBinding` in
`pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from podium.kubernetes.kinds.devices import (
    AllocatedDeviceStatus,
    DeviceCondition,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from podium.kubernetes.rules.timestamps import seconds_of


class BindingFailed(Exception):
    """A device will not become ready."""


def waiting_results(claim: ResourceClaim) -> list[DeviceRequestAllocationResult]:
    """The allocated devices of a claim that have binding conditions."""
    allocation = claim.status.allocation
    if allocation is None:
        return []
    return [result for result in allocation.devices.results or () if result.binding_conditions]


def is_ready(claim: ResourceClaim) -> bool:
    """Whether all binding conditions are true; raises BindingFailed if that will not happen."""
    for result in waiting_results(claim):
        status = _status_of(claim, result)
        if status is None:
            return False
        conditions = status.conditions or ()
        for name in result.binding_failure_conditions or ():
            failure = _true_condition(conditions, name)
            if failure is not None:
                raise BindingFailed(
                    f"device binding failed: claim={claim.metadata.name},"
                    f' reason={failure.reason}, message="{failure.message}"'
                )
        for name in result.binding_conditions or ():
            if _true_condition(conditions, name) is None:
                return False
    return True


def is_overdue(claim: ResourceClaim, timeout_s: float, now_s: float) -> bool:
    """Whether devices of the claim have had long enough to become ready."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None:
        return False
    if not waiting_results(claim):
        return False
    return seconds_of(allocation.allocation_timestamp) + timeout_s < now_s


def _status_of(
    claim: ResourceClaim, result: DeviceRequestAllocationResult
) -> AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device)
    for status in claim.status.devices or ():
        # upstream: shares of one device are not told apart here
        if (status.driver, status.pool, status.device) == wanted:
            return status
    return None


def _true_condition(conditions: tuple[DeviceCondition, ...], name: str) -> DeviceCondition | None:
    return next((c for c in conditions if c.type == name and c.status == "True"), None)

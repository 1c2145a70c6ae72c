"""Score: how early in their lists the alternatives stand that a node would serve.

A request with `firstAvailable` names up to eight alternatives, best first. The first one is worth
eight points, the last of eight one.

Source: `computeScore` in `pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go`.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.devices import AllocationResult, ResourceClaim
from podium.scheduler.plugins.dynamic_resources.allocator import Solution
from podium.scheduler.plugins.dynamic_resources.requests import ClaimRequests

MAX_ALTERNATIVES = 8


def points_of_solution(claims: Sequence[ClaimRequests], solution: Solution) -> int:
    """Points of claims that are allocated now."""
    return sum(
        MAX_ALTERNATIVES - index
        for claim, chosen in zip(claims, solution.chosen, strict=True)
        for alternatives, index in zip(claim.requests, chosen, strict=True)
        if alternatives[0].alternative
    )


def points_of_allocated(claim: ResourceClaim, pending: AllocationResult | None = None) -> int:
    """Points of a claim that was allocated before, or whose allocation is to be written."""
    allocation = pending if pending is not None else claim.status.allocation
    results = allocation.devices.results or () if allocation is not None else ()
    granted = {result.request for result in results}
    points = 0
    for request in claim.spec.devices.requests or ():
        for index, alternative in enumerate(request.first_available or ()):
            if f"{request.name}/{alternative.name}" in granted:
                points += MAX_ALTERNATIVES - index
                break
    return points

"""Score: how early in their lists the alternatives stand that a node would serve.

A request with `firstAvailable` names up to eight alternatives, best first. The first one is worth
eight points, the last of eight one (spec 7.9).
"""

from collections.abc import Iterable, Sequence

from podium.api.devices import AllocationResult, ResourceClaim
from podium.plugins.dynamic_resources.attempt_state import PodClaim

MOST_ALTERNATIVES = 8


def preference_score(claims: Sequence[PodClaim], new: Iterable[AllocationResult]) -> int:
    """Points of all claims; `new` are the allocations of those without one, in order."""
    fresh = iter(new)
    return sum(_points(own.claim, own.claim.status.allocation or next(fresh)) for own in claims)


def _points(claim: ResourceClaim, allocation: AllocationResult) -> int:
    granted = {result.request for result in allocation.devices.results or ()}
    points = 0
    for request in claim.spec.devices.requests or ():
        for index, alternative in enumerate(request.first_available or ()):
            if f"{request.name}/{alternative.name}" in granted:
                points += MOST_ALTERNATIVES - index
                break
    return points

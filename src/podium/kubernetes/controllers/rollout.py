"""How far a deployment may go in one step: replicas for the new set, and for the old ones.

The arithmetic is upstream's (`pkg/controller/deployment/rolling.go`): never more pods than wanted
plus the surge, never fewer available than wanted minus the unavailable; unhealthy old pods go
first, then old sets in the order of their age.

Worked example: 10 wanted, 25 % surge and unavailable. The new set starts with 3 (13 pods are
allowed), and since 8 must be available, 2 of the old 10 go. As new pods become available the old
ones follow.
"""

from collections.abc import Sequence
from typing import NamedTuple

from podium.kubernetes.controllers.workloads import Deployment, ReplicaSet, RollingUpdate
from podium.kubernetes.rules.disruptions import scale_amount

_NONE = RollingUpdate()


class Limits(NamedTuple):
    surge: int
    unavailable: int


def limits(deployment: Deployment) -> Limits:
    """How many pods may be there beyond what is wanted, and how many may be missing."""
    strategy = deployment.spec.strategy
    if strategy.type == "Recreate":
        return Limits(0, 0)
    rolling = strategy.rolling_update or _NONE
    wanted = deployment.wanted
    surge = scale_amount(rolling.max_surge, wanted, rounds_up=True)
    unavailable = scale_amount(rolling.max_unavailable, wanted, rounds_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1  # upstream: otherwise nothing could ever move
    return Limits(surge, min(unavailable, wanted))


def new_replicas(deployment: Deployment, new: int, old: Sequence[ReplicaSet]) -> int:
    """The replicas that the new set should have now."""
    wanted = deployment.wanted
    if deployment.spec.strategy.type == "Recreate" or new >= wanted:
        return wanted
    room = wanted + limits(deployment).surge - new - sum(each.wanted for each in old)
    return new if room <= 0 else new + min(room, wanted - new)


def old_replicas(
    deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
) -> dict[str, int]:
    """Names of old sets that should shrink, and to what."""
    wanted = {each.name: each.wanted for each in old}
    total = new.wanted + sum(wanted.values())
    least = deployment.wanted - limits(deployment).unavailable
    new_unavailable = new.wanted - new.status.available_replicas
    room = total - least - new_unavailable
    if room <= 0:
        return {}
    by_age = sorted(old, key=lambda each: each.metadata.creation_timestamp or "")
    for each in by_age:
        unhealthy = max(0, wanted[each.name] - each.status.available_replicas)
        cleaned = min(unhealthy, room)
        wanted[each.name] -= cleaned
        room -= cleaned
    available = new.status.available_replicas + sum(each.status.available_replicas for each in old)
    spare = available - least
    for each in by_age:
        gone = min(wanted[each.name], max(spare, 0))
        wanted[each.name] -= gone
        spare -= gone
    return {each.name: wanted[each.name] for each in old if wanted[each.name] != each.wanted}

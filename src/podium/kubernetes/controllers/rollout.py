"""How far a deployment may go in one step: replicas for the new set, and for the old ones.

The arithmetic is upstream's (`pkg/controller/deployment/rolling.go`): never more pods than wanted
plus the surge, never fewer available than wanted minus the unavailable; unhealthy old pods go
first, then old sets in the order of their age.

Worked example: 10 wanted, 25 % surge and unavailable. The new set starts with 3 (13 pods are
allowed), and since 8 must be available, 2 of the old 10 go. As new pods become available the old
ones follow.

A change of size in the middle of a roll-out is spread over the sets that have pods. Each set grows
or shrinks by as much as the whole deployment does, as far as rounding allows; what rounding leaves
over goes to the largest (`pkg/controller/deployment/sync.go`, scale). How large the deployment was
is written down at every set.

Worked example: 10 wanted and a surge of 25 %, so 13 in all, 8 old and 5 new. When 30 are wanted, 38
are allowed: 8 become 23 and 5 become 15.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from podium.golang.arithmetic import parse_int
from podium.kubernetes.controllers.workloads import Deployment, ReplicaSet, RollingUpdate
from podium.kubernetes.rules.disruptions import scale_amount

_NONE = RollingUpdate()


class RolloutLimits(NamedTuple):
    surge: int
    unavailable: int


def limits(deployment: Deployment) -> RolloutLimits:
    """How many pods may be there beyond what is wanted, and how many may be missing."""
    strategy = deployment.spec.strategy
    if strategy.type == "Recreate":
        return RolloutLimits(0, 0)
    rolling = strategy.rolling_update or _NONE
    wanted = deployment.wanted
    surge = scale_amount(rolling.max_surge, wanted, rounds_up=True)
    unavailable = scale_amount(rolling.max_unavailable, wanted, rounds_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1  # upstream: otherwise nothing could ever move
    return RolloutLimits(surge, min(unavailable, wanted))


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


DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MAX: Final = "deployment.kubernetes.io/max-replicas"


def size_marks(deployment: Deployment) -> dict[str, str]:
    """What every set of a deployment is told of its size."""
    return {
        DESIRED: str(deployment.wanted),
        MAX: str(deployment.wanted + limits(deployment).surge),
    }


def is_resized(deployment: Deployment, sets: Sequence[ReplicaSet]) -> bool:
    """Whether a set with pods knows another size."""
    told = (parse_int(each.metadata.annotation(DESIRED)) for each in sets if each.wanted)
    return any(desired is not None and desired != deployment.wanted for desired in told)


def proportional_sizes(deployment: Deployment, sets: Sequence[ReplicaSet]) -> dict[str, int]:
    """The new sizes of all sets that have pods, by name."""
    active = [each for each in sets if each.wanted]
    allowed = deployment.wanted + limits(deployment).surge if deployment.wanted else 0
    change = allowed - sum(each.wanted for each in active)
    if not change:
        return {each.name: each.wanted for each in active}
    # upstream: of equally large sets the newer ones grow first, the older ones shrink first.
    by_age = sorted(active, key=lambda each: each.metadata.creation_timestamp or "")
    ordered = by_age[::-1] if change > 0 else by_age
    ordered.sort(key=lambda each: each.wanted, reverse=True)
    sizes: dict[str, int] = {}
    spread = 0
    for each in ordered:
        rest = change - spread
        part = _part(deployment, each)
        part = min(part, rest) if change > 0 else max(part, rest)
        sizes[each.name] = each.wanted + part
        spread += part
    if ordered:
        largest = ordered[0].name
        sizes[largest] = max(sizes[largest] + change - spread, 0)
    return sizes


def _part(deployment: Deployment, replica_set: ReplicaSet) -> int:
    """By how much a set changes when everything does."""
    if not deployment.wanted:
        return -replica_set.wanted
    before = parse_int(replica_set.metadata.annotation(MAX)) or deployment.status.replicas
    if not before:
        return 0
    now = deployment.wanted + limits(deployment).surge
    return _round_half_away(replica_set.wanted * now / before) - replica_set.wanted


def _round_half_away(value: float) -> int:
    """Halves away from zero, as Go's integer.RoundToInt32."""
    return math.floor(value + 0.5) if value >= 0 else math.ceil(value - 0.5)

"""Which cards a container can have a share of: each rule, in the order in which reasons are given.

The rules are written with operators that mean the same for a number and for a column of numbers, so
that they stand once for one card and for the cards of all nodes. A rule that the pod does not ask
for is left out.

Instances of cards in MIG mode: which profile, and on which slices. A named profile has to be one of
the card's. Otherwise the smallest of the card's profiles that has the amounts and a free placement
is taken. Of its free placements the one is taken that leaves most other instances possible, and of
equal ones the first: on an empty card with eight slices a profile of one slice goes where only
small ones can be, and not in the middle of a half.

The slices decide whether an instance has room. Its amounts are only charged, as rounded amounts of
instances may add up to more than the card says it has.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from podium.addons.gpu.cards.card import MAX_CARDS, MAX_CORES, MAX_MEMORY, MigProfile, Reason
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardTopology,
    ContainerRequest,
    PodRequest,
    ScoreWeights,
)

MAX_PERCENT: Final = 1 << 20
PARTS: Final = 1_000_000
"""Shares are counted in millionths, rounded down, so that scores are exact and equal everywhere."""


class Facts:
    """What the rules read: ints and bools of one card, or columns over (row, place).

    `need_cores` and `need_memory` are what the container would take of the card; `has_instance`
    says that a MIG card has an instance for it. `numa_peers` counts the cards on its NUMA node that
    match.
    """

    __slots__ = (
        "component",
        "cordoned",
        "cores",
        "has_instance",
        "healthy",
        "in_mig_mode",
        "memory",
        "model_matches",
        "need_cores",
        "need_memory",
        "numa",
        "numa_peers",
        "slots",
        "used_cores",
        "used_memory",
        "used_slots",
        "uuid_matches",
    )

    # Numbers or columns alike, which no type of mypy's says without a second copy of each rule.
    component: Any
    cordoned: Any
    cores: Any
    has_instance: Any
    healthy: Any
    in_mig_mode: Any
    memory: Any
    model_matches: Any
    need_cores: Any
    need_memory: Any
    numa: Any
    numa_peers: Any
    slots: Any
    used_cores: Any
    used_memory: Any
    used_slots: Any
    uuid_matches: Any


def set_needs(container: ContainerRequest, card: Facts) -> None:
    """What the container would take of the card. Requests for more than any card can have are cut
    to just that, as sums have to fit into columns."""
    if container.whole:
        card.need_cores, card.need_memory = card.cores, card.memory
        return
    card.need_cores = min(container.cores, MAX_CORES + 1)
    if container.memory_percent is None:
        card.need_memory = min(container.memory, MAX_MEMORY + 1)
    else:
        card.need_memory = card.memory * min(container.memory_percent, MAX_PERCENT) // 100


def refusals(
    request: PodRequest, container: ContainerRequest, card: Facts, cores_left: Any, memory_left: Any
) -> Iterator[tuple[Reason, Any]]:
    """Each rule's reason, and whether it refuses. Left over of the namespace's quota is what no
    earlier container of the pod takes; None without a quota.

    Quota counts the same amount for each card of the container; on nodes with different cards that
    is the larger one, if they are asked for by percent.
    """
    yield Reason.UNHEALTHY, card.healthy == 0
    yield Reason.CORDONED, card.cordoned
    if request.selector.by_kind():
        yield Reason.MODEL_MISMATCH, card.model_matches == 0
    if request.topology is CardTopology.NUMA_STRICT:
        yield Reason.NUMA_UNSATISFIED, card.numa < 0
    elif request.topology is CardTopology.LINK_STRICT:
        yield Reason.LINKS_UNSATISFIED, card.component < 0
    if request.selector.uuids or request.selector.not_uuids:
        yield Reason.UUID_MISMATCH, card.uuid_matches == 0
    yield Reason.INSUFFICIENT_SLOTS, card.used_slots + 1 > card.slots
    if request.idle_only:
        yield Reason.NOT_IDLE, _in_use(card)
    if cores_left is not None:
        yield Reason.QUOTA_EXCEEDED, min(container.cards, MAX_CARDS) * card.need_cores > cores_left
    if memory_left is not None:
        amount = min(container.cards, MAX_CARDS) * card.need_memory
        yield Reason.QUOTA_EXCEEDED, amount > memory_left
    yield Reason.INSUFFICIENT_MEMORY, card.used_memory + card.need_memory > card.memory
    yield Reason.INSUFFICIENT_CORES, card.used_cores + card.need_cores > card.cores
    if container.exclusive:
        yield Reason.NOT_IDLE, _in_use(card)
    if container.cores == 0:
        # Nobody can run beside those who have all of the time.
        full = (card.cores > 0) & (card.used_cores >= card.cores)
        yield Reason.CORES_EXHAUSTED, full & (card.need_cores == 0)
    if container.wants_mig():
        yield Reason.NO_MIG_PROFILE, card.has_instance == 0
    else:
        yield Reason.MIG_ENABLED, card.in_mig_mode


def order_keys(request: PodRequest, card: Facts) -> list[Any]:
    """By what cards are ordered, ascending, the most important key first."""
    keys: list[Any] = []
    for key in request.card_order:
        if key is CardKey.FREE_CORES:
            keys.append(card.cores - card.used_cores)
        elif key is CardKey.MOST_FREE_CORES:
            keys.append(card.used_cores - card.cores)
        elif key is CardKey.FREE_MEMORY:
            keys.append(card.memory - card.used_memory)
        elif key is CardKey.MOST_FREE_MEMORY:
            keys.append(card.used_memory - card.memory)
        elif key is CardKey.FULLEST:
            keys.append(-share_used(request.weights, card))
        elif key is CardKey.EMPTIEST:
            keys.append(share_used(request.weights, card))
        else:
            # Cards of an unknown NUMA node are alone.
            keys.append(-(card.numa_peers * (card.numa >= 0)))
            keys.append(card.numa)
    return keys


def share_used(weights: ScoreWeights, card: Facts) -> Any:
    """How much of a card would be used with the request, as weighted millionths.

    With 1:1:1, 1 of 10 slots, 30 of 100 cores and 4 of 16 GiB used, and 20 cores and 4 GiB asked
    for: 200000 + 500000 + 500000 = 1200000.
    """
    return (
        weights.slots * ((card.used_slots + 1) * PARTS // (card.slots + (card.slots == 0)))
        + weights.cores
        * ((card.used_cores + card.need_cores) * PARTS // (card.cores + (card.cores == 0)))
        + weights.memory
        * ((card.used_memory + card.need_memory) * PARTS // (card.memory + (card.memory == 0)))
    )


def _in_use(card: Facts) -> Any:
    return (card.used_cores | card.used_memory | card.used_slots) != 0


class Instance(Struct, frozen=True):
    """An instance that could be made, with its slices as bits."""

    profile: MigProfile
    placement: int
    slices: int


@lru_cache(maxsize=4096)
def find_instance(
    profiles: tuple[MigProfile, ...], occupied: int, name: str, cores: int, memory: int
) -> Instance | None:
    """The instance that a request gets of a card with these slices occupied; None if none."""
    for profile in sorted(profiles, key=lambda each: (each.memory, each.cores, each.width)):
        wanted = profile.name == name if name else True
        if wanted and profile.cores >= cores and profile.memory >= memory:
            found = _find_placement(profiles, profile, occupied)
            if found is not None:
                return found
    return None


def _find_placement(
    profiles: tuple[MigProfile, ...], profile: MigProfile, occupied: int
) -> Instance | None:
    best: Instance | None = None
    most_left = -1
    for placement in sorted(profile.placements):
        slices = _slices(profile, placement)
        if slices & occupied:
            continue
        left = count_placements(profiles, occupied | slices)
        if left > most_left:
            best, most_left = Instance(profile, placement, slices), left
    return best


def count_placements(profiles: tuple[MigProfile, ...], occupied: int) -> int:
    """How many instances of any profile could be made next."""
    return sum(
        not _slices(profile, placement) & occupied
        for profile in profiles
        for placement in profile.placements
    )


def _slices(profile: MigProfile, placement: int) -> int:
    return ((1 << profile.width) - 1) << placement

"""Instances of cards in MIG mode: which profile, and on which slices.

A named profile has to be one of the card's. Otherwise the smallest of the card's profiles that has
the amounts and a free placement is taken. Of its free placements the one is taken that leaves most
other instances possible, and of equal ones the first: on an empty card with eight slices a
profile of one slice goes where only small ones can be, and not in the middle of a half.

The slices decide whether an instance has room. Its amounts are only charged, as rounded amounts of
instances may add up to more than the card says it has.
"""

from functools import lru_cache

from msgspec import Struct

from podium.addons.gpu.cards.card import MigProfile


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

"""Which cards a pod has, and what that takes of each.

Init containers run one after the other before the rest, so that of them and of all others together
the larger counts; sidecars go on, and count beside whatever starts after them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct


class CardShare(Struct, frozen=True):
    """What one container has of one card. A MIG instance has `width` slices from `placement` on."""

    card: int
    cores: int
    memory: int
    mig_profile: str = ""
    placement: int = -1
    width: int = 0

    def slices(self) -> int:
        """The slices of its instance as bits."""
        return ((1 << self.width) - 1) << self.placement if self.placement >= 0 else 0


class Allocation(Struct, frozen=True):
    """Shares of each container, empty for those without a card."""

    containers: tuple[tuple[CardShare, ...], ...]
    init_containers: tuple[tuple[CardShare, ...], ...] = ()
    sidecars: tuple[bool, ...] = ()

    def cards(self) -> tuple[int, ...]:
        """The indexes of all its cards, in order."""
        return tuple(sorted({share.card for part in self._all() for share in part}))

    def _all(self) -> Sequence[tuple[CardShare, ...]]:
        return (*self.init_containers, *self.containers)


class CardUse(Struct, frozen=True):
    """What a pod takes of one card; `slices` are the bits of occupied MIG slices."""

    cores: int = 0
    memory: int = 0
    slots: int = 0
    slices: int = 0


def card_uses(allocation: Allocation) -> dict[int, CardUse]:
    """What a pod takes of each card, by the card's index.

    On each card the larger of two counts: all containers with all sidecars, and each init container
    with the sidecars that started before it. With apps of 30 and 20 cores, a sidecar of 10 and an
    init container of 80 after it, a card that serves all of them gives max(60, 90) = 90 cores.
    MIG slices are those of all, as an instance stays where it is.
    """
    uses: dict[int, CardUse] = {}
    going_on: dict[int, CardUse] = {}
    for place, shares in enumerate(allocation.init_containers):
        if not shares:
            continue
        beside = dict(going_on)
        _add(beside, shares)
        if place < len(allocation.sidecars) and allocation.sidecars[place]:
            going_on = beside
        else:
            raise_uses(uses, beside)
    for shares in allocation.containers:
        _add(going_on, shares)
    raise_uses(uses, going_on)
    return uses


def _add(uses: dict[int, CardUse], shares: Iterable[CardShare]) -> None:
    for share in shares:
        use = uses.get(share.card)
        if use is None:
            uses[share.card] = CardUse(share.cores, share.memory, 1, share.slices())
        else:
            uses[share.card] = CardUse(
                use.cores + share.cores,
                use.memory + share.memory,
                use.slots + 1,
                use.slices | share.slices(),
            )


def raise_uses(uses: dict[int, CardUse], stage: Mapping[int, CardUse]) -> None:
    """Let there be room for either of two, card by card."""
    for card, use in stage.items():
        known = uses.get(card)
        uses[card] = (
            use
            if known is None
            else CardUse(
                max(known.cores, use.cores),
                max(known.memory, use.memory),
                max(known.slots, use.slots),
                known.slices | use.slices,
            )
        )


class Charged:
    """What all pods together take of one card."""

    __slots__ = ("_slices", "cores", "memory", "slices", "slots")

    def __init__(self) -> None:
        self.cores = 0
        self.memory = 0
        self.slots = 0
        self.slices = 0
        self._slices: dict[int, int] = {}

    def add(self, use: CardUse, sign: int) -> None:
        self.cores += sign * use.cores
        self.memory += sign * use.memory
        self.slots += sign * use.slots
        if use.slices:
            # Two pods on one slice are a mistake of somebody, which must not free it too early.
            for place in range(use.slices.bit_length()):
                if use.slices >> place & 1:
                    self._slices[place] = self._slices.get(place, 0) + sign
            self.slices = sum(1 << place for place, pods in self._slices.items() if pods > 0)

    def copy(self) -> "Charged":
        other = Charged()
        other.cores, other.memory = self.cores, self.memory
        other.slots, other.slices = self.slots, self.slices
        other._slices = dict(self._slices)
        return other


NOTHING_CHARGED: Final = Charged()

"""Which cards a pod has, and what that takes of each.

Init containers run one after the other before the rest, so that of them and of all others together
the larger counts; sidecars go on, and count beside whatever starts after them.
"""

from collections.abc import Sequence

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

"""Cards as the agent of a node registered them.

Amounts of memory are in the units of the dialect that read them; cores are hundredths of a card.
"""

from typing import Final

from msgspec import Struct

from podium.gpu.reasons import Reason

UNLIMITED: Final = 1 << 30
"""Slots of a card whose dialect does not count who shares it."""
UNKNOWN_NUMA: Final = -1
NVLINK: Final = 100
"""How well two cards with one NVLink between them are connected; ways over PCI are below."""


class MigProfile(Struct, frozen=True):
    """A size of instance that a card can be split into. A placement is the first of the `width`
    memory slices that the instance would occupy."""

    name: str
    memory: int
    cores: int
    width: int
    placements: tuple[int, ...]


class Card(Struct, frozen=True):
    index: int
    uuid: str = ""
    model: str = ""
    memory: int = 0
    cores: int = 100
    slots: int = UNLIMITED
    numa: int = UNKNOWN_NUMA
    healthy: bool = True
    cordoned: bool = False
    mode: str = ""
    """How the card is shared out, in the dialect's word, where pods may ask for one."""
    profiles: tuple[MigProfile, ...] = ()
    """A card with profiles is in MIG mode: it is given away by instances only."""
    links: tuple[int, ...] = ()
    """How well it is connected with each card of the node, by index; empty if nobody knows."""


class NodeCards(Struct, frozen=True):
    """The cards of a node in order of their indexes; with a refusal none of them can be had."""

    cards: tuple[Card, ...] = ()
    refusal: Reason | None = None
    detail: str = ""
    """The dialect's own words for the refusal, where it has some."""
    memory_factor: int = 1
    """How many units of the node's agent are one of those that pods ask in."""
    good_until: float = float("inf")
    """When none of the cards can be had any more, unless the agent says something before."""


NO_CARDS: Final = NodeCards(refusal=Reason.NO_CARDS)

"""Cards chosen in the order in which pods are bound, for agents that choose shared cards.

Such an agent chooses by what it has given out so far, and refuses a pod whose decision names
another card. Pods are not always bound in the order in which they were decided, and one that was
decided before may not be bound at all. So cards are chosen again when a pod's decision is about to
be written: as if it came first of all whose decisions nobody was told of yet. With two cards of 100
cores, pods of 60, 60 and 30 cores are decided for cards 0, 1 and 0. If the second is bound first it
gets card 0, as the agent will have it, and the others cards 1 and 0.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.requests import PodRequest


class UntoldDecision(NamedTuple):
    """A decision that only its maker knows of: what was asked for, and what is charged for it."""

    uid: str
    request: PodRequest
    uses: Mapping[int, CardUse]


def choose_again(
    table: CardTable, row: int, untold: Sequence[UntoldDecision]
) -> dict[str, Allocation] | None:
    """The cards of each in the order given, by uid; None if in that order not all of them fit."""
    part = table.part([row])
    for decision in untold:
        part.discharge(0, decision.uses)
    found: dict[str, Allocation] = {}
    for decision in untold:
        given = allocate(part, 0, decision.request)
        if not isinstance(given, Allocation):
            return None
        part.charge(0, card_uses(given))
        found[decision.uid] = given
    return found

"""What a pod holds of the cards of a node: what is written on it, as long as that counts.

A pod that asks for cards and has no decision that can be read holds none that anybody could name:
`unread` says so, for those who tell people.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.dialects.dialect import Dialect, Phase
from podium.addons.gpu.dialects.stale import GRACE_PERIOD_S, Staleness, find_staleness
from podium.kubernetes.kinds.pod import Pod


class HeldCards(Struct, frozen=True):
    """`uses` by index of the card. With a `staleness` nothing is held, for that reason."""

    uses: Mapping[int, CardUse] = {}
    allocation: Allocation | None = None
    phase: Phase | None = None
    staleness: Staleness | None = None
    unread: str = ""


NOTHING_HELD: Final = HeldCards()


def held_cards(
    dialect: Dialect,
    pod: Pod,
    node: NodeCards,
    now: float,
    grace_period_s: float = GRACE_PERIOD_S,
) -> HeldCards:
    """`node` has the cards of the node that the pod is on, or that its decision names."""
    decision = dialect.decision(pod, node)
    if decision is None:
        return NOTHING_HELD
    staleness = find_staleness(pod, decision, now, grace_period_s)
    if staleness is not None:
        return HeldCards(staleness=staleness)
    uses = card_uses(decision.allocation)
    return HeldCards(uses, decision.allocation, decision.phase, unread=decision.problem)

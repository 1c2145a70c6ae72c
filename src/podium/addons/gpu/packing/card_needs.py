"""What a pod needs of cards, in the one number that packing policies know: thousandths of a card.

Cores, memory and percent of memory are each a part of a card; the largest part counts. A part of
memory depends on how much a card has, so it is worked out for each size of card.
"""

from typing import NamedTuple

from podium.addons.gpu.cards.requests import (
    CardSelector,
    ContainerRequest,
    PodRequest,
    starting_order,
)
from podium.addons.gpu.packing.node_columns import WHOLE


class CardSize(NamedTuple):
    cores: int
    memory: int


class CardNeed(NamedTuple):
    """So many cards, and of each of them the largest part that a container wants."""

    cards: int = 0
    whole: bool = False
    cores: int = 0
    memory: int = 0
    memory_percent: int = 0
    selector: CardSelector = CardSelector()

    def milli(self, size: CardSize) -> int:
        """Thousandths of a card of this size, rounded up; 0 for no card."""
        if not self.cards:
            return 0
        if self.whole:
            return WHOLE
        parts = (
            -(-self.cores * WHOLE // size.cores) if size.cores else 0,
            -(-self.memory * WHOLE // size.memory) if size.memory else 0,
            self.memory_percent * WHOLE // 100,
        )
        return min(max(1, *parts), WHOLE)


NO_NEED = CardNeed()


def card_need(request: PodRequest | None) -> CardNeed:
    """Of the containers that run beside each other; of init containers only if no other wants a
    card."""
    if request is None:
        return NO_NEED
    starts = starting_order(request)
    staying = [start.container for start in starts if not start.ends]
    if staying:
        cards = sum(container.cards for container in staying)
    else:
        staying = [start.container for start in starts]
        cards = max((container.cards for container in staying), default=0)
    if not cards:
        return NO_NEED
    return CardNeed(
        cards,
        any(_takes_all(container) for container in staying),
        max(container.cores for container in staying),
        max(container.memory for container in staying),
        max(container.memory_percent or 0 for container in staying),
        request.selector,
    )


def _takes_all(container: ContainerRequest) -> bool:
    return container.whole or container.exclusive

"""Cards as columns that packing policies score, and what pods need of them in the same numbers.

What is left of a card is the smaller part of its cores and of its memory, in thousandths. A card
that cannot be had (broken, cordoned, in MIG mode, all slots taken, of a refused node) has nothing
left; one that somebody has a share of is never whole. A node's model is that of its first card.

What a pod needs of cards, in the one number that packing policies know: thousandths of a card.
Cores, memory and percent of memory are each a part of a card; the largest part counts. A part of
memory depends on how much a card has, so it is worked out for each size of card.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.cards.card_table import NO_REASON, CardTable
from podium.addons.gpu.cards.columns import Ints
from podium.addons.gpu.cards.requests import (
    CardSelector,
    ContainerRequest,
    PodRequest,
    starting_order,
)
from podium.addons.gpu.packing.node_columns import ANY_MODEL, MAX_MODELS, WHOLE, NodeColumns


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


NO_SIZE = CardSize(0, 0)


def packing_columns(table: CardTable, rows: Ints, cpu_left: Ints, tags: Ints) -> NodeColumns:
    """Of some rows of the table; the other columns are of these rows too."""
    usable = table.exists[rows] & table.healthy[rows] & ~table.cordoned[rows]
    usable &= table.profiles[rows] < 0
    usable &= (table.refusal[rows] == NO_REASON)[:, None]
    used_slots = table.used_slots[rows]
    left = np.minimum(
        _part_left(table.cores[rows], table.used_cores[rows]),
        _part_left(table.memory[rows], table.used_memory[rows]),
    )
    left = np.where(used_slots > 0, np.minimum(left, WHOLE - 1), left)
    left = np.where(usable & (used_slots < table.slots[rows]), left, 0)
    model_bit = 1 << np.minimum(table.kind[rows, 0], MAX_MODELS) if table.places else tags * 0
    return NodeColumns(cpu_left, left, usable.sum(axis=1), tags, model_bit)


def card_sizes(table: CardTable, rows: Ints) -> tuple[list[CardSize], Ints]:
    """The different sizes of cards on these rows, by their first ones, and the number of each
    row's."""
    if not table.places:
        return [NO_SIZE], np.zeros(len(rows), np.int64)
    both = np.stack((table.cores[rows, 0], table.memory[rows, 0]), axis=1)
    sizes, numbers = np.unique(both, axis=0, return_inverse=True)
    return [CardSize(*size) for size in sizes.tolist()], numbers.reshape(-1)


def devices_by_model(table: CardTable) -> dict[int, int]:
    """Cards of the cluster, usable now or not, by the bit of their node's model."""
    if not table.places:
        return {}
    cards = table.exists.sum(axis=1)
    counts = np.bincount(np.minimum(table.kind[:, 0], MAX_MODELS), cards)
    return {1 << code: int(count) for code, count in enumerate(counts.tolist()) if count}


def model_mask(table: CardTable, selector: CardSelector) -> int:
    """The models that a selector lets through, as `NodeColumns.model_bit` numbers them."""
    matching = table.matching_kinds(selector)
    if matching is None:
        return ANY_MODEL
    codes: set[int] = {min(code, MAX_MODELS) for code in np.flatnonzero(matching).tolist()}
    return sum(1 << code for code in codes)


def pod_tag(cards: Iterable[Card], uses: Mapping[int, CardUse]) -> int:
    """The kind of a pod by what it holds, see `packing.node_columns.Pod.tag`."""
    if not uses:
        return 0
    sizes = {card.index: card for card in cards}
    held = [(sizes[index], use) for index, use in uses.items() if index in sizes]
    shared = any(use.cores < card.cores and use.memory < card.memory for card, use in held)
    return 1 if shared else 1 << min(len(uses), MAX_MODELS)


def _part_left(amount: Ints, used: Ints) -> Ints:
    """In thousandths, rounded down; all of it where the amount is not known."""
    part: Ints = np.maximum(amount - used, 0) * WHOLE // np.maximum(amount, 1)
    return np.where(amount > 0, part, WHOLE)

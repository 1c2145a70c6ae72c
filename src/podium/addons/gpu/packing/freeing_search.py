"""In which order to free whole cards, so that the fewest pods are moved.

The cards with the fewest pods come first. That may fill up just the room that others need, so other
orders are tried too, each only as long as it can still be better than the best one known, and until
MAX_TRIED_CARDS were tried: with a few nodes that is all of them, with many the first one and its
neighbours.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from podium.addons.gpu.packing.movable_pods import BudgetsLeft
from podium.addons.gpu.packing.move_table import Holder, MoveTable, Places, Undo, take_back
from podium.addons.gpu.packing.moves import key_of

MAX_TRIED_CARDS: Final = 1500

Card = tuple[int, int]
"""The row of a node and the index of a card."""


class FreedCard(Struct, frozen=True):
    """A card, and the way to free it that the search found."""

    row: int
    index: int
    victims: tuple[Holder, ...]


class FreeingSearch:
    """`wanted` cards with at most `max_moves`; fewer cards only if there is no way to all."""

    def __init__(
        self,
        table: MoveTable,
        budgets: BudgetsLeft,
        wanted: int,
        max_moves: int,
        is_refused: Callable[[Sequence[Holder]], bool],
    ) -> None:
        self._table = table
        self._budgets = budgets
        self._wanted = wanted
        self._max_moves = max_moves
        self._is_refused = is_refused
        self._tries = 0
        self._path: list[FreedCard] = []
        self._places: list[tuple[str, int, tuple[int, ...]]] = []
        self._seen: set[frozenset[tuple[str, int, tuple[int, ...]]]] = set()
        self._best: tuple[FreedCard, ...] = ()
        self._best_moves = 0

    def find(self) -> tuple[FreedCard, ...]:
        """The cards in their order; none if no card can be freed."""
        self._descend(0)
        return self._best

    def _descend(self, moves: int) -> None:
        gained = len(self._path)
        if (gained, -moves) > (len(self._best), -self._best_moves):
            self._best, self._best_moves = tuple(self._path), moves
        if gained == self._wanted:
            return
        cards = self._table.cards_to_free()
        fewest = len(cards[0][2]) if cards else 1
        for row, index, victims in cards:
            if not self._can_be_better(gained + 1, moves + len(victims), fewest):
                break  # those behind it have as many pods, or more
            if self._tries >= MAX_TRIED_CARDS:
                return
            self._try(FreedCard(row, index, tuple(victims)), moves)

    def _can_be_better(self, gained: int, moves: int, fewest: int) -> bool:
        """Whether a way that goes on like this can beat the best one known."""
        left = self._max_moves - moves
        if left < 0:
            return False
        most = min(self._wanted, gained + left // fewest)
        if most != len(self._best):
            return most > len(self._best)
        return moves + (most - gained) * fewest < self._best_moves

    def _try(self, card: FreedCard, moves: int) -> None:
        table, victims = self._table, card.victims
        everybody = [each.pod for freed in self._path for each in freed.victims]
        if self._is_refused(victims) or not self._budgets.allow(
            [*everybody, *(each.pod for each in victims)]
        ):
            return
        self._tries += 1
        undo: Undo = []
        places = free_card(table, victims, undo)
        if places is None:
            return
        told = [(key_of(each.pod), row, found.cards()) for each, row, found in places]
        state = frozenset((*self._places, *told))
        if state not in self._seen:
            self._seen.add(state)
            before = len(self._places)
            self._places.extend(told)
            self._path.append(card)
            for victim in victims:
                del table.holders[key_of(victim.pod)]
            self._descend(moves + len(victims))
            for victim in victims:
                table.holders[key_of(victim.pod)] = victim
            self._path.pop()
            del self._places[before:]
        take_back(undo)


def free_card(table: MoveTable, victims: Sequence[Holder], undo: Undo) -> Places | None:
    """Other cards for all pods of one, if one card more is idle then; or else None, and nothing is
    changed."""
    before = table.idle_cards()
    table.discharge(victims, undo)
    places = table.find_places(victims, undo)
    if places is None or table.idle_cards() <= before:
        take_back(undo)
        return None
    return places

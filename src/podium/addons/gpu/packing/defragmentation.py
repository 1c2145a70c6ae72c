"""Which pods to move so that whole cards become free, or that pods which wait fit.

For a pod that waits all sets of pods on each node are tried, small ones first, up to MAX_TOGETHER
of them. They are given other cards one after the other, the largest first; no third pod is moved
for them. Pods that are more important than the one that waits stay. Whole cards are freed one by
one, in an order that moves few pods , as long as each leaves one more idle card.

Every move is found by allocating on the cards as they would be then: the moved pod gets cards by
its own request and policies, on a node that its selectors and tolerations allow. So a pod is not
moved whose policies would put it back, or onto another idle card. Each step is then carried out by
a scheduler on an imagined cluster, if there is one to ask: where that puts pods is what counts, and
a step that comes to nothing there is given up for the next one.

In which order to free whole cards, so that the fewest pods are moved. The cards with the fewest
pods come first. That may fill up just the room that others need, so other orders are tried too,
each only as long as it can still be better than the best one known, and until MAX_TRIED_CARDS were
tried: with a few nodes that is all of them, with many the first one and its neighbours.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, permutations
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.packing.moves import (
    BudgetsLeft,
    CardPlacement,
    Defragmentation,
    MovablePod,
    Move,
    MoveAnswer,
    MoveGroup,
    MoveScheduler,
    MoveTable,
    PlacedPod,
    Places,
    RefusedStep,
    Undo,
    key_of,
    priority_of,
    take_back,
)
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget

MAX_TRIED_CARDS: Final = 1500

Card = tuple[int, int]
"""The row of a node and the index of a card."""


class FreedCard(Struct, frozen=True):
    """A card, and the way to free it that the search found."""

    row: int
    index: int
    victims: tuple[MovablePod, ...]


class FreeingSearch:
    """`wanted` cards with at most `max_moves`; fewer cards only if there is no way to all."""

    def __init__(
        self,
        table: MoveTable,
        budgets: BudgetsLeft,
        wanted: int,
        max_moves: int,
        is_refused: Callable[[Sequence[MovablePod]], bool],
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


def free_card(table: MoveTable, victims: Sequence[MovablePod], undo: Undo) -> Places | None:
    """Other cards for all pods of one, if one card more is idle then; or else None, and nothing is
    changed."""
    before = table.idle_cards()
    table.discharge(victims, undo)
    places = table.find_places(victims, undo)
    if places is None or table.idle_cards() <= before:
        take_back(undo)
        return None
    return places


MAX_TOGETHER: Final = 4
"""How many pods of a node are moved for one that waits."""
MAX_TRIED_SETS: Final = 20_000
"""So many sets of pods are tried for one that waits."""
MAX_ORDERS: Final = 24
"""In so many orders the pods of a step are evicted, until the scheduler goes along."""
MAX_REFUSED: Final = 100
"""After so many steps that the scheduler defeats no other is tried."""
_MAX_CANDIDATES: Final = 16


class Defragmenter:
    """A plan in the making; the table is as it would be after the steps so far."""

    def __init__(
        self,
        table: MoveTable,
        budgets: Iterable[PodDisruptionBudget] = (),
        scheduler: MoveScheduler | None = None,
    ) -> None:
        self._table = table
        self._budgets = BudgetsLeft(budgets)
        self._scheduler = scheduler
        self._placed: dict[str, CardPlacement] = {}
        """Pods that waited, and where the scheduler has put them."""
        self._refused: list[RefusedStep] = []
        self._refused_victims: set[frozenset[str]] = set()

    def plan(self, free_cards: int | None, max_moves: int) -> Defragmentation:
        """Help the pods that wait, the most important first; then free so many whole cards, with
        None as many as possible if nobody waits."""
        table = self._table
        before = table.idle_cards()
        steps: list[MoveGroup] = []
        unplaced: list[Pod] = []
        left = max_moves
        if self._scheduler is not None:
            waiting = [pod for pod, _ in table.waiting]
            self._note_placed(self._scheduler.place_waiting(waiting), [])
        for pod, request in sorted(table.waiting, key=lambda each: -priority_of(each[0])):
            step = self._help(pod, request, left)
            if step is None:
                unplaced.append(pod)
            else:
                steps.append(step)
                left -= len(step.moves)
        as_many = 0 if table.waiting else max_moves
        wanted = as_many if free_cards is None else free_cards
        steps.extend(self._free_cards(wanted, left))
        return Defragmentation(
            tuple(steps),
            before,
            table.idle_cards(),
            tuple(pod for pod in unplaced if key_of(pod) not in self._placed),
            tuple(table.kept),
            self._scheduler is not None,
            tuple(self._refused),
        )

    # --- a pod that waits -----------------------------------------------------------------------

    def _help(self, pod: Pod, request: PodRequest, max_moves: int) -> MoveGroup | None:
        fits = self._placed.get(key_of(pod))
        if fits is not None:
            return MoveGroup((), places=(pod, fits))
        for tried, (row, victims) in enumerate(self._victim_sets(pod, request, max_moves)):
            if tried >= MAX_TRIED_SETS or len(self._refused) >= MAX_REFUSED:
                break
            step = self._try_help(pod, request, row, victims)
            if step is not None:
                return step
        return None

    def _victim_sets(
        self, pod: Pod, request: PodRequest, max_moves: int
    ) -> Iterator[tuple[int, tuple[MovablePod, ...]]]:
        """Of each node that the pod may go to, small ones and the least important first."""
        table, most = self._table, min(max_moves, MAX_TOGETHER)
        rows = []
        for row in range(len(table.nodes)):
            here = [
                holder
                for holder in table.holders_of(row)
                if priority_of(holder.pod) <= priority_of(pod)
            ]
            least = table.min_victims(row, request, here)
            if least <= most and table.may_go(pod, row):
                rows.append((least, row, here[:_MAX_CANDIDATES]))
        for size in range(most + 1):
            for least, row, here in rows:
                if least <= size:
                    for victims in combinations(here, size):
                        yield row, victims

    def _try_help(
        self, pod: Pod, request: PodRequest, row: int, victims: Sequence[MovablePod]
    ) -> MoveGroup | None:
        table = self._table
        undo: Undo = []
        table.discharge(victims, undo)
        found = allocate(table.cards, row, request)
        places = None
        if isinstance(found, Allocation) and self._budgets.allow(each.pod for each in victims):
            table.charge(row, card_uses(found), undo)
            places = table.find_places(victims, undo)
        if places is None or not isinstance(found, Allocation):
            take_back(undo)
            return None
        step = MoveGroup(self._moves(places), places=(pod, table.placement(row, found.cards())))
        return self._conclude(step, undo)

    # --- a whole card ---------------------------------------------------------------------------

    def _free_cards(self, wanted: int, max_moves: int) -> list[MoveGroup]:
        """Step by step as it was found, until the scheduler defeats one: then it is found anew."""
        steps: list[MoveGroup] = []
        while len(steps) < wanted and len(self._refused) < MAX_REFUSED:
            left = max_moves - sum(len(step.moves) for step in steps)
            search = FreeingSearch(
                self._table, self._budgets, wanted - len(steps), left, self._is_refused
            )
            found = search.find()
            if not found:
                break
            for card in found:
                step = self._free_card(card)
                if step is None:
                    break
                steps.append(step)
        return steps

    def _free_card(self, card: FreedCard) -> MoveGroup | None:
        table = self._table
        undo: Undo = []
        places = free_card(table, card.victims, undo)
        if places is None:  # the scheduler has put pods elsewhere meanwhile
            self._refused_victims.add(_keys(card.victims))
            return None
        step = MoveGroup(self._moves(places), frees=table.placement(card.row, (card.index,)))
        concluded = self._conclude(step, undo)
        if concluded is None:
            self._refused_victims.add(_keys(card.victims))
        return concluded

    def _is_refused(self, victims: Sequence[MovablePod]) -> bool:
        return _keys(victims) in self._refused_victims

    # --- what the scheduler says ----------------------------------------------------------------

    def _conclude(self, step: MoveGroup, undo: Undo) -> MoveGroup | None:
        """The step as the scheduler carries it out; None if it comes to nothing there."""
        if self._scheduler is not None:
            take_back(undo)
            asked = self._ask_in_some_order(self._scheduler, step)
            if isinstance(asked, str):
                self._refused.append(RefusedStep(step, asked))
                return None
            step = asked
        self._budgets.take(move.pod for move in step.moves)
        for move in step.moves:  # none is moved twice: others will be in their place
            del self._table.holders[key_of(move.pod)]
        return step

    def _ask_in_some_order(self, scheduler: MoveScheduler, step: MoveGroup) -> MoveGroup | str:
        """A successor may take the room that was made for others, unless another one goes first."""
        first = ""
        for moves in islice(permutations(step.moves), MAX_ORDERS):
            undo: Undo = []
            asked = self._ask(scheduler, replace(step, moves=moves), undo)
            if isinstance(asked, MoveGroup):
                return asked
            take_back(undo)
            scheduler.take_back()
            first = first or asked
        return first

    def _ask(self, scheduler: MoveScheduler, step: MoveGroup, undo: Undo) -> MoveGroup | str:
        victims = [self._table.holders[key_of(move.pod)] for move in step.moves]
        table, before = self._table, self._table.idle_cards()
        helped = "" if step.places is None else key_of(step.places[0])
        answer = scheduler.evict([victim.pod for victim in victims], helped)
        gone = victims[: answer.evicted]
        for victim in gone:
            if key_of(victim.pod) not in answer.placed:
                return _would_wait(victim.pod, answer)
        table.discharge(gone, undo)
        moved = {key_of(victim.pod) for victim in gone}
        for key in moved:
            placed = answer.placed[key]
            table.charge(table.row_of(placed.node), card_uses(placed.allocation), undo)
        waited = {key: placed for key, placed in answer.placed.items() if key not in moved}
        self._note_placed(waited, undo)
        moves = tuple(
            _move_as_placed(move, answer.placed[key_of(move.pod)])
            for move in step.moves[: len(gone)]
        )
        if step.places is not None:
            pod, _ = step.places
            there = self._placed.get(key_of(pod))
            return (
                _would_wait(pod, answer) if there is None else MoveGroup(moves, places=(pod, there))
            )
        if table.idle_cards() <= before:
            places = ", ".join(f"{key_of(m.pod)} to {_text(m.target)}" for m in moves)
            return f"no card more would be idle: {places}"
        return MoveGroup(moves, frees=step.frees)

    def _note_placed(self, placed: Mapping[str, PlacedPod], undo: Undo) -> None:
        """Pods that waited are there from now on."""
        table = self._table
        for key, each in placed.items():
            row, cards = table.row_of(each.node), each.allocation
            table.charge(row, card_uses(cards), undo)
            self._placed[key] = table.placement(row, cards.cards())
            undo.append(partial(self._placed.pop, key))

    def _moves(self, places: Places) -> tuple[Move, ...]:
        table = self._table
        return tuple(
            Move(
                victim.pod,
                table.placement(victim.row, victim.source),
                table.placement(row, found.cards()),
            )
            for victim, row, found in places
        )


def _keys(victims: Iterable[MovablePod]) -> frozenset[str]:
    return frozenset(key_of(victim.pod) for victim in victims)


def _move_as_placed(move: Move, placed: PlacedPod) -> Move:
    """The move with the place that the scheduler has for it."""
    target = CardPlacement(placed.node, placed.allocation.cards())
    proposed = None if target == move.target else move.target
    return Move(move.pod, move.source, target, proposed, placed.equal_nodes)


def _would_wait(pod: Pod, answer: MoveAnswer) -> str:
    key = key_of(pod)
    return f"{key} would wait: {answer.messages.get(key, 'nobody tried it')}"


def _text(place: CardPlacement) -> str:
    return f"{place.node}/{','.join(map(str, place.cards))}"

"""The cards of all nodes as columns over (row of the node, place of the card in the node).

Rules over thousands of nodes read the columns; rules for one node read its cards and what is
charged on them as plain objects, which is quicker there. Both are changed together, by four
functions only: `put_node`, `drop_node`, `charge` and `discharge`; time alone refuses rows, by
`expire`.

What is charged stands in books by the card's index. It is never cut to what the card has, and it
outlasts a node whose registration goes away or loses a card: a card that is there again is as full
as it was. Only `drop_node` forgets.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from podium.addons.gpu.cards.allocations import CardUse, Charged
from podium.addons.gpu.cards.card import (
    MAX_CORES,
    MAX_MEMORY,
    MAX_SLICES,
    NO_CARDS,
    UNLIMITED,
    Card,
    MigProfile,
    NodeCards,
    Reason,
    find_mistake,
)
from podium.addons.gpu.cards.columns import Bools, Ints, enlarge
from podium.addons.gpu.cards.requests import CardSelector
from podium.addons.gpu.cards.topology import UNLINKED, link_components, link_matrix

REASONS: Final = tuple(Reason)
REASON_CODES: Final = {reason: code for code, reason in enumerate(REASONS)}
NO_REASON: Final = -1
_NEVER: Final = float("inf")

_CARD_INTS: Final = ("cores", "memory", "slots", "numa", "kind", "component", "profiles")
_USE_INTS: Final = ("used_cores", "used_memory", "used_slots", "used_slices")
_CARD_BOOLS: Final = ("exists", "healthy", "cordoned")
_COLUMNS: Final = (*_CARD_INTS, *_USE_INTS, *_CARD_BOOLS)
_ALL_SLICES: Final = (1 << MAX_SLICES) - 1
_NO_PROFILES: Final = -1
_EMPTY: Final = {"component": UNLINKED, "profiles": _NO_PROFILES}
"""What stands where no card is, if not 0."""


class CardTable:
    """`memory_unit` is what one unit of memory means, in bytes.

    `version` grows with each change, and `generations[row]` is the version of the row's last one.
    """

    exists: Bools
    healthy: Bools
    cordoned: Bools
    cores: Ints
    memory: Ints
    slots: Ints
    numa: Ints
    kind: Ints
    """The number of its model and mode among `kinds`."""
    component: Ints
    """Cards of a node with the same number are linked, directly or through others."""
    profiles: Ints
    """The number of its MIG profiles among `profile_sets`; -1 of a card that is not in MIG mode."""
    used_cores: Ints
    used_memory: Ints
    used_slots: Ints
    used_slices: Ints

    def __init__(self, memory_unit: int = 1) -> None:
        self.memory_unit = memory_unit
        self.version = 0
        self.rows = 0
        self.places = 0
        self.nodes: list[NodeCards] = []
        self.kinds: list[tuple[str, str]] = []
        self.profile_sets: list[tuple[MigProfile, ...]] = []
        self.charged: list[dict[int, Charged]] = []
        self.components: list[tuple[int, ...]] = []
        self.generations: Ints = np.zeros(0, np.int64)
        self.refusal: Ints = np.full(0, NO_REASON, np.int64)
        self.links: Ints | None = None
        for name in (*_CARD_INTS, *_USE_INTS):
            setattr(self, name, np.zeros((0, 0), np.int64))
        for name in _CARD_BOOLS:
            setattr(self, name, np.zeros((0, 0), np.bool_))
        self._place_of: list[dict[int, int]] = []
        self._places_of_uuid: dict[str, list[tuple[int, int]]] | None = None
        self._kind_codes: dict[tuple[str, str], int] = {}
        self._profile_codes: dict[tuple[MigProfile, ...], int] = {}
        self._matching: dict[tuple[tuple[str, ...], ...], Bools] = {}
        self._good_until: dict[int, float] = {}
        self._next_expiry = _NEVER

    # --- nodes --------------------------------------------------------------------------------

    def put_node(self, row: int, node: NodeCards) -> None:
        """Let the row hold the cards of this node; what is charged on it stays.

        A node with cards that cannot be is refused as a bad registration, and holds none.
        """
        if row < self.rows and node == self.nodes[row]:
            return
        mistake = find_mistake(node.cards)
        if mistake:
            node = NodeCards((), Reason.BAD_REGISTRATION, mistake)
        self._grow(row + 1, len(node.cards))
        self._forget_cards(row)
        refusal = node.refusal or (None if node.cards else Reason.NO_CARDS)
        self.nodes[row] = node
        self.refusal[row] = NO_REASON if refusal is None else REASON_CODES[refusal]
        if node.cards:
            self._put_cards(row, node.cards)
        if refusal is None and node.good_until != _NEVER:
            self._good_until[row] = node.good_until
            self._next_expiry = min(self._next_expiry, node.good_until)
        for index in self.charged[row]:
            self._write_use(row, index)
        self._touch(row)

    def reserve(self, rows: int) -> None:
        """Let there be so many rows, empty ones at the end."""
        if rows > self.rows:
            self._grow(rows, 0)

    def expire(self, now: float) -> None:
        """Refuse the rows whose agents have been silent for too long by now."""
        if now <= self._next_expiry:
            return
        for row in [row for row, until in self._good_until.items() if until < now]:
            del self._good_until[row]
            self.refusal[row] = REASON_CODES[Reason.HEARTBEAT_TIMEOUT]
            self._touch(row)
        self._next_expiry = min(self._good_until.values(), default=_NEVER)

    def drop_node(self, row: int) -> None:
        """Empty the row, books and all: another node may have it."""
        if row >= self.rows:
            return
        self._forget_cards(row)
        self.charged[row] = {}
        self._touch(row)

    def part(self, rows: Sequence[int] | Ints) -> "CardTable":
        """A copy of some rows, numbered from 0, to ask what would be if."""
        taken = np.asarray(rows, np.int64)
        if len(taken):
            self.reserve(int(taken.max()) + 1)
        other = CardTable(self.memory_unit)
        for name in _COLUMNS:
            setattr(other, name, getattr(self, name)[taken])
        other.generations, other.refusal = self.generations[taken], self.refusal[taken]
        other.links = None if self.links is None else self.links[taken]
        other.version, other.rows, other.places = self.version, len(taken), self.places
        other.kinds, other._kind_codes = list(self.kinds), dict(self._kind_codes)
        other.profile_sets = list(self.profile_sets)
        other._profile_codes = dict(self._profile_codes)
        for row in taken.tolist():
            other.nodes.append(self.nodes[row])
            other.components.append(self.components[row])
            other.charged.append({i: each.copy() for i, each in self.charged[row].items()})
            other._place_of.append(self._place_of[row])
        return other

    def refusal_of(self, row: int) -> Reason | None:
        """Why none of the row's cards can be had; None if they can."""
        if row >= self.rows:
            return Reason.NO_CARDS
        code = int(self.refusal[row])
        return None if code < 0 else REASONS[code]

    # --- pods ---------------------------------------------------------------------------------

    def charge(self, row: int, uses: Mapping[int, CardUse]) -> tuple[int, ...]:
        """Count what a pod takes. Answers the indexes that are of no card of the node now."""
        self._grow(row + 1, 0)
        books = self.charged[row]
        for index, use in uses.items():
            if index >= 0:
                books.setdefault(index, Charged()).add(use, 1)
                self._write_use(row, index)
        self._touch(row)
        places = self._place_of[row]
        return tuple(index for index in uses if index not in places)

    def discharge(self, row: int, uses: Mapping[int, CardUse]) -> tuple[int, ...]:
        """Take back what was charged. Answers the indexes on which nothing is."""
        if row >= self.rows:
            return tuple(uses)
        books = self.charged[row]
        unknown = []
        for index, use in uses.items():
            charged = books.get(index)
            if charged is None:
                unknown.append(index)
                continue
            charged.add(use, -1)
            self._write_use(row, index)
            if not (charged.cores or charged.memory or charged.slots or charged.slices):
                del books[index]
        self._touch(row)
        return tuple(unknown)

    # --- who matches --------------------------------------------------------------------------

    def matching_kinds(self, selector: CardSelector) -> Bools | None:
        """Which of `kinds` a selector lets through; None if all."""
        if not selector.by_kind():
            return None
        key = (selector.models, selector.not_models, selector.modes)
        known = self._matching.get(key)
        if known is None or len(known) < len(self.kinds):
            if len(self._matching) >= 256:
                self._matching.clear()
            known = np.fromiter((_matches(selector, *kind) for kind in self.kinds), np.bool_)
            self._matching[key] = known
        return known

    def with_uuids(self, uuids: Iterable[str]) -> Bools:
        """Which cards of all have one of these, over (row, place)."""
        if self._places_of_uuid is None:
            self._places_of_uuid = {}
            for row, node in enumerate(self.nodes):
                for place, card in enumerate(node.cards):
                    self._places_of_uuid.setdefault(card.uuid, []).append((row, place))
        mask = np.zeros((self.rows, self.places), np.bool_)
        for uuid in uuids:
            for at in self._places_of_uuid.get(uuid, ()):
                mask[at] = True
        return mask

    # --- columns ------------------------------------------------------------------------------

    def _put_cards(self, row: int, cards: Sequence[Card]) -> None:
        count = len(cards)
        self._place_of[row] = {card.index: place for place, card in enumerate(cards)}
        self.exists[row, :count] = True
        self.healthy[row, :count] = [card.healthy for card in cards]
        self.cordoned[row, :count] = [card.cordoned for card in cards]
        self.cores[row, :count] = [card.cores for card in cards]
        self.memory[row, :count] = [card.memory for card in cards]
        self.slots[row, :count] = [card.slots for card in cards]
        self.numa[row, :count] = [card.numa for card in cards]
        self.kind[row, :count] = [self.kind_code(card) for card in cards]
        self.profiles[row, :count] = [self._profile_code(card.profiles) for card in cards]
        self.components[row] = (UNLINKED,) * count
        if any(card.links for card in cards):
            if self.links is None:
                self.links = np.zeros((len(self.cores), self.places, self.places), np.int64)
            matrix = link_matrix(cards)
            self.links[row, :count, :count] = matrix
            self.components[row] = link_components(matrix)
            self.component[row, :count] = self.components[row]

    def kind_code(self, card: Card) -> int:
        """The number of its model and mode among `kinds`, given to them when they are new."""
        kind = (card.model, card.mode)
        code = self._kind_codes.setdefault(kind, len(self.kinds))
        if code == len(self.kinds):
            self.kinds.append(kind)
        return code

    def _profile_code(self, profiles: tuple[MigProfile, ...]) -> int:
        if not profiles:
            return _NO_PROFILES
        code = self._profile_codes.setdefault(profiles, len(self.profile_sets))
        if code == len(self.profile_sets):
            self.profile_sets.append(profiles)
        return code

    def _forget_cards(self, row: int) -> None:
        for name in _COLUMNS:
            getattr(self, name)[row] = _EMPTY.get(name, 0)
        if self.links is not None:
            self.links[row] = 0
        self.nodes[row] = NO_CARDS
        self.refusal[row] = REASON_CODES[Reason.NO_CARDS]
        self.components[row] = ()
        self._place_of[row] = {}
        self._good_until.pop(row, None)
        self._places_of_uuid = None

    def _write_use(self, row: int, index: int) -> None:
        place = self._place_of[row].get(index)
        if place is None:
            return
        charged = self.charged[row][index]
        # Whatever stands on pods: a card that is full many times over is full.
        self.used_cores[row, place] = min(charged.cores, MAX_CORES)
        self.used_memory[row, place] = min(charged.memory, MAX_MEMORY)
        self.used_slots[row, place] = min(charged.slots, UNLIMITED)
        self.used_slices[row, place] = charged.slices & _ALL_SLICES

    def _touch(self, row: int) -> None:
        self.version += 1
        self.generations[row] = self.version

    def _grow(self, rows: int, places: int) -> None:
        for row in range(self.rows, rows):
            self.nodes.append(NO_CARDS)
            self.charged.append({})
            self.components.append(())
            self._place_of.append({})
            self.rows = row + 1
        capacity, width = self.cores.shape
        if rows <= capacity and places <= width:
            return
        shape = (capacity if rows <= capacity else max(rows, 2 * capacity), max(places, width))
        for name in _COLUMNS:
            column = getattr(self, name)
            setattr(self, name, enlarge(column, shape, _EMPTY.get(name, 0)))
        if self.links is not None:
            self.links = enlarge(self.links, (*shape, shape[1]), 0)
        self.generations = enlarge(self.generations, shape[:1], 0)
        self.refusal = enlarge(self.refusal, shape[:1], REASON_CODES[Reason.NO_CARDS])
        self.places = shape[1]


def _matches(selector: CardSelector, model: str, mode: str) -> bool:
    if selector.modes and mode not in selector.modes:
        return False
    name = model.lower()
    if any(part.lower() in name for part in selector.not_models):
        return False
    return not selector.models or any(part.lower() in name for part in selector.models)

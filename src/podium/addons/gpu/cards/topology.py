"""How the cards of one container lie to each other: on one NUMA node, or linked well.

NUMA: of the NUMA nodes with enough cards that match, the one whose cards are complete first in the
order of cards. Links: of one card, the one that is connected worst with the others that match, so
that well connected ones stay together; of several, the combination with the largest total over its
pairs, and of equal ones the first in the order of cards. Strictly linked cards lie in one component
of the node's NVLinks: ways over PCI lead everywhere.

All combinations are looked at up to MAX_COMBINED cards that match. Beyond, cards are added one by
one to the best pair, each time the one with the most links to those already taken.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np

from podium.addons.gpu.cards.card import MAX_LINK, NVLINK, Card
from podium.addons.gpu.cards.columns import Bools, Ints

UNLINKED: Final = -1
MAX_COMBINED: Final = 16
_MAX_CELLS: Final = 1 << 14
"""Sums over combinations at one time, so few that they stay in the processor's cache."""
_OTHER_COMPONENT: Final = -(1 << 40)


def link_matrix(cards: Sequence[Card]) -> Ints:
    """How well each two of the cards are connected: the better of what either says."""
    matrix = np.array(
        [[_link(card, peer) for peer in cards] for card in cards],
        np.int64,
    )
    np.fill_diagonal(matrix, 0)
    best: Ints = np.maximum(matrix, matrix.T)
    return best


def _link(card: Card, peer: Card) -> int:
    there = card.links[peer.index] if peer.index < len(card.links) else 0
    return max(0, min(there, MAX_LINK))


def link_components(matrix: Ints) -> tuple[int, ...]:
    """The same number for cards between which NVLinks lead; -1 for a card without any."""
    numbers = [UNLINKED] * len(matrix)
    peers = [
        [other for other, link in enumerate(line) if link >= NVLINK] for line in matrix.tolist()
    ]
    for start in range(len(peers)):
        todo = [start] if numbers[start] == UNLINKED and peers[start] else []
        while todo:
            place = todo.pop()
            if numbers[place] == UNLINKED:
                numbers[place] = start
                todo.extend(peers[place])
    return tuple(numbers)


# --- one node: places in the order of cards go in --------------------------------------------


def first_group(ordered: Sequence[int], groups: Sequence[int], count: int) -> list[int] | None:
    """The first `count` places of one group, in the group that has so many first."""
    members: dict[int, list[int]] = {}
    for place in ordered:
        group = groups[place]
        if group >= 0:
            group_places = members.setdefault(group, [])
            group_places.append(place)
            if len(group_places) == count:
                return group_places
    return None


def best_linked_of_node(
    ordered: Sequence[int], links: Ints, components: Sequence[int] | None, count: int
) -> list[int]:
    """The places to take; with components only of one of them, which has to have so many."""
    matrix = links[np.ix_(ordered, ordered)]
    if components is not None:
        numbers = np.array([components[place] for place in ordered], np.int64)
        matrix = np.where(numbers[:, None] == numbers[None, :], matrix, _OTHER_COMPONENT)
    if count == 1:
        return [ordered[int(np.maximum(matrix, 0).sum(axis=1).argmin())]]
    if len(ordered) > MAX_COMBINED:
        positions = _greedily(matrix, count)
    else:
        found = best_linked(matrix[None], np.array([len(ordered)], np.int64), count)
        positions = [int(position) for position in found[0]]
    return [ordered[position] for position in positions]


def _greedily(matrix: Ints, count: int) -> list[int]:
    size = len(matrix)
    if (matrix < 0).any():
        # Within one component: the best of what each that is large enough gives.
        tries = []
        for start in range(size):
            members = np.flatnonzero(matrix[start] >= 0)
            if members[0] == start and len(members) >= count:
                inner = _greedily(matrix[np.ix_(members, members)], count)
                tries.append([int(members[position]) for position in inner])
        return max(tries, key=lambda taken: int(matrix[np.ix_(taken, taken)].sum()))
    upper = np.where(np.triu(np.ones((size, size), np.bool_), 1), matrix, -1)
    first, second = divmod(int(upper.argmax()), size)
    taken = [first, second]
    while len(taken) < count:
        totals = matrix[:, taken].sum(axis=1)
        totals[taken] = -1
        taken.append(int(totals.argmax()))
    return sorted(taken)


# --- many nodes -------------------------------------------------------------------------------


def any_group_has(groups: Ints, eligible: Bools, count: int) -> Bools:
    """Which rows have `count` eligible cards of one group."""
    enough = np.zeros(len(groups), np.bool_)
    for group in present_groups(groups):
        enough |= ((groups == group) & eligible).sum(axis=1) >= count
    return enough


def take_first_groups(order: Ints, groups: Ints, eligible: Bools, count: int) -> Bools:
    """`first_group` for each row, as a mask over places; nothing where no group has enough."""
    sorted_groups = np.take_along_axis(np.where(eligible, groups, -1), order, axis=1)
    earliest = np.full(len(groups), groups.shape[1], np.int64)
    picked = np.zeros(groups.shape, np.bool_)
    for group in present_groups(groups):
        members = sorted_groups == group
        so_far = members.cumsum(axis=1)
        complete = (so_far >= count).argmax(axis=1)
        better = (so_far[:, -1] >= count) & (complete < earliest)
        earliest = np.where(better, complete, earliest)
        picked = np.where(better[:, None], members & (so_far <= count), picked)
    taken = np.zeros(groups.shape, np.bool_)
    np.put_along_axis(taken, order, picked, axis=1)
    return taken


def take_best_linked(
    order: Ints, links: Ints, components: Ints | None, eligible: Bools, count: int
) -> Bools:
    """`best_linked_of_node` of several cards for each row that has so many, as a mask."""
    rows = np.flatnonzero(eligible.sum(axis=1) >= count)
    taken = np.zeros(eligible.shape, np.bool_)
    if not len(rows):
        return taken
    places = order.shape[1]
    flat = links.reshape(len(links), -1)
    chunk = max(1, _MAX_CELLS // max(1, len(_combinations(places, count))))
    for start in range(0, len(rows), chunk):
        part = rows[start : start + chunk]
        ranks = order[part]
        pairs = (ranks[:, :, None] * places + ranks[:, None, :]).reshape(len(part), -1)
        matrix = flat.take(pairs + (part * places**2)[:, None]).reshape(-1, places, places)
        if components is not None:
            numbers = np.take_along_axis(components[part], ranks, axis=1)
            matrix[numbers[:, :, None] != numbers[:, None, :]] = _OTHER_COMPONENT
        positions = best_linked(matrix, eligible[part].sum(axis=1), count)
        taken[part[:, None], np.take_along_axis(ranks, positions, axis=1)] = True
    return taken


def best_linked(links: Ints, eligible: Ints, count: int) -> Ints:
    """Positions of the best combination of each row. Cards stand in their order on both axes of
    `links`, the `eligible` ones of each row before all others."""
    places = links.shape[1]
    choices = _combinations(places, count)
    # Rows lie on the last axis, where numpy adds them without jumps.
    pairs = np.ascontiguousarray(links.reshape(len(links), -1).T)
    totals = np.zeros((len(choices), len(links)), np.int64)
    for one, other in combinations(range(count), 2):
        totals += pairs[choices[:, one] * places + choices[:, other]]
    totals[choices[:, -1, None] >= eligible] = np.iinfo(np.int64).min
    best: Ints = choices[totals.argmax(axis=0)]
    return best


@lru_cache(maxsize=64)
def _combinations(places: int, count: int) -> Ints:
    """In the order of cards, so that of equal totals the first is the first in order."""
    return np.array(list(combinations(range(places), count)), np.int64).reshape(-1, count)


def present_groups(groups: Ints) -> list[int]:
    """The groups that occur; cards of none have -1."""
    # Quicker than np.unique: groups are few and small.
    present = np.bincount((groups + 1).clip(min=0).ravel())[1:]
    return [int(group) for group in np.flatnonzero(present)]

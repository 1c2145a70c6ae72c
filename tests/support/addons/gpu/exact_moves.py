"""The fewest moves there can be, proven by an exact solver: what plans are measured by.

Pods with a share of one card each may lie on any card that has room for them; how the scheduler
chooses among these is left open, so no scheduler can do with less.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import highspy

Place = tuple[str, int]
"""A node and the index of a card."""


class Share(NamedTuple):
    """A pod's share, and where it is now."""

    cores: int
    memory: int
    place: Place


class Fleet(NamedTuple):
    """Cards of 100 cores with their memory, and the shares of them by the names of pods."""

    cards: Mapping[Place, int]
    shares: Mapping[str, Share]

    @property
    def idle(self) -> int:
        used = {share.place for share in self.shares.values()}
        return sum(place not in used for place in self.cards)


def min_moves_to_idle(fleet: Fleet, wanted: int) -> int | None:
    """The fewest moves after which so many cards are idle; None if there are none."""
    solver, idle, moved = _model(fleet)
    solver.addConstr(solver.qsum(idle.values()) >= wanted)
    return _solve(solver, moved)


def min_moves_to_place(fleet: Fleet, cards: int) -> int | None:
    """The fewest after which one node has so many idle cards."""
    solver, idle, moved = _model(fleet)
    chosen = {name: solver.addBinary() for name in {name for name, _ in fleet.cards}}
    solver.addConstr(sum(chosen.values()) == 1)
    for name, is_chosen in chosen.items():
        here = [idle[place] for place in fleet.cards if place[0] == name]
        solver.addConstr(sum(here) - cards * is_chosen >= 0)
    return _solve(solver, moved)


def _model(fleet: Fleet) -> tuple[highspy.Highs, dict[Place, Any], Any]:
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    idle = {place: solver.addBinary() for place in fleet.cards}
    lies = {(name, place): solver.addBinary() for name in fleet.shares for place in fleet.cards}
    for name in fleet.shares:
        solver.addConstr(sum(lies[name, place] for place in fleet.cards) == 1)
    for place, memory in fleet.cards.items():
        if fleet.shares:
            here = [(share, lies[name, place]) for name, share in fleet.shares.items()]
            solver.addConstr(sum(share.cores * x for share, x in here) <= 100)
            solver.addConstr(sum(share.memory * x for share, x in here) <= memory)
        for name in fleet.shares:
            solver.addConstr(lies[name, place] + idle[place] <= 1)
    stays = [lies[name, share.place] for name, share in fleet.shares.items()]
    return solver, idle, len(stays) - sum(stays)


def _solve(solver: highspy.Highs, moved: Any) -> int | None:
    solver.minimize(moved)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return round(solver.getObjectiveValue())

"""Pods put on given nodes through the scheduler's own filters, one after the other.

A placement that a solver has found is real only if the scheduler lets every pod of it in when its
turn comes. Some pods have to come before others, so an order is searched for: pods of spread
constraints lowest domain first, whoever only counts there last, and back a step where nobody fits.
Contract: the engine belongs to whoever asks; what is placed stays there.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from podium.offline.optimum.placement_problem import Assignment, PlacementProblem
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.reservations import Reservations
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Code

TRIES_PER_POD: Final = 50
MIN_TRIES: Final = 5_000
"""How many times pods are tried in search of an order, at least."""

Place = tuple[int, int]
"""A kind of pods and a node."""


@dataclass(slots=True)
class OrderFound:
    """`order` is the longest sequence of places that the scheduler takes; `is_whole` says that all
    pods are in it, `is_final` that there is no longer one."""

    order: list[Place] = field(default_factory=list)
    is_whole: bool = False
    is_final: bool = True
    refusal: str = ""
    waits: set[str] = field(default_factory=set)
    """Plugins that let pods in and have them wait."""


class ForcedPlacement:
    def __init__(self, engine: Engine, problem: PlacementProblem) -> None:
        self._engine = engine
        self._problem = problem
        self._reservations = Reservations(engine.cluster)
        self._held: list[tuple[Cycle, Profile, str]] = []
        self._levels = _Levels(problem)
        self.waits: set[str] = set()

    def find_order(self, pods: Sequence[Sequence[PodInfo]], wanted: Assignment) -> OrderFound:
        """Place pods of each kind as wanted, in whichever order works; they are all taken back."""
        left = Counter({place: count for place, count in wanted.items() if count})
        queues = [list(reversed(infos)) for infos in pods]
        tries = max(MIN_TRIES, TRIES_PER_POD * left.total())
        best = OrderFound()
        order: list[Place] = []
        dead: set[frozenset[tuple[Place, int]]] = set()
        options = [self._candidates(left)]
        while left.total() and tries > 0:
            place = next(options[-1], None)
            if place is None:
                if not order:
                    break
                dead.add(frozenset(left.items()))
                self._step_back(order.pop(), left, queues)
                options.pop()
                continue
            tries -= 1
            kind, node = place
            refusal = self.place(queues[kind][-1], self._problem.nodes[node])
            if refusal:
                best.refusal = best.refusal or refusal
                continue
            queues[kind].pop()
            self._go(place, left)
            order.append(place)
            if frozenset(left.items()) in dead:
                self._step_back(order.pop(), left, queues)
                continue
            if len(order) > len(best.order):
                best.order = list(order)
            options.append(self._candidates(left))
        best.is_whole = not left.total()
        best.is_final = best.is_whole or tries > 0
        best.waits = set(self.waits)
        while self._held:
            self.take_back()
        self._levels.forget()
        return best

    def place(self, info: PodInfo, node: str) -> str:
        """Put a pod on a node as if the scheduler had chosen it; why not, or "" if that went."""
        engine = self._engine
        profile = engine.profile_of(info.pod)
        cycle = Cycle(info, engine.cluster)
        outcome = profile.run_pre_filters(cycle)
        if outcome.status is not None:
            return outcome.status.message
        if outcome.nodes is not None and node not in outcome.nodes:
            return f"{', '.join(sorted(outcome.narrowed_by))} does not allow the node"
        row = engine.cluster.nodes.row(node)
        result = profile.filter_rows(cycle, np.array([row], dtype=np.intp))
        if not result.mask_passed()[0]:
            return result.groups()[0][0].message
        decision = Decision(info, profile.name, ())
        status = self._reservations.assume_and_reserve(decision, cycle, profile, node)
        if status is not None and status.code is not Code.WAIT:
            return decision.message or status.message
        self.waits |= decision.waits_s.keys()
        self._held.append((cycle, profile, node))
        return ""

    def take_back(self) -> None:
        """Undo the last placement."""
        self._reservations.unreserve_and_forget(*self._held.pop())

    def _go(self, place: Place, left: Counter[Place]) -> None:
        left[place] -= 1
        if not left[place]:
            del left[place]
        self._levels.shift(place, 1)

    def _step_back(self, place: Place, left: Counter[Place], queues: list[list[PodInfo]]) -> None:
        self._levels.shift(place, -1)
        left[place] += 1
        cycle, _, _ = self._held[-1]
        queues[place[0]].append(cycle.pod)
        self.take_back()

    def _candidates(self, left: Mapping[Place, int]) -> Iterator[Place]:
        return iter(sorted(left, key=self._levels.rank))


class _Levels:
    """How full the domains of spread constraints are, for who is to come first."""

    def __init__(self, problem: PlacementProblem) -> None:
        self._spreads = problem.spreads
        self._slot_of: list[dict[int, int]] = []
        self._start: list[list[int]] = []
        for spread in problem.spreads:
            slots: dict[int, int] = {}
            for slot, domain in enumerate(spread.domains):
                slots |= dict.fromkeys(domain.nodes, slot)
            self._slot_of.append(slots)
            self._start.append([domain.count for domain in spread.domains])
        self._counts = [list(counts) for counts in self._start]
        self._attracted = {
            kind for each in problem.attractions for kind in each.carriers if not each.begins
        }

    def forget(self) -> None:
        self._counts = [list(counts) for counts in self._start]

    def shift(self, place: Place, delta: int) -> None:
        kind, node = place
        for spread, slots, counts in zip(self._spreads, self._slot_of, self._counts, strict=True):
            if kind in spread.matched and node in slots:
                counts[slots[node]] += delta

    def rank(self, place: Place) -> tuple[int, int, int, int]:
        kind, node = place
        level, counts_only = 0, 0
        for spread, slots, counts in zip(self._spreads, self._slot_of, self._counts, strict=True):
            if kind in spread.carriers:
                level = max(level, counts[slots[node]] if node in slots else 0)
            elif kind in spread.matched:
                counts_only = 1
        return counts_only + (kind in self._attracted), level, kind, node

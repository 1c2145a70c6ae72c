"""A placement problem as an integer program: a variable for the pods of each kind on each node.

Contract: every placement that the scheduler can come to satisfies all rows, so that what the solver
proves of the program holds of the scheduler. The reverse is not promised where pods depend on the
order of others; such answers are checked by whoever asks, and refused ones can be `forbid`den.

Spread constraints hold of the final placement in this form: carriers of a domain that got some,
with those that were there, are no more than max_skew ahead of the emptiest domain. Pods that come
lowest domain first, carriers before others, never break it on the way; and whichever order is
taken, the last carrier of a domain proves it.

Who comes first where kinds of pods wait for each other: rows that rule circles out. If a may only
go where b is and b only where a is, neither can be the first. Counts of the final placement do not
show that, so each kind on each node gets a moment of its first pod, and a carrier has a witness: a
matched pod of its domain with an earlier moment. These rows are many and are written only where
kinds wait for each other in a circle.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import fsum, gcd
from typing import Final

from podium.offline.optimum.integer_program import Expression, IntegerProgram, add_up
from podium.offline.optimum.placement_problem import (
    Assignment,
    Attraction,
    Domain,
    EqualPodDemand,
    Exclusion,
    PlacementProblem,
    Spread,
)

_MAX_FACTOR = 1e6
"""Larger numbers in one row make the solver's arithmetic inexact."""


class PlacementProgram:
    def __init__(self, problem: PlacementProblem, *, is_order_free: bool = False) -> None:
        """With `is_order_free` rows are left out that pods on their way may break: those that
        speak of pods which have to come before others."""
        self.problem = problem
        self.program = IntegerProgram()
        self._pods: dict[tuple[int, int], int] = {}
        self._arrivals: dict[tuple[int, int], int] = {}
        self._add_pods()
        self._add_resources()
        self._present = cache(self._indicate_present)
        self._arriving = cache(self._indicate_arriving)
        for exclusion in problem.exclusions:
            self._add_exclusion(exclusion)
        if not is_order_free:
            for attraction in problem.attractions:
                self._add_attraction(attraction)
            for spread in problem.spreads:
                self._add_spread(spread)
            if self._all_wait(range(len(problem.kinds))) and is_circular(problem.attractions):
                order_attractions(
                    self.program, problem.kinds, dict(self._pods), problem.attractions
                )

    # sums for objectives

    def sum_placed(self, kinds: Iterable[int] | None = None) -> Expression:
        """Pods that have a node."""
        chosen = range(len(self.problem.kinds)) if kinds is None else set(kinds)
        return {at: 1.0 for (kind, _), at in self._pods.items() if kind in chosen}

    def sum_weighted(self, weights: Mapping[int, float]) -> Expression:
        """Pods that have a node, each as much as its kind weighs."""
        return {at: weights.get(kind, 0.0) for (kind, _), at in self._pods.items()}

    def on_node(self, node: int) -> Expression:
        return {at: 1.0 for (_, where), at in self._pods.items() if where == node}

    def sum_requested(self, nodes: Iterable[int], resource: str) -> dict[int, float]:
        """What pods of the problem ask for on some nodes."""
        chosen, kinds = set(nodes), self.problem.kinds
        return {
            at: float(kinds[kind].demands.get(resource, 0))
            for (kind, node), at in self._pods.items()
            if node in chosen
        }

    def moves(self) -> Expression:
        """Pods that are taken from the node that they have."""
        return {
            at: 1.0
            for (kind, _), at in self._arrivals.items()
            if not self.problem.kinds[kind].is_waiting
        }

    def indicate_used(self, nodes: Iterable[int]) -> dict[int, int]:
        """For each node a variable that is 1 where a pod of the problem is."""
        found = {}
        for node in nodes:
            here = self.on_node(node)
            if here:
                found[node] = self.program.indicate(here)
        return found

    def assignment(self, values: tuple[float, ...]) -> Assignment:
        return {place: round(values[at]) for place, at in self._pods.items() if values[at] > 0.5}

    def variables(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], int]]:
        """The places that pods can have at all, each with its variable."""
        return ((place, self._pods[place]) for place in places if place in self._pods)

    def start_from(self, assignment: Assignment) -> Expression:
        """A placement that is known, for the solver to begin with."""
        return {at: float(assignment.get(place, 0)) for place, at in self._pods.items()}

    def forbid(self, assignment: Assignment) -> None:
        """From now on, another placement than this one."""
        differs: list[tuple[int, float]] = []
        program = self.program
        for place, at in self._pods.items():
            taken, most = assignment.get(place, 0), program.upper[at]
            if taken < most:
                above = program.add_variable(1)
                program.add_row({at: 1.0, above: -(taken + 1.0)}, at_least=0)
                differs.append((above, 1.0))
            if taken > 0:
                below = program.add_variable(1)
                program.add_row({at: 1.0, below: most - taken + 1.0}, at_most=most)
                differs.append((below, 1.0))
        program.add_row(add_up(differs), at_least=1)

    # rows

    def _add_pods(self) -> None:
        for number, kind in enumerate(self.problem.kinds):
            for node in sorted({*kind.fits, *kind.held}):
                there = kind.held.get(node, 0)
                most = kind.count if node in kind.fits else there
                at = self._pods[number, node] = self.program.add_variable(most)
                if kind.is_waiting:
                    self._arrivals[number, node] = at
                elif node in kind.fits:
                    coming = self.program.add_variable(most)
                    self._arrivals[number, node] = coming
                    self.program.add_row({at: 1.0, coming: -1.0}, at_most=there)
            everywhere = self.sum_placed([number])
            if everywhere:
                least = 0 if kind.is_waiting else kind.count
                self.program.add_row(everywhere, at_least=least, at_most=kind.count)

    def _add_resources(self) -> None:
        kinds = self.problem.kinds
        by_node: dict[int, list[tuple[int, int]]] = {}
        for (kind, node), at in self._pods.items():
            by_node.setdefault(node, []).append((kind, at))
        for node, here in by_node.items():
            for resource, free in self.problem.free[node].items():
                asks = {at: kinds[kind].demands.get(resource, 0) for kind, at in here}
                asks = {at: amount for at, amount in asks.items() if amount > 0}
                held = sum(
                    kinds[kind].held.get(node, 0) * kinds[kind].demands.get(resource, 0)
                    for kind, _ in here
                )
                if asks:
                    self._add_capacity(asks, max(free, held, 0))

    def _add_capacity(self, asks: Mapping[int, int], free: int) -> None:
        if fsum(amount * self.program.upper[at] for at, amount in asks.items()) <= free:
            return
        unit = float(gcd(*asks.values()))
        if max(free, *asks.values()) / unit > _MAX_FACTOR:
            self.program.add_row(
                {at: amount / max(free, 1) for at, amount in asks.items()},
                at_most=free / max(free, 1),
            )
            return
        self.program.add_row(
            {at: amount / unit for at, amount in asks.items()}, at_most=free // unit
        )

    def _sum(
        self, variables: Mapping[tuple[int, int], int], kinds: Iterable[int], nodes: Domain
    ) -> dict[int, float]:
        return {
            variables[kind, node]: 1.0
            for kind in kinds
            for node in nodes
            if (kind, node) in variables
        }

    def _indicate_present(self, kind: int, nodes: Domain) -> int | None:
        here = self._sum(self._pods, (kind,), nodes)
        return self.program.indicate(here) if here else None

    def _indicate_arriving(self, kind: int, nodes: Domain) -> int | None:
        if self.problem.kinds[kind].is_waiting:
            return self._present(kind, nodes)
        here = self._sum(self._arrivals, (kind,), nodes)
        return self.program.indicate(here) if here else None

    def _add_exclusion(self, exclusion: Exclusion) -> None:
        both = [kind for kind in exclusion.carriers if kind in exclusion.meant]
        pairs = {
            (one, other) for one in exclusion.carriers for other in exclusion.meant if one != other
        }
        pairs = {(min(pair), max(pair)) for pair in pairs}
        for nodes in exclusion.domains:
            if self._all_wait(both):
                alone = self._sum(self._pods, both, nodes)
                if alone:
                    self.program.add_row(alone, at_most=1)
            else:
                for kind in both:
                    held = self.problem.kinds[kind].held
                    there = sum(held.get(node, 0) for node in nodes)
                    here = self._sum(self._pods, (kind,), nodes)
                    if here:
                        self.program.add_row(here, at_most=max(1, there))
            for one, other in sorted(pairs):
                self._keep_apart(one, other, nodes)
                if not self._all_wait((one, other)):
                    self._keep_apart(other, one, nodes)

    def _all_wait(self, kinds: Iterable[int]) -> bool:
        return all(self.problem.kinds[kind].is_waiting for kind in kinds)

    def _keep_apart(self, coming: int, there: int, nodes: Domain) -> None:
        """A pod of the first kind does not come to a domain where the other is in the end."""
        arriving, present = self._arriving(coming, nodes), self._present(there, nodes)
        if arriving is not None and present is not None:
            self.program.add_row({arriving: 1.0, present: 1.0}, at_most=1)

    def _add_attraction(self, attraction: Attraction) -> None:
        carriers = attraction.carriers
        others = [kind for kind in attraction.matched if kind not in carriers]
        first: dict[int, int] = {}
        if attraction.begins:
            nodes = {node for kind in carriers for node in self.problem.kinds[kind].fits}
            first = {node: self.program.add_variable(1) for node in sorted(nodes)}
            if first:
                self.program.add_row(dict.fromkeys(first.values(), 1.0), at_most=1)
        for domains in attraction.lacking:
            for nodes_of_domain in domains:
                coming = self._sum(self._arrivals, carriers, nodes_of_domain)
                if not coming:
                    continue
                most = self.program.highest(coming)
                helping = [
                    *self._sum(self._pods, others, nodes_of_domain),
                    *(first[node] for node in nodes_of_domain if node in first),
                    *self._find_staying(attraction, nodes_of_domain),
                ]
                row = [*coming.items(), *((at, -most) for at in helping)]
                self.program.add_row(add_up(row), at_most=0)

    def _find_staying(self, attraction: Attraction, nodes: Domain) -> list[int]:
        """Carriers that match themselves and have a node in the domain already."""
        return [
            self._pods[kind, node]
            for kind in attraction.carriers
            if kind in attraction.matched
            for node in nodes
            if self.problem.kinds[kind].held.get(node, 0)
        ]

    def _add_spread(self, spread: Spread) -> None:
        program, kinds = self.program, self.problem.kinds
        emptiest = program.add_variable(
            sum(kind.count for kind in kinds)
            + max((each.count for each in spread.domains), default=0),
            whole=False,
        )
        if spread.needs_zero:
            program.upper[emptiest] = 0
        for domain in spread.domains:
            if domain.is_entry:
                here = self._sum(self._pods, spread.matched, domain.counted)
                program.add_row(
                    add_up([(emptiest, 1.0), *((at, -1.0) for at in here)]), at_most=domain.count
                )
        counting = [kind for kind in spread.carriers if kind in spread.matched]
        others = [kind for kind in spread.carriers if kind not in spread.matched]
        # Pods that have a node may leave: then all that is left in the end is what counts.
        if not self._all_wait(spread.matched):
            counting = list(spread.matched)
        for domain in spread.domains:
            self._limit_skew(spread, domain.nodes, domain.count, emptiest, counting, domain.counted)
            if others:
                self._limit_skew(spread, domain.nodes, domain.count, emptiest, others, ())

    def _limit_skew(
        self,
        spread: Spread,
        nodes: Domain,
        count: int,
        emptiest: int,
        carriers: list[int],
        counted: Domain,
    ) -> None:
        """Where carriers come, what counts is at most so far ahead."""
        coming = self._sum(self._arrivals, [k for k in carriers if k in spread.carriers], nodes)
        if not coming:
            return
        comes = self.program.indicate(coming)
        here = self._sum(self._pods, carriers, counted)
        excess = max(count + self.program.highest(here) - spread.max_skew, 0)
        row = [(at, 1.0) for at in here]
        row += [(emptiest, -1.0), (comes, excess)]
        self.program.add_row(add_up(row), at_most=spread.max_skew - count + excess)


MAX_WITNESSES: Final = 20_000
"""Pairs of places; with more the circle is not ruled out."""

Place = tuple[int, int]


def is_circular(attractions: Sequence[Attraction]) -> bool:
    """Whether some kind waits for itself by way of others."""
    waits_for: dict[int, set[int]] = {}
    for each in attractions:
        for kind in each.carriers:
            waits_for.setdefault(kind, set()).update(set(each.matched) - set(each.carriers))
    for kind in waits_for:
        reached: set[int] = set()
        ahead = [kind]
        while ahead:
            for other in waits_for.get(ahead.pop(), ()):
                if other == kind:
                    return True
                if other not in reached:
                    reached.add(other)
                    ahead.append(other)
    return False


def order_attractions(
    program: IntegerProgram,
    kinds: Sequence[EqualPodDemand],
    pods: Mapping[Place, int],
    attractions: Sequence[Attraction],
) -> None:
    """`pods` are the variables of the places that pods may have; no pod has one already."""
    if _count_witnesses(pods, attractions) > MAX_WITNESSES:
        return
    latest = float(sum(kind.count for kind in kinds))
    moments = {place: program.add_variable(latest, whole=False) for place in pods}
    present = {place: program.indicate({at: 1.0}) for place, at in pods.items()}
    for attraction in attractions:
        first: dict[Place, int] = {}
        if attraction.begins:
            first = {
                place: program.add_variable(1) for place in pods if place[0] in attraction.carriers
            }
            program.add_row(dict.fromkeys(first.values(), 1.0), at_most=1)
        for place, others in _pairs(pods, attraction):
            witnesses: list[int] = [first[place]] if place in first else []
            for other in others:
                witness = program.add_variable(1)
                witnesses.append(witness)
                program.add_row({witness: 1.0, pods[other]: -1.0}, at_most=0)
                later = [(moments[other], 1.0), (moments[place], -1.0), (witness, latest + 1)]
                program.add_row(add_up(later), at_most=latest)
            program.add_row(
                add_up([(present[place], 1.0), *((each, -1.0) for each in witnesses)]), at_most=0
            )


def _pairs(pods: Mapping[Place, int], attraction: Attraction) -> list[tuple[Place, list[Place]]]:
    """Every place of a carrier in a domain where nobody is yet, with the places that could help."""
    return [
        (
            (kind, node),
            [
                (other, near)
                for other in attraction.matched
                for near in domain
                if (other, near) in pods and (other, near) != (kind, node)
            ],
        )
        for domains in attraction.lacking
        for domain in domains
        for kind in attraction.carriers
        for node in domain
        if (kind, node) in pods
    ]


def _count_witnesses(pods: Mapping[Place, int], attractions: Sequence[Attraction]) -> int:
    return sum(len(others) for each in attractions for _, others in _pairs(pods, each))

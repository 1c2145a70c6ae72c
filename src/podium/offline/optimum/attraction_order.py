"""Who comes first where kinds of pods wait for each other: rows that rule circles out.

If a may only go where b is and b only where a is, neither can be the first. Counts of the final
placement do not show that, so each kind on each node gets a moment of its first pod, and a carrier
has a witness: a matched pod of its domain with an earlier moment. These rows are many and are
written only where kinds wait for each other in a circle.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from podium.offline.optimum.integer_program import IntegerProgram, add_up
from podium.offline.optimum.placement_problem import Attraction, PodKind

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
    kinds: Sequence[PodKind],
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

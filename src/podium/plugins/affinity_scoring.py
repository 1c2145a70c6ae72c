"""Preferred affinity: what pods nearby are worth to a pod, and what it is worth to them.

Every match of a term with a pod on a node adds the term's weight to all nodes of that topology
domain, or subtracts it for anti-affinity. The pod's own preferred terms count, those of pods on
nodes that mean this pod, and their required affinity with a weight that is configured
(`interpodaffinity/scoring.go`).

Worked example: +7 in domain s0, +5 in s1, -4 in s2 and nothing in s3 is normalised over the range
of 11 to 100, 81, 0 and 36.
"""

from collections.abc import Iterator

import numpy as np

from podium.cluster.growth import Ints, Rows
from podium.cluster.pod_classes import TermKind
from podium.framework.cycle import Cycle
from podium.framework.scoring import MAX_SCORE
from podium.plugins.affinity_terms import CarriedTerms, TermQueries
from podium.plugins.topology_domains import Topologies, Topology

Contribution = tuple[str, int, Ints]
"""Topology key, weight, and matching pods per row."""

_SIGNS: tuple[tuple[TermKind, int], ...] = (("preferred_affinity", 1), ("preferred_anti", -1))


class AffinityScoreState:
    """The worth of each domain, for every topology key that has any."""

    def __init__(self, worths: list[tuple[Topology, Ints]]) -> None:
        self._worths = worths

    def raw(self, rows: Rows) -> Ints:
        topology, worth = self._worths[0]
        scores = worth[topology.slots[rows]]
        for topology, worth in self._worths[1:]:
            scores += worth[topology.slots[rows]]
        return scores


def normalize(scores: Ints) -> Ints:
    """Stretch over 0..100.

    upstream: the division comes first, so that 29 of 100 is 28.999... and gives 28.
    """
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return np.zeros_like(scores)
    return (MAX_SCORE * ((scores - lowest) / float(highest - lowest))).astype(np.int64)


def weigh_domains(
    cycle: Cycle,
    topologies: Topologies,
    queries: TermQueries,
    carried: CarriedTerms,
    *,
    hard_weight: int,
) -> AffinityScoreState | None:
    """Add up what all terms give; None if no term reaches any domain."""
    by_key: dict[str, list[tuple[int, Ints]]] = {}
    contributions = _contributions(cycle, queries, carried, hard_weight=hard_weight)
    for key, weight, per_row in contributions:
        by_key.setdefault(key, []).append((weight, per_row))
    worths = []
    for key, parts in by_key.items():
        topology = topologies.of(key)
        worth = topology.totals(_weighted_sum(parts))
        if worth.any() or _reaches(topology, parts):
            worths.append((topology, worth))
    return AffinityScoreState(worths) if worths else None


def _contributions(
    cycle: Cycle, queries: TermQueries, carried: CarriedTerms, *, hard_weight: int
) -> Iterator[Contribution]:
    shape, classes = cycle.pod.shape, cycle.cluster.classes
    terms = shape.affinity
    for sign, own in ((1, terms.preferred_affinity), (-1, terms.preferred_anti)):
        for weight, term in own:
            yield term.topology_key, sign * weight, classes.counts(queries.query(term))
    if hard_weight > 0:
        for required, counter in carried.matching("required_affinity", shape):
            if counter.total:
                yield required.term.topology_key, hard_weight, classes.column(counter)
    for kind, sign in _SIGNS:
        for preferred, counter in carried.matching(kind, shape):
            if counter.total:
                key, weight = preferred.term.topology_key, sign * preferred.weight
                yield key, weight, classes.column(counter)


def _weighted_sum(parts: list[tuple[int, Ints]]) -> Ints:
    weight, per_row = parts[0]
    total = per_row * weight
    for weight, per_row in parts[1:]:
        total += per_row * weight
    return total


def _reaches(topology: Topology, parts: list[tuple[int, Ints]]) -> bool:
    """Whether any matching pod is in a domain; weights that cancel out do not undo that."""
    return any(topology.totals(per_row).any() for _, per_row in parts)

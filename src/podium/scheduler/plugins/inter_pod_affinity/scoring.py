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

from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.cluster.pod_classes import PodCounter, PodQuery, PodWeights, TermKind
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.plugins.inter_pod_affinity.terms import (
    MAX_COUNTED_TERMS,
    CarriedTerms,
    TermQueries,
)
from podium.scheduler.plugins.topology.domain_sums import DomainSums
from podium.scheduler.plugins.topology.domains import Topologies, Topology

Contribution = tuple[str, int, PodCounter]
"""Topology key, weight, and what counts the matching pods."""

_SIGNS: tuple[tuple[TermKind, int], ...] = (("preferred_affinity", 1), ("preferred_anti", -1))


class _Worth:
    """What the domains of one topology are worth so far. It reaches somewhere once a matching pod
    is in a domain; weights that cancel out do not undo that."""

    __slots__ = ("reaches", "topology", "worth")

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.worth: Ints | None = None
        self.reaches = False

    def add(self, weight: int, totals: Ints) -> None:
        self.worth = totals * weight if self.worth is None else self.worth + totals * weight
        self.reaches = self.reaches or bool(totals.max(initial=0) > 0)


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
    stretched = np.subtract(scores, lowest, dtype=np.float64)
    stretched /= float(highest - lowest)
    stretched *= MAX_SCORE
    return stretched.astype(np.int64)


def weigh_domains(
    cycle: Cycle,
    topologies: Topologies,
    sums: DomainSums,
    queries: TermQueries,
    carried: CarriedTerms,
    *,
    hard_weight: int,
) -> AffinityScoreState | None:
    """Add up what all terms give; None if no term reaches any domain."""
    by_key: dict[str, _Worth] = {}
    for key, weight, totals in _own_sums(cycle, topologies, sums, queries):
        held = by_key.get(key)
        if held is None:
            held = by_key[key] = _Worth(topologies.of(key))
        held.add(weight, totals)
    contributions = _contributions(cycle, carried, hard_weight=hard_weight)
    for key, weight, counter in contributions:
        held = by_key.get(key)
        if held is None:
            held = by_key[key] = _Worth(topologies.of(key))
        held.add(weight, sums.of(counter, held.topology))
    worths = [
        (held.topology, held.worth)
        for held in by_key.values()
        if held.worth is not None and held.reaches
    ]
    return AffinityScoreState(worths) if worths else None


def _own_sums(
    cycle: Cycle, topologies: Topologies, sums: DomainSums, queries: TermQueries
) -> Iterator[tuple[str, int, Ints]]:
    """What the pod's own terms give: topology key, weight, and sums by domain."""
    classes, terms = cycle.cluster.classes, cycle.pod.shape.affinity
    own = [
        (term.topology_key, sign * weight, queries.query(term))
        for sign, group in ((1, terms.preferred_affinity), (-1, terms.preferred_anti))
        for weight, term in group
    ]
    if len(own) <= MAX_COUNTED_TERMS:
        for key, weight, query in own:
            yield key, weight, sums.of(classes.counter(query), topologies.of(key))
        return
    by_key: dict[str, list[tuple[int, PodQuery]]] = {}
    for key, weight, query in own:
        by_key.setdefault(key, []).append((weight, query))
    weights = PodWeights(classes.all())
    for key, weighted in by_key.items():
        topology = topologies.of(key)
        if not topology.domain_count:
            continue
        # Whether anybody is there at all is told apart from what they are worth together.
        present = weights.per_row([(1, query) for _, query in weighted], topologies.capacity)
        yield key, 0, topology.totals(present)
        yield key, 1, topology.totals(weights.per_row(weighted, topologies.capacity))


def _contributions(
    cycle: Cycle, carried: CarriedTerms, *, hard_weight: int
) -> Iterator[Contribution]:
    shape = cycle.pod.shape
    if hard_weight > 0:
        for required, counter in carried.matching("required_affinity", shape):
            if counter.total:
                yield required.term.topology_key, hard_weight, counter
    for kind, sign in _SIGNS:
        for preferred, counter in carried.matching(kind, shape):
            if counter.total:
                yield preferred.term.topology_key, sign * preferred.weight, counter

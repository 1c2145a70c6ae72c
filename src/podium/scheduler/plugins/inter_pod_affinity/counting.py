"""What affinity counts: pods in domains, for required terms a filter, for preferred ones a score.

Of required terms three counts decide, each per domain of a topology key: pods that match all of the
pod's affinity terms, pods that match one of its anti-affinity terms, and pods whose own
anti-affinity means this pod. Made from all nodes at PreFilter, they follow the pods that a trial
adds or removes. Terminating pods count like any other (`interpodaffinity/filtering.go`).

Preferred affinity: what pods nearby are worth to a pod, and what it is worth to them. Every match
of a term with a pod on a node adds the term's weight to all nodes of that topology domain, or
subtracts it for anti-affinity. The pod's own preferred terms count, those of pods on nodes that
mean this pod, and their required affinity with a weight that is configured
(`interpodaffinity/scoring.go`).

Worked example: +7 in domain s0, +5 in s1, -4 in s2 and nothing in s3 is normalised over the range
of 11 to 100, 81, 0 and 36.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.pod_classes import (
    PodClasses,
    PodCounter,
    PodQuery,
    PodWeights,
    TermKind,
)
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import unresolvable, unschedulable
from podium.scheduler.plugins.inter_pod_affinity.terms import (
    MAX_COUNTED_TERMS,
    CarriedTerms,
    TermQueries,
)
from podium.scheduler.plugins.topology import DomainCounts, DomainSums, Topologies, Topology

REASON_AFFINITY = "node(s) didn't match pod affinity rules"
REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
REASON_EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"

_STATUSES = (
    unresolvable(REASON_AFFINITY),
    unschedulable(REASON_ANTI_AFFINITY),
    unschedulable(REASON_EXISTING_ANTI_AFFINITY),
)
_AFFINITY, _ANTI_AFFINITY, _EXISTING_ANTI_AFFINITY = 1, 2, 3

CountsByKey = dict[str, DomainCounts]


class OwnTerms(NamedTuple):
    """The pending pod's required terms, ready to be held against one pod of a trial."""

    affinity: PodQuery | None
    anti: tuple[tuple[str, PodQuery], ...]
    first_of_its_kind: bool
    """Whether the pod matches its own affinity terms, so that it may be the first."""
    seen: dict[tuple[PodShape, bool], Sequence[tuple[str, int]]]
    """What is known of templates of pods that trials have moved."""

    def anti_keys(self, pod: PodInfo) -> Sequence[tuple[str, int]]:
        """Topology keys of the anti-affinity terms that a pod matches, and of how many."""
        if not self.anti:
            return ()
        key = pod.shape, pod.terminating
        found = self.seen.get(key)
        if found is None:
            placed = (pod.shape.namespace, pod.shape.labels, pod.terminating)
            matched = Counter(key for key, query in self.anti if query.matches(*placed))
            found = self.seen[key] = tuple(matched.items())
        return found


class AffinityFilterState:
    def __init__(
        self,
        topologies: Topologies,
        own: OwnTerms,
        affinity: CountsByKey,
        anti: CountsByKey,
        existing_anti: CountsByKey,
    ) -> None:
        self._topologies = topologies
        self._own = own
        self._affinity = affinity
        self._anti = anti
        self._existing_anti = existing_anti

    @property
    def idle(self) -> bool:
        """Nothing is required and nobody objects."""
        return not (self._affinity or self._anti or self._existing_anti)

    def clone(self) -> "AffinityFilterState":
        return AffinityFilterState(
            self._topologies,
            self._own,
            _clone(self._affinity),
            _clone(self._anti),
            _clone(self._existing_anti),
        )

    def shift(self, cycle: Cycle, pod: PodInfo, row: int, delta: int) -> None:
        """Follow a pod that a trial adds to or removes from a row."""
        shape, own = pod.shape, self._own
        placed = (shape.namespace, shape.labels, pod.terminating)
        if own.affinity is not None and own.affinity.matches(*placed):
            for counts in self._affinity.values():
                counts.shift(row, delta)
        for key, times in own.anti_keys(pod):
            self._anti[key].shift(row, delta * times)
        if not shape.affinity.required_anti:
            return
        meant = cycle.pod.shape
        namespace_labels = cycle.cluster.catalog.namespace_labels(meant.namespace)
        for term in shape.affinity.required_anti:
            if term.matches(meant.namespace, meant.labels, namespace_labels):
                self._counts_of_existing(term.topology_key).shift(row, delta)

    def verdict(self, rows: Rows) -> Verdict | None:
        """Affinity speaks first, then the pod's own anti-affinity, then that of others."""
        values = np.zeros(count_of(rows), dtype=np.int32)
        for value, by_key in (
            (_EXISTING_ANTI_AFFINITY, self._existing_anti),
            (_ANTI_AFFINITY, self._anti),
        ):
            for counts in by_key.values():
                if counts.totals.any():
                    values[counts.of(rows) > 0] = value
        failed = self._affinity_failures(rows)
        if failed is not None:
            values[failed] = _AFFINITY
        return choosing(values, _STATUSES)

    def _affinity_failures(self, rows: Rows) -> Mask | None:
        if not self._affinity:
            return None
        # The first of its kind may go where nobody is yet, as long as the keys are there.
        first = self._own.first_of_its_kind and not any(
            counts.totals.any() for counts in self._affinity.values()
        )
        failed: Mask | None = None
        for counts in self._affinity.values():
            lacking: Mask
            if first:
                lacking = counts.topology.slots[rows] == 0
            else:
                lacking = counts.of(rows) <= 0
            failed = lacking if failed is None else failed | lacking
        return failed

    def _counts_of_existing(self, key: str) -> DomainCounts:
        counts = self._existing_anti.get(key)
        if counts is None:
            topology = self._topologies.of(key)
            counts = self._existing_anti[key] = DomainCounts(topology, topology.no_pods())
        return counts


def count_required(
    cycle: Cycle,
    topologies: Topologies,
    sums: DomainSums,
    queries: TermQueries,
    carried: CarriedTerms,
) -> AffinityFilterState:
    """Count over all nodes what the pod's terms and the terms of others ask for."""
    shape = cycle.pod.shape
    classes = cycle.cluster.classes
    terms = shape.affinity
    affinity: CountsByKey = {}
    wanted: PodQuery | None = None
    if terms.required_affinity:
        wanted = queries.query(*terms.required_affinity)
        counter = classes.counter(wanted)
        for key in _keys(terms.required_affinity):
            topology = topologies.of(key)
            affinity[key] = DomainCounts(topology, sums.of(counter, topology), shared=True)
    unwanted = tuple([(term.topology_key, queries.query(term)) for term in terms.required_anti])
    objecting = [
        (term.term.topology_key, counter)
        for term, counter in carried.find_matching("required_anti", shape)
        if counter.total
    ]
    own = OwnTerms(
        affinity=wanted,
        anti=unwanted,
        first_of_its_kind=wanted is not None
        and wanted.matches(shape.namespace, shape.labels, terminating=False),
        seen={},
    )
    return AffinityFilterState(
        topologies,
        own,
        affinity,
        _sum_own(topologies, sums, classes, unwanted),
        {
            key: counts
            for key, counts in _sum_by_key(topologies, sums, objecting).items()
            if counts.totals.any()
        },
    )


def _sum_by_key(
    topologies: Topologies, sums: DomainSums, counters: Iterable[tuple[str, PodCounter]]
) -> CountsByKey:
    """Pods per domain, added up over the counters of the same topology key."""
    by_key: dict[str, tuple[Topology, Ints]] = {}
    for key, counter in counters:
        topology, known = by_key.get(key) or (topologies.of(key), None)
        totals = sums.of(counter, topology)
        by_key[key] = (topology, totals if known is None else known + totals)
    return {
        key: DomainCounts(topology, totals, shared=True)
        for key, (topology, totals) in by_key.items()
    }


def _sum_own(
    topologies: Topologies,
    sums: DomainSums,
    classes: PodClasses,
    terms: Sequence[tuple[str, PodQuery]],
) -> CountsByKey:
    """Pods per domain that match the pod's own terms, added up over those of the same key."""
    if len(terms) <= MAX_COUNTED_TERMS:
        counters = ((key, classes.counter(query)) for key, query in terms)
        return _sum_by_key(topologies, sums, counters)
    by_key: dict[str, list[tuple[int, PodQuery]]] = {}
    for key, query in terms:
        by_key.setdefault(key, []).append((1, query))
    weights = PodWeights(classes.all())
    found: CountsByKey = {}
    for key, queries in by_key.items():
        topology = topologies.of(key)
        totals = topology.no_pods()
        if topology.domain_count:
            totals = topology.totals(weights.per_row(queries, topologies.capacity))
        found[key] = DomainCounts(topology, totals, shared=True)
    return found


def _keys(terms: Iterable[AffinityTerm]) -> Iterable[str]:
    return dict.fromkeys([term.topology_key for term in terms])


def _clone(counts: CountsByKey) -> CountsByKey:
    return {key: value.clone() for key, value in counts.items()}


Contribution = tuple[str, int, PodCounter]
"""Topology key, weight, and what counts the matching pods."""

_SIGNS: tuple[tuple[TermKind, int], ...] = (("preferred_affinity", 1), ("preferred_anti", -1))


class _DomainScores:
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
    by_key: dict[str, _DomainScores] = {}
    for key, weight, totals in _own_sums(cycle, topologies, sums, queries):
        held = by_key.get(key)
        if held is None:
            held = by_key[key] = _DomainScores(topologies.of(key))
        held.add(weight, totals)
    contributions = _contributions(cycle, carried, hard_weight=hard_weight)
    for key, weight, counter in contributions:
        held = by_key.get(key)
        if held is None:
            held = by_key[key] = _DomainScores(topologies.of(key))
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
        # Whether anybody is there at all is distinguished from what they are worth together.
        present = weights.per_row([(1, query) for _, query in weighted], topologies.capacity)
        yield key, 0, topology.totals(present)
        yield key, 1, topology.totals(weights.per_row(weighted, topologies.capacity))


def _contributions(
    cycle: Cycle, carried: CarriedTerms, *, hard_weight: int
) -> Iterator[Contribution]:
    shape = cycle.pod.shape
    if hard_weight > 0:
        for required, counter in carried.find_matching("required_affinity", shape):
            if counter.total:
                yield required.term.topology_key, hard_weight, counter
    for kind, sign in _SIGNS:
        for preferred, counter in carried.find_matching(kind, shape):
            if counter.total:
                yield preferred.term.topology_key, sign * preferred.weight, counter

"""What spread constraints count: pods in domains, for hard constraints a filter, for soft a score.

Of hard constraints the state is made from all nodes at PreFilter and follows the pods that a trial
adds or removes. Where upstream keeps the two emptiest domains, this takes the true minimum of the
counts, which is the same while a trial changes one node (`podtopologyspread/filtering.go`).

Worked example: zones a and b hold 3 and 1 matching pods and the pod matches itself. With maxSkew 1
zone a is out (3 + 1 - 1 = 3 > 1) and zone b is in (1 + 1 - 1 = 1).

Soft spread constraints: the fewer matching pods in a node's domains, the better. Each constraint
adds `pods in the domain * log(domains + 2) + maxSkew - 1` to a node's raw score; the logarithm
makes up for the smaller counts of a topology with many domains. Counts are per domain over all
nodes, or for hostnames those of the node itself; as domains count those that feasible nodes are in
(`podtopologyspread/scoring.go`).

Worked example: zones a and b hold 3 and 1 pods, maxSkew 1, weight log(4): raw 3 * 1.386 = 4.16 -> 4
and 1.39 -> 1, normalised 100 * (4 + 1 - 4) / 4 = 25 and 100.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.golang.arithmetic import go_log
from podium.golang.array_arithmetic import quotients, round_away
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import SpreadLimit
from podium.scheduler.framework.diagnosis import Values, Verdict, choosing
from podium.scheduler.framework.scoring import MAX_SCORE
from podium.scheduler.framework.status import unresolvable, unschedulable
from podium.scheduler.plugins.pod_topology_spread.constraints import (
    NodeInclusion,
    SpreadConstraint,
    both,
    rows_with_all_keys,
)
from podium.scheduler.plugins.topology import DomainCounts, DomainSums, Topologies, Topology

REASON_SKEWED = "node(s) didn't match pod topology spread constraints"
REASON_UNLABELLED = REASON_SKEWED + " (missing required label)"

_UNLABELLED, _SKEWED = 1, 2
_STATUSES = (unresolvable(REASON_UNLABELLED), unschedulable(REASON_SKEWED))

TRIALS_COUNT_WHAT_PREFILTER_LEFT_OUT: Final[bool] = True
"""Quirk Q4: PreFilter counts no terminating pod and nothing for an empty selector, yet adding or
removing such pods in a trial changes the counts, if need be to below zero."""


class HardConstraint:
    """One constraint with the counts of its domains."""

    __slots__ = ("_minimum", "constraint", "counts", "eligible", "entries", "self_match")

    def __init__(
        self,
        constraint: SpreadConstraint,
        counts: DomainCounts,
        eligible: Mask | None,
        entries: Mask | None,
        *,
        self_match: bool,
    ) -> None:
        self.constraint = constraint
        self.counts = counts
        self.eligible = eligible
        self.entries = entries
        self.self_match = self_match
        self._minimum: int | None = None

    @property
    def topology(self) -> Topology:
        return self.counts.topology

    def highest_allowed(self) -> int:
        """The count above which a domain cannot take the pod.

        count + self - minimum > maxSkew, solved for the count.
        """
        if self._minimum is None:
            self._minimum = self._find_minimum()
        return self.constraint.max_skew - self.self_match + self._minimum

    def shift(self, row: int, delta: int) -> None:
        if self.eligible is None or self.eligible[row]:
            self.counts.shift(row, delta)
            self._minimum = None

    def clone(self) -> "HardConstraint":
        twin = HardConstraint(
            self.constraint,
            self.counts.clone(),
            self.eligible,
            self.entries,
            self_match=self.self_match,
        )
        twin._minimum = self._minimum
        return twin

    def _find_minimum(self) -> int:
        """The emptiest domain's count; 0 while there are fewer domains than asked for."""
        totals = self.counts.totals
        counted = totals[1:] if self.entries is None else totals[self.entries]
        if len(counted) == 0 or len(counted) < self.constraint.min_domains:
            return 0
        return int(counted.min())


class SpreadFilterState:
    """All hard constraints of the pod, in their order."""

    def __init__(self, namespace: str, constraints: list[HardConstraint]) -> None:
        self.namespace = namespace
        self.constraints = constraints

    def clone(self) -> "SpreadFilterState":
        return SpreadFilterState(self.namespace, [c.clone() for c in self.constraints])

    def limits(self) -> list[SpreadLimit]:
        return [
            SpreadLimit(
                hard.constraint,
                hard.constraint.selector,
                hard.constraint.max_skew,
                hard.constraint.min_domains,
                hard.topology.slots,
                hard.counts.totals,
                hard.eligible,
                hard.entries,
            )
            for hard in self.constraints
        ]

    def shift(self, pod: PodInfo, row: int, delta: int) -> None:
        """Follow a pod that a trial adds to or removes from a row."""
        if pod.shape.namespace != self.namespace:
            return
        if any(hard.topology.slots[row] == 0 for hard in self.constraints):
            return
        for hard in self.constraints:
            selector = hard.constraint.selector
            left_out = pod.terminating or selector.empty
            if left_out and not TRIALS_COUNT_WHAT_PREFILTER_LEFT_OUT:
                continue
            if selector.matches(pod.shape.labels):
                hard.shift(row, delta)

    def verdict(self, rows: Rows) -> Verdict | None:
        """The first constraint that a row fails decides about it."""
        values: Values | None = None
        for hard in self.constraints:
            if values is not None and values.all():
                break
            highest = hard.highest_allowed()
            topology = hard.topology
            if topology.complete and int(hard.counts.totals.max()) <= highest:
                continue
            slots = topology.slots[rows]
            skewed = hard.counts.totals[slots] > highest
            failures = np.where(slots == 0, _UNLABELLED, skewed * _SKEWED)
            values = failures if values is None else np.where(values == 0, failures, values)
        return None if values is None else choosing(values, _STATUSES)


def count_hard(
    cycle: Cycle,
    topologies: Topologies,
    sums: DomainSums,
    constraints: tuple[SpreadConstraint, ...],
    *,
    comparison: bool,
) -> SpreadFilterState:
    """Count over all nodes: those with every topology key that meet a constraint's policies."""
    shape = cycle.pod.shape
    inclusion = NodeInclusion(cycle, comparison=comparison)
    found = [topologies.of(constraint.topology_key) for constraint in constraints]
    # A single constraint needs no mask for its key: rows without it fall into slot 0.
    keyed = rows_with_all_keys(found) if len(found) > 1 else None
    counted = []
    for constraint, topology in zip(constraints, found, strict=True):
        eligible = both(keyed, inclusion.mask(constraint))
        counter = None
        if topology.domain_count:
            counter = constraint.counter(cycle.cluster.classes, shape.namespace)
        totals = topology.no_pods() if counter is None else sums.of(counter, topology, eligible)
        counted.append(
            HardConstraint(
                constraint,
                DomainCounts(topology, totals, shared=True),
                eligible,
                None if eligible is None else topology.mask_inhabited(eligible),
                self_match=constraint.selector.matches(shape.labels),
            )
        )
    return SpreadFilterState(shape.namespace, counted)


HOSTNAME = "kubernetes.io/hostname"

Floats = npt.NDArray[np.float64]


class DomainPart(NamedTuple):
    """What a constraint adds to the score, by slot; nothing for nodes without the label."""

    topology: Topology
    by_slot: Floats

    def of(self, rows: Rows) -> Floats:
        return self.by_slot[self.topology.slots[rows]]


class HostPart(NamedTuple):
    """The same for hostnames, where every node counts its own pods."""

    topology: Topology
    per_row: Ints | None
    weight: float
    offset: float

    def of(self, rows: Rows) -> Floats:
        if self.per_row is None:
            values = np.full(count_of(rows), self.offset)
        else:
            values = self.per_row[rows] * self.weight + self.offset
        if not self.topology.complete:
            values[self.topology.slots[rows] == 0] = 0.0
        return values


class SpreadScoreState:
    def __init__(self, parts: list[DomainPart | HostPart], left_out: list[Topology]) -> None:
        self._parts = parts
        self._left_out = left_out
        only = parts[0]
        # One constraint over domains, the usual case, is rounded per domain rather than per node.
        self._by_slot = (
            round_away(only.by_slot) if len(parts) == 1 and isinstance(only, DomainPart) else None
        )

    def raw(self, rows: Rows) -> Ints:
        if self._by_slot is not None:
            return self._by_slot[self._parts[0].topology.slots[rows]]
        total = self._parts[0].of(rows)
        for part in self._parts[1:]:
            total += part.of(rows)
        scores = round_away(total)
        ignored = self._mask_ignored(rows)
        if ignored is not None:
            scores[ignored] = 0
        return scores

    def normalize(self, rows: Rows, scores: Ints) -> Ints:
        ignored = self._mask_ignored(rows)
        if ignored is not None and not ignored.any():
            ignored = None
        ranked = scores if ignored is None else scores[~ignored]
        if len(ranked) == 0:
            return np.zeros_like(scores)
        lowest, highest = int(ranked.min()), max(0, int(ranked.max()))
        if highest == 0:
            normalized = np.full_like(scores, MAX_SCORE)
        else:
            scaled = MAX_SCORE * (highest + lowest - scores)
            normalized = scaled // highest if lowest >= 0 else quotients(scaled, highest)
        if ignored is not None:
            normalized[ignored] = 0
        return normalized

    def _mask_ignored(self, rows: Rows) -> Mask | None:
        keyed: Mask | None = None
        for topology in self._left_out:
            keyed = both(keyed, topology.slots[rows] > 0)
        return None if keyed is None else ~keyed


def prepare_scores(
    cycle: Cycle,
    rows: Rows,
    topologies: Topologies,
    sums: DomainSums,
    constraints: tuple[SpreadConstraint, ...],
    *,
    needs_all_keys: bool,
    comparison: bool,
) -> SpreadScoreState:
    """Count what the feasible rows will ask for."""
    inclusion = NodeInclusion(cycle, comparison=comparison)
    found = [topologies.of(constraint.topology_key) for constraint in constraints]
    left_out = [t for t in found if not t.complete] if needs_all_keys else []
    keyed = rows_with_all_keys(left_out)
    feasible = rows if keyed is None else np.arange(len(keyed))[rows][keyed[rows]]
    parts: list[DomainPart | HostPart] = []
    for constraint, topology in zip(constraints, found, strict=True):
        counter = None
        if topology.domain_count:  # of a key that no node has, there is nothing to count
            counter = constraint.counter(cycle.cluster.classes, cycle.pod.shape.namespace)
        per_row = None if counter is None else cycle.cluster.classes.column(counter)
        offset = float(constraint.max_skew - 1)
        if constraint.topology_key == HOSTNAME:
            weight = go_log(count_of(feasible) + 2)
            parts.append(HostPart(topology, per_row, weight, offset))
            continue
        weight = go_log(_count_values(topology, feasible) + 2)
        if counter is None or per_row is None:
            totals = topology.no_pods()
        else:
            eligible = both(keyed, inclusion.mask(constraint))
            totals = sums.of(counter, topology, eligible)
            if topology.unnamed and not needs_all_keys:
                totals = totals.copy()
                totals[topology.unnamed] += _on_unlabelled(cycle, topology, per_row, eligible)
        by_slot: Floats = totals.astype(np.float64) * weight + offset
        by_slot[0] = 0.0
        parts.append(DomainPart(topology, by_slot))
    return SpreadScoreState(parts, left_out)


def _count_values(topology: Topology, feasible: Rows) -> int:
    """How many values the feasible rows have; no label reads as the empty text (quirk Q13)."""
    if topology.complete and count_of(feasible) == len(topology.slots):
        return topology.domain_count
    seen = np.zeros(topology.domain_count + 1, dtype=np.bool_)
    seen[topology.slots[feasible]] = True
    if seen[0] and topology.unnamed:
        seen[topology.unnamed] = True
        seen[0] = False
    return int(np.count_nonzero(seen))


def _on_unlabelled(cycle: Cycle, topology: Topology, per_row: Ints, eligible: Mask | None) -> int:
    """upstream: pods on nodes without the label count into the domain of the empty text."""
    size = len(topology.slots)
    counted = both(eligible, (topology.slots == 0) & cycle.nodes.present[:size])
    return int(per_row[:size][counted].sum())

"""Hard spread constraints: pods per domain, the emptiest domain, and which rows are too full.

The state is made from all nodes at PreFilter and follows the pods that a trial adds or removes.
Where upstream keeps the two emptiest domains, this takes the true minimum of the counts, which is
the same while a trial changes one node (`podtopologyspread/filtering.go`).

Worked example: zones a and b hold 3 and 1 matching pods and the pod matches itself. With maxSkew 1
zone a is out (3 + 1 - 1 = 3 > 1) and zone b is in (1 + 1 - 1 = 1).
"""

from typing import Final

import numpy as np

from podium.scheduler.cluster.growth import Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.dependence import SpreadLimit
from podium.scheduler.framework.diagnosis import Values, Verdict, choosing
from podium.scheduler.framework.status import unresolvable, unschedulable
from podium.scheduler.plugins.pod_topology_spread.constraints import SpreadConstraint
from podium.scheduler.plugins.pod_topology_spread.node_inclusion import (
    NodeInclusion,
    both,
    rows_with_all_keys,
)
from podium.scheduler.plugins.topology.domain_sums import DomainSums
from podium.scheduler.plugins.topology.domains import DomainCounts, Topologies, Topology

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
                None if eligible is None else topology.inhabited(eligible),
                self_match=constraint.selector.matches(shape.labels),
            )
        )
    return SpreadFilterState(shape.namespace, counted)

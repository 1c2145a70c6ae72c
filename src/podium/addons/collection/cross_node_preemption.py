"""CrossNodePreemption: make room by removing pods from several nodes.

DefaultPreemption takes victims from the node that it opens. That is of no use where pods on other
nodes stand in the way, as with anti-affinity or spreading over zones. Upstream tries every subset
of all weaker pods, which ends for a handful of pods only. Here the search is bounded: if no single
node can be opened, the weakest pods of all candidate nodes are taken away together, and for each of
some nodes that then fit they are given back one by one, the most important first, as long as the
pod still fits. So victims are few, though not always the fewest.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from podium.addons.collection.preemption_toleration import PreemptionTolerationArgs
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.plugin import Code, Cycle, Diagnosis, PodInfo
from podium.scheduler.framework.filtering import tell_extensions
from podium.scheduler.plugins.default_preemption import DefaultPreemption
from podium.scheduler.plugins.default_preemption.dry_run import (
    Candidate,
    VictimRules,
    importance,
    rank,
    split_by_budget,
)

_Placed = tuple[PodInfo, int]


class CrossNodePreemptionArgs(PreemptionTolerationArgs, frozen=True):
    """The bounds are Podium's own: at most so many nodes are tried, and so many pods taken away."""

    max_candidate_nodes: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    max_potential_victims: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 200


class CrossNodePreemption(DefaultPreemption):
    name = "CrossNodePreemption"
    Args = CrossNodePreemptionArgs
    args: CrossNodePreemptionArgs

    def find_candidates(
        self, cycle: Cycle, diagnosis: Diagnosis, rules: VictimRules
    ) -> tuple[list[Candidate], Diagnosis]:
        found, nested = super().find_candidates(cycle, diagnosis, rules)
        if not found:
            rows = diagnosis.rows_with(Code.UNSCHEDULABLE, cycle.cluster.node_order())
            found = self._across_nodes(cycle, rows, rules)
        return found, nested

    def _across_nodes(
        self, cycle: Cycle, rows: Sequence[int], rules: VictimRules
    ) -> list[Candidate]:
        weaker = [
            (pod, row)
            for row in rows
            for pod in cycle.usage.pods(row)
            if rules.may_leave(cycle, pod) is True
        ]
        weaker.sort(key=lambda placed: importance(placed[0]), reverse=True)
        weaker = weaker[: self.args.max_potential_victims]
        if not weaker:
            return []
        emptied = _Trial(self, cycle)
        for placed in weaker:
            emptied.take(placed)
        fitting = emptied.find_fitting(rows)[: self.args.max_candidate_nodes]
        return [self._candidate(cycle, row, weaker) for row in fitting]

    def _candidate(self, cycle: Cycle, row: int, weaker: Sequence[_Placed]) -> Candidate:
        """Who has to go so that one node fits; that it does without all of them is known."""
        rows = {pod.uid: at for pod, at in weaker}
        budgets = list(cycle.cluster.catalog.all(PodDisruptionBudget))
        by_importance = sorted((pod for pod, _ in weaker), key=importance)
        protected, others = split_by_budget(by_importance, budgets)
        trial = _Trial(self, cycle)
        for placed in weaker:
            trial.take(placed)
        victims: list[PodInfo] = []
        violations = 0
        for number, pod in enumerate([*protected, *others]):
            placed = (pod, rows[pod.uid])
            trial.give_back(placed)
            if not trial.find_fitting([row]):
                trial.take(placed)
                victims.append(pod)
                violations += number < len(protected)
        victims.sort(key=importance)
        name = cycle.nodes.names[row]
        return Candidate(name, tuple(victims), violations, rank(name, victims, violations))


class _Trial:
    """The cluster without some pods, as the filters see it."""

    def __init__(self, plugin: CrossNodePreemption, cycle: Cycle) -> None:
        self._profile = plugin.handle.profile
        self._cycle = cycle.fork()

    def take(self, placed: _Placed) -> None:
        pod, row = placed
        self._cycle.usage.remove(row, pod)
        tell_extensions(self._profile.extensions, self._cycle, pod, row, added=False)

    def give_back(self, placed: _Placed) -> None:
        pod, row = placed
        self._cycle.usage.add(row, pod)
        tell_extensions(self._profile.extensions, self._cycle, pod, row, added=True)

    def find_fitting(self, rows: Sequence[int]) -> list[int]:
        result = self._profile.filter_rows(self._cycle, np.array(rows, dtype=np.intp))
        return [row for row, fits in zip(rows, result.passed().tolist(), strict=True) if fits]

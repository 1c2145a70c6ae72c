"""Which pods would have to leave a node, worked out without touching the cluster.

On a private copy of the nodes' usage: take all pods away that may leave (`victim_rules.py`), see
whether the pod fits, then give back as many as possible, those that a disruption budget protects
first and the most important before the others. Nodes do not influence each other unless a plugin
counts pods across nodes, so normally all nodes go through the steps together, one filter call a
step; only where such a plugin is at work are they tried one by one.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.usage import Shadow, Usage
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import tell_extensions
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Status, error, unresolvable
from podium.scheduler.plugins.default_preemption.disruption_budgets import split_by_budget
from podium.scheduler.plugins.default_preemption.victim_rules import (
    WEAKER_PODS,
    VictimRules,
    importance,
)

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")

_PRIORITY_OFFSET = 2**31

Rank = tuple[int, int, int, int, float, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and the pods that would have to leave it, most important first."""

    node_name: str
    victims: tuple[PodInfo, ...]
    violations: int
    rank: Rank


class _Node:
    """One node on its way through the dry run."""

    __slots__ = ("leaving", "order", "others", "row", "victims", "violating", "violations")

    def __init__(self, row: int) -> None:
        self.row = row
        self.leaving: list[PodInfo] = []
        self.violating: list[PodInfo] = []
        self.others: list[PodInfo] = []
        self.order: list[PodInfo] = []
        self.victims: list[PodInfo] = []
        self.violations = 0


class DryRun:
    """`shadow` is a copy of the cluster's usage to work on; without one a copy is made."""

    def __init__(
        self,
        cycle: Cycle,
        profile: Profile,
        budgets: Sequence[PodDisruptionBudget],
        shadow: Shadow | None = None,
        rules: VictimRules = WEAKER_PODS,
    ) -> None:
        self._cycle = cycle
        self._profile = profile
        self._budgets = budgets
        self._rules = rules
        self._shadow = shadow if cycle.usage is cycle.cluster.usage else None
        self._usage: Usage | None = None

    def on_rows(self, rows: Sequence[int]) -> dict[int, Candidate | Status]:
        """Row -> the victims that would open it, or why none would."""
        if self._usage is None:
            self._usage = self._copied_usage()
        if self._profile.rows_are_independent(self._cycle):
            return self._together(rows, self._usage)
        found: dict[int, Candidate | Status] = {}
        for row in rows:
            found.update(self._together([row], self._usage))
        return found

    def _copied_usage(self) -> Usage:
        if self._shadow is None:
            return self._cycle.usage.fork()
        self._shadow.follow()
        return self._shadow.usage

    def _together(self, rows: Sequence[int], usage: Usage) -> dict[int, Candidate | Status]:
        answers: dict[int, Candidate | Status] = {}
        trial = self._cycle.fork(usage)
        nodes = [_Node(row) for row in rows]
        try:
            for node in nodes:
                self._empty(node, trial, answers)
            self._give_back_what_fits([n for n in nodes if n.row not in answers], trial, answers)
        finally:
            usage.reset_rows([node.row for node in nodes if node.leaving], self._cycle.usage)
        return answers

    def _empty(self, node: _Node, trial: Cycle, answers: dict[int, Candidate | Status]) -> None:
        """Take the pods away that may leave a node."""
        for pod in list(self._rules.in_order(trial.usage.pods(node.row))):
            may_leave = self._rules.may_leave(trial, pod)
            if isinstance(may_leave, Status):
                answers[node.row] = may_leave
                return
            if may_leave:
                node.leaving.append(pod)
                self._move(trial, pod, node.row, answers, added=False)
        if not node.leaving:
            answers[node.row] = NO_VICTIMS

    def _give_back_what_fits(
        self, nodes: list[_Node], trial: Cycle, answers: dict[int, Candidate | Status]
    ) -> None:
        nodes = self._fitting(nodes, trial, answers, self._rules.refuse_emptied)
        for node in nodes:
            node.leaving.sort(key=importance)
            node.violating, node.others = split_by_budget(node.leaving, self._budgets)
            node.order = [*node.violating, *node.others]
        for step in itertools.count():
            nodes = [node for node in nodes if node.row not in answers]
            busy = [node for node in nodes if step < len(node.order)]
            if not busy:
                break
            self._give_back(busy, step, trial, answers)
        for node in nodes:
            answers[node.row] = self._outcome(node)

    def _give_back(
        self,
        nodes: list[_Node],
        step: int,
        trial: Cycle,
        answers: dict[int, Candidate | Status],
    ) -> None:
        """Put the next pod of each node back, and take it away for good where that is too much."""
        for node in nodes:
            self._move(trial, node.order[step], node.row, answers, added=True)
        refused: dict[int, Candidate | Status] = {}
        self._fitting(nodes, trial, refused, self._rules.refuse_given_back)
        for node in nodes:
            if node.row in refused:
                self._move(trial, node.order[step], node.row, answers, added=False)
                node.victims.append(node.order[step])
                node.violations += step < len(node.violating)

    def _fitting(
        self,
        nodes: list[_Node],
        trial: Cycle,
        refused: dict[int, Candidate | Status],
        refuse: Callable[[Cycle], Status | None],
    ) -> list[_Node]:
        """Nodes that pass every filter and the rule; the others' statuses go into `refused`."""
        if not nodes:
            return []
        rows = np.fromiter((node.row for node in nodes), dtype=np.intp, count=len(nodes))
        result = self._profile.filter_rows(trial, rows)
        passed = result.passed().tolist() if result.rejected_any else [True] * len(nodes)
        against = refuse(trial)
        for position, node in enumerate(nodes):
            status = against if passed[position] else result.status(position)
            if status is not None:
                refused[node.row] = status
        return [node for node in nodes if node.row not in refused]

    def _move(
        self,
        trial: Cycle,
        pod: PodInfo,
        row: int,
        answers: dict[int, Candidate | Status],
        *,
        added: bool,
    ) -> None:
        if added:
            trial.usage.add(row, pod)
        else:
            trial.usage.remove(row, pod)
        problem = tell_extensions(self._profile.extensions, trial, pod, row, added=added)
        if problem is not None:
            answers.setdefault(row, problem)

    def _outcome(self, node: _Node) -> Candidate | Status:
        name = self._cycle.nodes.names[node.row]
        if not node.victims:
            return error(f'expected at least one victim pod on node "{name}"')
        if node.violating and node.others:
            node.victims.sort(key=importance)
        victims = tuple(node.victims)
        return Candidate(name, victims, node.violations, rank(name, victims, node.violations))


def rank(name: str, victims: Sequence[PodInfo], violations: int) -> Rank:
    """Smaller is better; the name settles what is left.

    The first victim is the most important one, unless an extender has listed them otherwise. With
    no budget violated, two victims of priority 0 rank before one of priority 10.
    upstream: pkg/scheduler/framework/preemption/preemption.go, pickOneNodeForPreemption.
    """
    highest = max(pod.priority for pod in victims)
    return (
        violations,
        victims[0].priority,
        sum(pod.priority + _PRIORITY_OFFSET for pod in victims),
        len(victims),
        -min(pod.start_time for pod in victims if pod.priority == highest),
        name,
    )

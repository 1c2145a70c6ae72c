"""Which pods would have to leave a node, worked out without touching the cluster.

On a private copy of the nodes' usage: take all pods away that may leave, see whether the pod fits,
then give back as many as possible, those that a disruption budget protects first and the most
important before the others. Nodes do not influence each other unless a plugin counts pods across
nodes, so normally all nodes go through the steps together, one filter call a step; only where such
a plugin is at work are they tried one by one.

Whom a preemption may take, beside what filters say of the room that is left. The dry run takes pods
away and gives back as many as it can; `VictimRules` tell it which pods may go at all and whether
more than room is needed. What is here is kube-scheduler's own rule: weaker pods, for room
alone. Plugins that preempt otherwise say how in a subclass.

PodDisruptionBudgets as preemption respects them: as far as possible, not at any price.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.labels import SelectorError, selector_of
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.usage import Shadow, Usage
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.filtering import tell_extensions
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Status, error, unresolvable

PREEMPTED_CONDITION = ("DisruptionTarget", "True", "PreemptionByScheduler")


class VictimRules:
    """`trial` is the cycle of the pod that preempts, in a cluster as the dry run imagines it."""

    stable = True
    """Whether an answer for a node holds while that node, the pods on it, nominations to it and
    budgets stay as they are, for every preemptor of one shape and priority."""

    def in_order(self, pods: Sequence[PodInfo]) -> Sequence[PodInfo]:
        """A node's pods in the order in which they are asked about and taken away."""
        return pods

    def may_leave(self, trial: Cycle, pod: PodInfo) -> bool | Status:
        """Whether a pod may be a victim; a status if that cannot be determined, which leaves the
        node out. Those that were asked about before are gone from the trial already."""
        return pod.priority < trial.pod.priority

    def refuse_emptied(self, trial: Cycle) -> Status | None:  # noqa: ARG002
        """Why it is of no use to take all of them away, though the pod would find room then."""
        return None

    def refuse_given_back(self, trial: Cycle) -> Status | None:  # noqa: ARG002
        """Why the pod given back last has to go, though there is room for it."""
        return None

    def is_awaited(self, cycle: Cycle, pod: PodInfo) -> bool:
        """Whether a pod that is leaving the nominated node makes the room already that is wanted,
        so that nobody else has to go."""
        return pod.priority < cycle.pod.priority and was_preempted(pod)


WEAKER_PODS = VictimRules()


def importance(pod: PodInfo) -> tuple[int, float]:
    """Sort key: the most important pod first."""
    return (-pod.priority, pod.start_time)


def was_preempted(pod: PodInfo) -> bool:
    return any(
        (c.type, c.status, c.reason) == PREEMPTED_CONDITION for c in pod.pod.status.conditions or ()
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
        nodes = self._filter_nodes(nodes, trial, answers, self._rules.refuse_emptied)
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
        self._filter_nodes(nodes, trial, refused, self._rules.refuse_given_back)
        for node in nodes:
            if node.row in refused:
                self._move(trial, node.order[step], node.row, answers, added=False)
                node.victims.append(node.order[step])
                node.violations += step < len(node.violating)

    def _filter_nodes(
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
        passed = result.mask_passed().tolist() if result.rejected_any else [True] * len(nodes)
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


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose leaving would break a budget, the others), order kept.

    Important pods come first and use up the budget first; every matching budget is charged.
    """
    if not budgets:
        return [], list(pods)
    left = [budget.status.disruptions_allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        breaks = False
        for index, budget in enumerate(budgets):
            if covers(budget, pod):
                left[index] -= 1
                breaks |= left[index] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def covers(budget: PodDisruptionBudget, pod: PodInfo) -> bool:
    """Whether a pod's leaving is charged to a budget."""
    if budget.metadata.namespace != pod.shape.namespace or not pod.shape.labels:
        return False
    try:
        selector = selector_of(budget.spec.selector)
    except SelectorError:
        return False
    if selector.empty or not selector.matches(pod.shape.labels):
        return False
    return pod.pod.metadata.name not in (budget.status.disrupted_pods or {})

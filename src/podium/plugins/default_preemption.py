"""DefaultPreemption: make room by removing less important pods from one node.

For every node where that might help, the smallest set of victims is worked out on a private copy
of the node's usage: take all weaker pods away, see whether the pod fits, then give back as many as
possible, the most important first and those that a disruption budget protects before the others.
The best node is chosen by upstream's order of criteria; ties go to the first name.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from podium.api.labels import SelectorError, selector_of
from podium.api.workloads import PodDisruptionBudget
from podium.cluster.pod_info import PodInfo
from podium.cluster.usage import Usage
from podium.framework.cycle import Cycle
from podium.framework.diagnosis import Diagnosis
from podium.framework.events import Action, Registration, Resource
from podium.framework.filtering import tell_extensions
from podium.framework.fit_message import fit_error
from podium.framework.points import PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from podium.framework.status import Code, Status, error, unresolvable

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")
PREEMPTION_RUNNING = unresolvable("waiting for the preemption for this pod to be finished")
NEVER = "not eligible due to preemptionPolicy=Never."
VICTIMS_TERMINATING = "not eligible due to a terminating pod on the nominated node."
PREEMPTED_CONDITION = ("DisruptionTarget", "True", "PreemptionByScheduler")

_PRIORITY_OFFSET = 2**31


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and the pods that would have to leave it, most important first."""

    node_name: str
    victims: tuple[PodInfo, ...]
    violations: int

    def rank(self) -> tuple[int, int, int, int, float, str]:
        """Smaller is better (engine spec 11.6)."""
        highest = self.victims[0].priority
        first_start = min(p.start_time for p in self.victims if p.priority == highest)
        return (
            self.violations,
            highest,
            sum(p.priority + _PRIORITY_OFFSET for p in self.victims),
            len(self.victims),
            -first_start,
            self.node_name,
        )


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin):
    name = "DefaultPreemption"

    def events(self) -> Sequence[Registration]:
        return (Registration(Resource.POD, Action.DELETE, lambda *_: False),)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a preemptor back until its last victim is gone or going."""
        last = self.handle.preempting.last_victim(pod.uid)
        if last is None:
            return None
        held = self.handle.cluster.placements.get(last) if last else None
        if last and (held is None or held.info.terminating):
            return None
        return PREEMPTION_RUNNING

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        refusal = self._not_eligible(cycle, diagnosis)
        if refusal:
            return _unschedulable(refusal)
        candidates, nested = self._candidates(cycle, diagnosis)
        if not candidates:
            broken = self._first_error(nested)
            if broken is not None:
                return PostFilterResult(Code.ERROR, (broken,))
            return _unschedulable(fit_error(nested), nominated_node="")
        best = min(candidates, key=Candidate.rank)
        return PostFilterResult(Code.SUCCESS, nominated_node=best.node_name, victims=best.victims)

    def _not_eligible(self, cycle: Cycle, diagnosis: Diagnosis) -> str:
        """Why this pod may not preempt now, or an empty string."""
        pod = cycle.pod.pod
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.status.nominated_node_name
        row = cycle.nodes.row(nominated) if nominated else -1
        if row < 0:
            return ""
        if diagnosis.statuses().get(row, diagnosis.absent).code is Code.UNRESOLVABLE:
            return ""
        leaving = any(
            other.priority < cycle.pod.priority and other.terminating and _was_preempted(other)
            for other in cycle.usage.pods(row)
        )
        return VICTIMS_TERMINATING if leaving else ""

    def _candidates(self, cycle: Cycle, diagnosis: Diagnosis) -> tuple[list[Candidate], Diagnosis]:
        """Nodes that victims would open, and why the others would not."""
        nested = Diagnosis(diagnosis.node_count, absent=NOT_HELPFUL)
        budgets = list(cycle.cluster.catalog.all(PodDisruptionBudget))
        rows = diagnosis.rows_with(Code.UNSCHEDULABLE, cycle.cluster.node_order())
        usage = cycle.usage.fork() if rows else cycle.usage
        found: list[Candidate] = []
        for row in rows:
            answer = self._victims_on(cycle, usage, row, budgets)
            usage.reset(row, cycle.usage)
            if isinstance(answer, Candidate):
                found.append(answer)
            else:
                nested.own[row] = answer
        return found, nested

    def _victims_on(
        self, cycle: Cycle, usage: Usage, row: int, budgets: Sequence[PodDisruptionBudget]
    ) -> Candidate | Status:
        """The fewest pods whose leaving lets the pod onto one node."""
        weaker = [p for p in usage.pods(row) if p.priority < cycle.pod.priority]
        if not weaker:
            return NO_VICTIMS
        trial = cycle.fork(usage)
        for pod in weaker:
            failure = self._move(trial, pod, row, added=False)
            if failure is not None:
                return failure
        failure = self._fits(trial, row)
        if failure is not None:
            return failure
        weaker.sort(key=_importance)
        violating, others = _split_by_budget(weaker, budgets)
        victims: list[PodInfo] = []
        violations = 0
        for pod in (*violating, *others):
            failure = self._move(trial, pod, row, added=True)
            if failure is not None:
                return failure
            if self._fits(trial, row) is not None:
                failure = self._move(trial, pod, row, added=False)
                if failure is not None:
                    return failure
                victims.append(pod)
                violations += pod in violating
        if not victims:
            name = cycle.nodes.names[row]
            return error(f"expected at least one victim pod on node {name}")
        if violating and others:
            victims.sort(key=_importance)
        return Candidate(cycle.nodes.names[row], tuple(victims), violations)

    def _move(self, trial: Cycle, pod: PodInfo, row: int, *, added: bool) -> Status | None:
        if added:
            trial.usage.add(row, pod)
        else:
            trial.usage.remove(row, pod)
        return tell_extensions(self.handle.profile.extensions, trial, pod, row, added=added)

    def _fits(self, trial: Cycle, row: int) -> Status | None:
        rows = np.array([row], dtype=np.intp)
        return self.handle.profile.filter_rows(trial, rows).status(0)

    def _first_error(self, nested: Diagnosis) -> str | None:
        broken = [s for s in nested.own.values() if not s.code.rejected]
        return broken[0].message if broken else None


def _unschedulable(text: str, nominated_node: str | None = None) -> PostFilterResult:
    return PostFilterResult(Code.UNSCHEDULABLE, (f"preemption: {text}",), nominated_node)


def _importance(pod: PodInfo) -> tuple[int, float]:
    """Sort key: the most important pod first."""
    return (-pod.priority, pod.start_time)


def _was_preempted(pod: PodInfo) -> bool:
    return any(
        (c.type, c.status, c.reason) == PREEMPTED_CONDITION for c in pod.pod.status.conditions or ()
    )


def _split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose leaving would break a budget, the others), order kept.

    Important pods come first and use up the budget first; every matching budget is charged.
    """
    left = [budget.status.disruptions_allowed for budget in budgets]
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for pod in pods:
        breaks = False
        for index, budget in enumerate(budgets):
            if _covers(budget, pod):
                left[index] -= 1
                breaks |= left[index] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def _covers(budget: PodDisruptionBudget, pod: PodInfo) -> bool:
    if budget.metadata.namespace != pod.shape.namespace or not pod.shape.labels:
        return False
    try:
        selector = selector_of(budget.spec.selector)
    except SelectorError:
        return False
    if selector.empty or not selector.matches(pod.shape.labels):
        return False
    return pod.pod.metadata.name not in (budget.status.disrupted_pods or {})

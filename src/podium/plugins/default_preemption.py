"""DefaultPreemption: make room by removing less important pods from one node.

Here it is decided whether a pod may preempt, which nodes are worth a dry run and which of the
candidates is best; the dry run itself is in `preemption_dry_run.py`. Answers for a node are kept
until that node changes, because a burst of alike pods asks the same question again and again.
"""

from collections.abc import Sequence
from typing import Any

from podium.api.label_syntax import aggregate
from podium.api.workloads import PodDisruptionBudget
from podium.cluster.pod_info import PodInfo
from podium.framework.cycle import Cycle
from podium.framework.diagnosis import Diagnosis
from podium.framework.events import Action, Registration, Resource
from podium.framework.fit_message import fit_error
from podium.framework.handle import Handle
from podium.framework.points import PostFilterPlugin, PostFilterResult, PreEnqueuePlugin
from podium.framework.status import Code, Status, unresolvable
from podium.plugins.preemption_dry_run import Candidate, DryRun
from podium.plugins.preemption_memory import PreemptionMemory

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
PREEMPTION_RUNNING = unresolvable("waiting for the preemption for this pod to be finished")
NEVER = "not eligible due to preemptionPolicy=Never."
VICTIMS_TERMINATING = "not eligible due to a terminating pod on the nominated node."
PREEMPTED_CONDITION = ("DisruptionTarget", "True", "PreemptionByScheduler")


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin):
    name = "DefaultPreemption"

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._memory = PreemptionMemory()

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
            broken = [s.message for s in nested.own.values() if not s.code.rejected]
            if broken:
                return PostFilterResult(Code.ERROR, (f"preemption: {aggregate(broken)}",))
            return _unschedulable(fit_error(nested), nominated_node="")
        best = min(candidates, key=lambda candidate: candidate.rank)
        return PostFilterResult(Code.SUCCESS, nominated_node=best.node_name, victims=best.victims)

    def _not_eligible(self, cycle: Cycle, diagnosis: Diagnosis) -> str:
        """Why this pod may not preempt now, or an empty string."""
        pod = cycle.pod.pod
        if pod.spec.preemption_policy == "Never":
            return NEVER
        nominated = pod.status.nominated_node_name
        if not cycle.nodes.is_present(nominated):
            return ""
        row = cycle.nodes.row(nominated)
        if diagnosis.status_of(row).code is Code.UNRESOLVABLE:
            return ""
        leaving = any(
            other.priority < cycle.pod.priority and other.terminating and _was_preempted(other)
            for other in cycle.usage.pods(row)
        )
        return VICTIMS_TERMINATING if leaving else ""

    def _candidates(self, cycle: Cycle, diagnosis: Diagnosis) -> tuple[list[Candidate], Diagnosis]:
        """Nodes that victims would open, and why the others would not.

        Nodes are tried in snapshot order until enough candidates are found, one of them without
        breaking a budget.
        """
        nested = Diagnosis(diagnosis.node_count, absent=NOT_HELPFUL)
        rows = diagnosis.rows_with(Code.UNSCHEDULABLE, cycle.cluster.node_order())
        if not rows:
            return [], nested
        budgets = list(cycle.cluster.catalog.all(PodDisruptionBudget))
        dry_run = DryRun(cycle, self.handle.profile, budgets)
        want = self._enough(len(rows))
        found: list[Candidate] = []
        for start in range(0, len(rows), want):
            batch = rows[start : start + want]
            answers = self._memory.recall(cycle, self.handle.profile, batch)
            unknown = [row for row in batch if row not in answers]
            if unknown:
                fresh = dry_run.on_rows(unknown)
                self._memory.learn(cycle, self.handle.profile, fresh)
                answers.update(fresh)
            for row in batch:
                answer = answers[row]
                if isinstance(answer, Candidate):
                    found.append(answer)
                    if len(found) >= want and any(c.violations == 0 for c in found):
                        return found, nested
                else:
                    nested.own[row] = answer
        return found, nested

    def _enough(self, potential: int) -> int:
        percent: int = self.args.min_candidate_nodes_percentage
        least: int = self.args.min_candidate_nodes_absolute
        return max(1, min(potential, max(least, potential * percent // 100)))


def _unschedulable(text: str, nominated_node: str | None = None) -> PostFilterResult:
    return PostFilterResult(Code.UNSCHEDULABLE, (f"preemption: {text}",), nominated_node)


def _was_preempted(pod: PodInfo) -> bool:
    return any(
        (c.type, c.status, c.reason) == PREEMPTED_CONDITION for c in pod.pod.status.conditions or ()
    )

"""DefaultPreemption: make room by removing less important pods from one node.

Here it is decided whether a pod may preempt, which nodes are worth a dry run and which of the
candidates is best; the dry run itself is in `dry_run.py`, and whom it may take in
`victim_rules.py`. Answers for a node are kept
until that node changes, because a burst of alike pods asks the same question again and again.

Members of pod groups are a case of their own: with workload-aware preemption it is the group that
preempts, as a whole (`pod_groups.py`), and its members do not.
"""

from collections.abc import Sequence

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.field_errors import aggregate
from podium.scheduler.cluster.pod_group_state import GroupKey, PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.usage import Shadow
from podium.scheduler.framework.asking import interested
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis, fit_error
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.points import (
    Arguments,
    GroupTrial,
    PodGroupPostFilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
)
from podium.scheduler.framework.status import Code, Status, unresolvable
from podium.scheduler.plugins.default_preemption.dry_run import Candidate, DryRun
from podium.scheduler.plugins.default_preemption.extenders import Negotiation, Outcome
from podium.scheduler.plugins.default_preemption.memory import PreemptionMemory
from podium.scheduler.plugins.default_preemption.pod_groups import select_victims
from podium.scheduler.plugins.default_preemption.victim_rules import WEAKER_PODS, VictimRules

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
PREEMPTION_RUNNING = unresolvable("waiting for the preemption for this pod to be finished")
GROUP_PREEMPTION_RUNNING = unresolvable(
    "waiting for the preemption for this pod group to be finished"
)
GROUP_UNKNOWN = "pod group for pod not found"
GROUP_HAS_PLACEMENTS = "not eligible due to placement-based pod group scheduling limitation"
GROUP_PREEMPTS_ITSELF = "not eligible due to workload aware preemption enabled"
NEVER = "not eligible due to preemptionPolicy=Never."
NO_CANDIDATE = "no candidate node for preemption"
VICTIMS_TERMINATING = "not eligible due to a terminating pod on the nominated node."


class DefaultPreemption(PostFilterPlugin, PreEnqueuePlugin, PodGroupPostFilterPlugin):
    name = "DefaultPreemption"

    def __init__(self, args: Arguments, handle: Handle) -> None:
        super().__init__(args, handle)
        self._memory = PreemptionMemory()
        self._shadow = Shadow(handle.cluster.usage)
        self._placements = handle.gates["TopologyAwareWorkloadScheduling"]
        self._groups_preempt = handle.gates["WorkloadAwarePreemption"]
        self._extenders = tuple(e for e in handle.extenders if e.preempt_verb)

    def events(self) -> Sequence[Registration]:
        if not self.handle.gates["SchedulerAsyncPreemption"]:
            return ()
        return (Registration(Resource.POD, Action.DELETE, lambda *_: False),)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a preemptor back until its last victim is gone or going."""
        key = group_of(pod.pod) if self._groups_preempt else None
        if key is None:
            return PREEMPTION_RUNNING if self._is_preempting(pod.uid) else None
        try:
            group = pod_group(self.handle.cluster.catalog, key)
        except PodGroupMissing:
            return None
        return GROUP_PREEMPTION_RUNNING if self._is_preempting(group.uid) else None

    def preemptable_for(self, pods: Sequence[PodInfo]) -> list[PodInfo]:
        """Pods on nodes that might be made to leave for all of these together, as far as rules
        about victims go; whether that makes room is another question."""
        least = min(pod.priority for pod in pods)
        usage = self.handle.cluster.usage
        rows = self.handle.cluster.node_order().tolist()
        return [other for row in rows for other in usage.pods(row) if other.priority < least]

    def _is_preempting(self, uid: str) -> bool:
        last = self.handle.preempting.last_victim(uid)
        if last is None:
            return False
        held = self.handle.cluster.placements.get(last) if last else None
        return not last or (held is not None and not held.info.terminating)

    def pod_group_post_filter(self, group: PodGroup, members: Sequence[PodInfo]) -> GroupTrial:
        return select_victims(self.handle.cluster, group, members)

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> Outcome:
        key = group_of(cycle.pod.pod)
        refusal = self._left_to_the_group(key) if key is not None else ""
        rules = self.victim_rules(cycle)
        refusal = refusal or self._not_eligible(cycle, diagnosis, rules)
        if refusal:
            return _unschedulable(refusal)
        candidates, nested = self.find_candidates(cycle, diagnosis, rules)
        if not candidates:
            broken = [s.message for s in nested.own.values() if not s.code.rejected]
            if broken:
                return PostFilterResult(Code.ERROR, (f"preemption: {aggregate(broken)}",))
            return _unschedulable(fit_error(nested), nominated_node="")
        extenders = interested(self._extenders, cycle.pod.pod) if self._extenders else ()
        return Negotiation(cycle, _best).about(candidates, extenders)

    def victim_rules(self, cycle: Cycle) -> VictimRules:  # noqa: ARG002
        """Whom this pod may preempt."""
        return WEAKER_PODS

    def count_wanted(self, potential: int) -> int:
        """How many candidates are enough, of so many nodes that are worth a dry run."""
        percent: int = self.args.min_candidate_nodes_percentage
        least: int = self.args.min_candidate_nodes_absolute
        return max(1, min(potential, max(least, potential * percent // 100)))

    def _left_to_the_group(self, key: GroupKey) -> str:
        """Why a member of a group may not preempt by itself, or an empty string."""
        if self._placements:
            try:
                group = pod_group(self.handle.cluster.catalog, key)
            except PodGroupMissing:
                return GROUP_UNKNOWN
            if group.spec.scheduling_constraints is not None:
                return GROUP_HAS_PLACEMENTS
        return GROUP_PREEMPTS_ITSELF if self._groups_preempt else ""

    def _not_eligible(self, cycle: Cycle, diagnosis: Diagnosis, rules: VictimRules) -> str:
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
            other.terminating and rules.is_awaited(cycle, other) for other in cycle.usage.pods(row)
        )
        return VICTIMS_TERMINATING if leaving else ""

    def find_candidates(
        self, cycle: Cycle, diagnosis: Diagnosis, rules: VictimRules
    ) -> tuple[list[Candidate], Diagnosis]:
        """Nodes that victims would open, and why the others would not.

        Nodes are tried in snapshot order until enough candidates are found, one of them without
        breaking a budget.
        """
        nested = Diagnosis(diagnosis.node_count, absent=NOT_HELPFUL)
        rows = diagnosis.rows_with(Code.UNSCHEDULABLE, cycle.cluster.node_order())
        if not rows:
            return [], nested
        budgets = list(cycle.cluster.catalog.all(PodDisruptionBudget))
        dry_run = DryRun(cycle, self.handle.profile, budgets, self._shadow, rules)
        want = self.count_wanted(len(rows))
        found: list[Candidate] = []
        for start in range(0, len(rows), want):
            batch = rows[start : start + want]
            answers = (
                self._answers(cycle, dry_run, batch) if rules.stable else dry_run.on_rows(batch)
            )
            for row in batch:
                answer = answers[row]
                if isinstance(answer, Candidate):
                    found.append(answer)
                    if len(found) >= want and any(c.violations == 0 for c in found):
                        return found, nested
                else:
                    nested.own[row] = answer
        return found, nested

    def _answers(
        self, cycle: Cycle, dry_run: DryRun, rows: Sequence[int]
    ) -> dict[int, Candidate | Status]:
        """Answers that are remembered, and dry runs for the rest."""
        answers = self._memory.recall(cycle, self.handle.profile, rows)
        unknown = [row for row in rows if row not in answers]
        if unknown:
            fresh = dry_run.on_rows(unknown)
            self._memory.learn(cycle, self.handle.profile, fresh)
            answers.update(fresh)
        return answers


def _best(candidates: Sequence[Candidate]) -> PostFilterResult:
    if not candidates:
        return _unschedulable(NO_CANDIDATE)
    best = min(candidates, key=lambda candidate: candidate.rank)
    return PostFilterResult(Code.SUCCESS, nominated_node=best.node_name, victims=best.victims)


def _unschedulable(text: str, nominated_node: str | None = None) -> PostFilterResult:
    return PostFilterResult(Code.UNSCHEDULABLE, (f"preemption: {text}",), nominated_node)

"""DefaultPreemption: make room by removing less important pods from one node.

Here it is decided whether a pod may preempt, which nodes are worth a dry run and which of the
candidates is best; the dry run itself, and whom it may take, is in `dry_run.py`. Answers for a node
are kept until that node changes, because a burst of alike pods asks the same question again and
again.

Members of pod groups are a case of their own: with workload-aware preemption it is the group that
preempts, as a whole (`pod_groups.py`), and its members do not.

What extenders make of the candidates of a preemption. Each is told which pods would leave which
nodes, and answers with the nodes that may be cleared and the pods that have to go there, which may
be others than those it was told of. Its answer is what the next one is asked about. Only pods that
are on a node now can be victims of it.

Sources: `callExtenders` in `pkg/scheduler/framework/preemption/preemption.go` and
`ProcessPreemption` in `pkg/scheduler/extender.go`.

Dry-run answers worth keeping: what a node would have to give up for pods of one kind. An answer
holds while nothing it was made from changed: the node and the pods on it, nominations there,
budgets. It is kept only where nodes do not influence each other, and only for pods without volumes
or claims, whose answers depend on more than the node. What changed is told by the logs of the
tables, so that nobody has to look at every answer to find the few that do not hold.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.field_errors import aggregate
from podium.scheduler.cluster.catalog import GroupKey, PodGroupMissing, group_of, pod_group
from podium.scheduler.cluster.pod_info import PodInfo, PodShape
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.cluster.usage import Shadow
from podium.scheduler.config.types import Extender
from podium.scheduler.framework.asking import (
    Answers,
    Ask,
    CallFailed,
    PreemptAnswer,
    PreemptCall,
    PreemptVictims,
    find_interested,
)
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
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import Code, Status, unresolvable
from podium.scheduler.plugins.default_preemption.dry_run import (
    WEAKER_PODS,
    Candidate,
    DryRun,
    VictimRules,
    rank,
)
from podium.scheduler.plugins.default_preemption.pod_groups import select_victims

NODE_UNKNOWN = 'nodeinfo not found for node name "{}"'
POD_UNKNOWN = (
    "extender: {} claims to preempt pod (UID: &{{{}}}) on node: {},"
    " but the pod is not found on that node"
)
NO_VICTIMS = 'expected at least one victim pod on node "{}"'

Outcome = PostFilterResult | Ask[PostFilterResult]
"""What PostFilter answers, at once or after more questions."""


class _BadAnswer(Exception):
    """An answer that cannot be meant."""


class Negotiation:
    """Asks one extender after the other; `settle` makes the outcome of the candidates left."""

    def __init__(
        self, cycle: Cycle, settle: Callable[[Sequence[Candidate]], PostFilterResult]
    ) -> None:
        self._cycle = cycle
        self._settle = settle

    def about(self, candidates: Sequence[Candidate], extenders: Sequence[Extender]) -> Outcome:
        if not candidates or not extenders:
            return self._settle(candidates)
        victims = {
            candidate.node_name: PreemptVictims(
                tuple(victim.pod for victim in candidate.victims), candidate.violations
            )
            for candidate in candidates
        }
        call = PreemptCall(extenders[0], self._cycle.pod.pod, victims)
        return Ask((call,), lambda answers: self._go_on(answers, candidates, extenders))

    def _go_on(
        self, answers: Answers, candidates: Sequence[Candidate], extenders: Sequence[Extender]
    ) -> Outcome:
        extender, left = extenders[0], extenders[1:]
        try:
            return self.about(self._convert_answer(answers, extender), left)
        except _BadAnswer as problem:
            if extender.ignorable:
                return self.about(candidates, left)
            # upstream: the nomination stays; the text joins the message of the attempt.
            return PostFilterResult(Code.ERROR, (f"preemption: {problem}",))

    def _convert_answer(self, answers: Answers, extender: Extender) -> list[Candidate]:
        (answer,) = answers
        if isinstance(answer, CallFailed):
            raise _BadAnswer(answer.problem)
        if not isinstance(answer, PreemptAnswer):
            raise TypeError(f"a preemption was answered with {type(answer).__name__}")
        found = {
            name: (self._victims(extender, name, meta.uids), meta.violations)
            for name, meta in answer.victims.items()
        }
        idle = [name for name, (victims, _) in found.items() if not victims]
        if idle and not extender.ignorable:
            raise _BadAnswer(NO_VICTIMS.format(idle[0]))
        return [
            Candidate(name, victims, violations, rank(name, victims, violations))
            for name, (victims, violations) in found.items()
            if victims
        ]

    def _victims(
        self, extender: Extender, node_name: str, uids: Sequence[str]
    ) -> tuple[PodInfo, ...]:
        nodes = self._cycle.nodes
        if not nodes.is_present(node_name):
            raise _BadAnswer(NODE_UNKNOWN.format(node_name))
        there = {pod.uid: pod for pod in self._cycle.usage.pods(nodes.row(node_name))}
        for uid in uids:
            if uid not in there:
                raise _BadAnswer(POD_UNKNOWN.format(extender.url_prefix, uid, node_name))
        return tuple(there[uid] for uid in uids)


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
        extenders = find_interested(self._extenders, cycle.pod.pod) if self._extenders else ()
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


_MAX_KINDS = 64

_Kind = tuple[PodShape, int]
_Moment = tuple[int, int, int]


class _Answers:
    """Answers for pods of one kind, as they were at a moment: of nodes, usage and nominations."""

    __slots__ = ("by_row", "membership", "moment")

    def __init__(self) -> None:
        self.by_row: dict[int, Candidate | Status] = {}
        self.moment: _Moment = (-1, -1, -1)
        self.membership = -1

    def catch_up(self, cluster: Cluster) -> None:
        """Forget the answers that something has happened to."""
        nodes, usage, nominator = cluster.nodes, cluster.usage, cluster.nominator
        moment = (nodes.log.generation, usage.log.generation, nominator.version)
        if moment == self.moment and nodes.membership == self.membership:
            return
        seen_nodes, seen_usage, seen_nominations = self.moment
        changed = nodes.log.since(seen_nodes)
        taken = usage.log.since(seen_usage)
        names = nominator.changed_since(seen_nominations)
        same_nodes = nodes.membership == self.membership
        self.moment, self.membership = moment, nodes.membership
        if changed is None or taken is None or names is None or not same_nodes:
            self.by_row.clear()
            return
        for row in {*changed, *taken, *map(nodes.row, names)}:
            self.by_row.pop(row, None)


class PreemptionMemory:
    def __init__(self) -> None:
        self._answers: OrderedDict[_Kind, _Answers] = OrderedDict()
        self._budgets = -1

    def recall(
        self, cycle: Cycle, profile: Profile, rows: Iterable[int]
    ) -> dict[int, Candidate | Status]:
        """Answers that still hold, for any of the rows."""
        if not self._usable(cycle, profile):
            return {}
        version = cycle.cluster.catalog.version(PodDisruptionBudget)
        if version != self._budgets:
            self._budgets = version
            self._answers.clear()
        known = self._answers.get(self._kind(cycle))
        if known is None:
            return {}
        known.catch_up(cycle.cluster)
        by_row, own = known.by_row, self._own_row(cycle)
        return {row: by_row[row] for row in rows if row in by_row and row != own}

    def learn(self, cycle: Cycle, profile: Profile, answers: dict[int, Candidate | Status]) -> None:
        if not self._usable(cycle, profile):
            return
        kind = self._kind(cycle)
        known = self._answers.setdefault(kind, _Answers())
        self._answers.move_to_end(kind)
        if len(self._answers) > _MAX_KINDS:
            self._answers.popitem(last=False)
        known.catch_up(cycle.cluster)
        own = self._own_row(cycle)
        for row, answer in answers.items():
            if row != own and (isinstance(answer, Candidate) or answer.code.rejected):
                known.by_row[row] = answer

    def _kind(self, cycle: Cycle) -> _Kind:
        return (cycle.pod.shape, cycle.pod.priority)

    def _own_row(self, cycle: Cycle) -> int:
        """The row that the pod itself is nominated to: there it meets others than its like do."""
        return cycle.nodes.row(cycle.cluster.nominator.node_of(cycle.pod.uid))

    def _usable(self, cycle: Cycle, profile: Profile) -> bool:
        return (
            cycle.pod.shape.is_plain
            and cycle.usage is cycle.cluster.usage
            and profile.rows_are_independent(cycle)
        )

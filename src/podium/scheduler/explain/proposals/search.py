"""From a pod that does not fit to proven proposals, ranked by how little they disturb.

Plugins think of changes from what they object to, families here of those that no plugin knows; the
engine then tries each of them. One change is looked for first. Only where none suffices that is
light enough are combinations of two tried, and of three if there is nothing else: a node with two
objecting filters asks for a change for the first and, in the cluster where that one is made, for a
change for the second.

A change that helps others as well is tried with them: pods that wait and come first in the queue
take their places before this one. Contract: the work is bounded by counting trials, never by time,
so the answer for a cluster is always the same.

Three families are short and are here: what plugins propose themselves (`Plugin.propose_for`),
fewer pods of the workload, and the name of a scheduler that nobody serves.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Final

from msgspec.structs import replace

from podium.golang.errors import closest
from podium.kubernetes.controllers.workloads import Workload as Controller
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import uid_of
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.causes.refusals import explained_by_plugin
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.proposals.admitting import Admitting
from podium.scheduler.explain.proposals.commands import commands_for
from podium.scheduler.explain.proposals.evictions import propose_evictions, propose_priority
from podium.scheduler.explain.proposals.machines import propose_larger_nodes, propose_nodes
from podium.scheduler.explain.proposals.proposal import Proposal, ProposalStep
from podium.scheduler.explain.proposals.rehearsal import RehearsalOutcome, rehearse
from podium.scheduler.explain.proposals.shell import Kubectl
from podium.scheduler.explain.proposals.situation import SearchSituation, look, refusal_of
from podium.scheduler.explain.proposals.workload import OwnedPods, workload_of
from podium.scheduler.explain.trial import Trial
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.plugin import ChangeKind, ProposedChange
from podium.scheduler.framework.points import Plugin

_DISTURBANCE: Final = {
    ChangeKind.CORRECT_NAME: disturbance.CORRECT_NAME,
    ChangeKind.GIVE_EXISTING_VALUE: disturbance.GIVE_EXISTING_VALUE,
    ChangeKind.DROP_REQUIREMENT: disturbance.DROP_REQUIREMENT,
    ChangeKind.LOWER_REQUEST: disturbance.LOWER_REQUEST,
    ChangeKind.CREATE_OBJECT: disturbance.CREATE_OBJECT,
    ChangeKind.REPLACE_OBJECT: disturbance.REPLACE_OBJECT,
}


def propose_changes_of_plugins(situation: SearchSituation) -> Iterator[ProposalStep]:
    engine = situation.trial.engine
    # A pod of a scheduler that nobody serves is asked about as if it had another one.
    profile = engine.profiles.get(situation.pod.spec.scheduler_name, engine.first_profile)
    for plugin in profile.plugins.values():
        for change in _ask(plugin, situation):
            hypothesis = situation.hypothesis
            if change.pod is not None:
                hypothesis = hypothesis.but_with(pod=change.pod)
            if change.objects or change.nodes:
                hypothesis = hypothesis.but_with(objects=change.objects, nodes=change.nodes)
            if hypothesis is not situation.hypothesis:
                kind = change.kind
                weight = _DISTURBANCE[kind] if isinstance(kind, ChangeKind) else kind
                yield ProposalStep(change.code, change.sentence, weight, hypothesis)


def _ask(plugin: Plugin, situation: SearchSituation) -> list[ProposedChange]:
    try:
        found = list(plugin.propose_for(situation))
    except Exception:  # a plugin that cannot think of changes has none
        return []
    return [each for each in found if isinstance(each, ProposedChange)]


_SCALED = frozenset({"Deployment", "ReplicaSet", "ReplicationController"})


def propose_fewer_replicas(situation: SearchSituation) -> Iterator[ProposalStep]:
    """Pods that wait go first when a workload is scaled down, so those that have a node stay."""
    workload = situation.workload
    if workload is None or not workload.placed:
        return
    left = len(workload.placed)
    if workload.owner.kind == "StatefulSet":
        # The last ordinals go, whether they wait or not.
        first = {f"{workload.owner.name}-{at}" for at in range(left)}
        if {pod.name for pod in workload.placed} != first:
            return
    elif workload.owner.kind not in _SCALED:
        return
    yield ProposalStep(
        "scale-down",
        f"scale {workload.target} from {workload.wanted} to {left}, the pods that have a node",
        disturbance.SCALE_DOWN,
        situation.hypothesis.but_with(replicas=left),
    )


def propose_other_scheduler(situation: SearchSituation) -> Iterator[ProposalStep]:
    pod, profiles = situation.pod, situation.trial.engine.profiles
    name = pod.spec.scheduler_name
    if name in profiles:
        return
    alike = closest(name, list(profiles))
    for profile in sorted(profiles, key=lambda each: each != alike):
        typo = profile == alike
        yield situation.step_for_pod(
            "change-scheduler-name",
            f"use schedulerName {profile} in place of {name}, which nobody here serves",
            disturbance.CORRECT_NAME if typo else disturbance.CHANGE_SCHEDULER,
            replace(pod, spec=replace(pod.spec, scheduler_name=profile)),
        )


Family = Callable[[SearchSituation], Iterator[ProposalStep]]

LIGHT: tuple[Family, ...] = (
    propose_other_scheduler,
    propose_changes_of_plugins,
    propose_fewer_replicas,
)
HEAVY: tuple[Family, ...] = (
    propose_evictions,
    propose_priority,
    propose_nodes,
)

MAX_CHANGES = 3
"""In one proposal."""
MAX_PROPOSALS = 12
MAX_OF_A_KIND = 2
"""Proposals with the same code."""
ONE_IS_ENOUGH = frozenset({"add-node", "add-larger-node", "label-node", "uncordon-node"})
"""Codes of which the second proposal says no more than the first."""
MAX_RIVALS = 64
"""Pods ahead in the queue that are tried with a change."""
MAX_NODE_LOOKS = 300_000
"""Trials times nodes."""
MIN_TRIALS, MAX_TRIALS = 60, 400
MAX_REHEARSED = 4_000
"""Attempts for the pods of workloads, in all rehearsals."""


@dataclass(slots=True)
class ProposalAnswer:
    """`node` is where the pod goes as things are, after `victims` have left. Otherwise `reason` is
    why it does not fit and `proposals`, best first, are what would make it fit; `is_complete` is
    false if the search was cut short. A pod that has lost the node it had before it was bound is
    `turned_away_from` that one, and no change is looked for. `workload` is what the pod belongs
    to, if anything, with all its pods."""

    pod: Pod
    node: str = ""
    reason: str = ""
    proposals: list[Proposal] = field(default_factory=list)
    trials: int = 0
    is_complete: bool = True
    victims: tuple[str, ...] = ()
    turned_away_from: str = ""
    workload: OwnedPods | None = None


def find_proposals(
    trial: Trial,
    controllers: Iterable[Controller] = (),
    kubectl: Kubectl | None = None,
    server: Admitting | None = None,
    *,
    first_only: bool = False,
) -> ProposalAnswer:
    """What would make the pod of a trial fit, and its workload whole. `controllers` are objects
    that say how pods are replaced, as far as they are known; `kubectl` is how commands reach the
    cluster, and `server` is asked whether it takes what they write. With `first_only` the search
    ends when no other proposal can come before the first one."""
    search = _Search(trial, list(controllers), kubectl or Kubectl(), server, first_only=first_only)
    return search.run()


class _Search:
    def __init__(
        self,
        trial: Trial,
        controllers: list[Controller],
        kubectl: Kubectl,
        server: Admitting | None,
        *,
        first_only: bool,
    ) -> None:
        self._trial = trial
        self._first_only = first_only
        self._server = server
        self._kubectl = kubectl
        self._workload = workload_of(trial.pod, trial.engine, controllers)
        self._rehearsed = 0
        self._found: dict[str, Proposal] = {}
        self._kinds: Counter[str] = Counter()
        nodes = max(1, len(trial.engine.cluster.node_order()))
        self._most = min(MAX_TRIALS, max(MIN_TRIALS, MAX_NODE_LOOKS // nodes))
        self._rivals = _pods_ahead(trial)

    def run(self) -> ProposalAnswer:
        trial, pod = self._trial, self._trial.pod
        answer = ProposalAnswer(pod, workload=self._workload)
        if pod.metadata.deletion_timestamp is not None:
            answer.reason = "it is being deleted, and a pod that is being deleted gets no node"
            return answer
        start = Hypothesis(pod)
        decision = trial.decide()
        if decision.bound is not None:
            answer.node, answer.trials = decision.bound, trial.count
            return answer
        answer.reason = _reason(trial.engine, decision)
        self._explore((), start, 1, LIGHT)
        if not self._has_first:
            self._explore_beyond(start)
        ranked = sorted(self._found.values(), key=lambda proposal: proposal.rank)
        answer.proposals = ranked[:MAX_PROPOSALS]
        answer.trials, answer.is_complete = trial.count, not self._is_spent
        return answer

    @property
    def _has_first(self) -> bool:
        """Whether the first proposal is wanted alone and known: what comes later disturbs more."""
        return self._first_only and self._least_disturbance() <= disturbance.GOOD_ENOUGH

    def _explore_beyond(self, start: Hypothesis) -> None:
        self._explore((), start, 1, HEAVY)
        if not self._kinds["add-node"]:
            self._explore((), start, 1, (propose_larger_nodes,))
        if self._least_disturbance() > disturbance.GOOD_ENOUGH:
            self._explore((), start, 2, LIGHT)
        if not self._found:
            self._explore_with_heavy(start)
        if not self._found:
            self._explore((), start, MAX_CHANGES, LIGHT)

    def _least_disturbance(self) -> float:
        return min((proposal.disturbance for proposal in self._found.values()), default=inf)

    def _explore_with_heavy(self, start: Hypothesis) -> None:
        """A light change and then a heavy one, for pods for which neither alone is enough."""
        found, _ = self._steps(start, 2, LIGHT)
        for step in found:
            if self._found or self._is_spent:
                return
            self._explore((step,), step.hypothesis, 1, (*HEAVY, propose_larger_nodes))

    @property
    def _is_spent(self) -> bool:
        return self._trial.count >= self._most or self._rehearsed >= MAX_REHEARSED

    def _explore(
        self,
        steps: tuple[ProposalStep, ...],
        hypothesis: Hypothesis,
        changes_left: int,
        families: tuple[Family, ...],
        among: frozenset[str] | None = None,
    ) -> None:
        found, targets = self._steps(hypothesis, changes_left, families, among)
        for step in found:
            if self._is_spent:
                return
            if self._first_only and not steps and step.disturbance > self._least_disturbance():
                return
            taken = (*steps, step)
            code = "+".join(each.code for each in taken)
            most = 1 if step.code in ONE_IS_ENOUGH else MAX_OF_A_KIND
            if self._has_part_of(taken) or self._kinds[code] >= most:
                continue
            if changes_left > 1:
                self._explore(taken, step.hypothesis, changes_left - 1, families, targets)
            elif self._prove(taken, among if steps else None):
                self._kinds[code] += 1

    def _has_part_of(self, steps: tuple[ProposalStep, ...]) -> bool:
        """Whether some of the changes are known to be enough."""
        sentences = {step.sentence for step in steps}
        return any(
            {step.sentence for step in known.steps} <= sentences for known in self._found.values()
        )

    def _steps(
        self,
        hypothesis: Hypothesis,
        changes_left: int,
        families: tuple[Family, ...],
        among: frozenset[str] | None = None,
    ) -> tuple[list[ProposalStep], frozenset[str] | None]:
        """Changes that are worth a trial, the least disturbing first, and the nodes that they are
        for."""
        with self._trial.with_hypothesis(hypothesis):
            situation = look(self._trial, hypothesis, changes_left, among, self._workload)
            if situation.decision.bound is not None:
                return [], None
            steps = [step for family in families for step in family(situation)]
        return sorted(steps, key=lambda step: step.disturbance), situation.targets

    def _prove(self, steps: tuple[ProposalStep, ...], among: frozenset[str] | None) -> bool:
        """Rehearse the changes, and keep them if more pods get a node. Several of them have to be
        for the same nodes: where another node takes the pod, one was not needed."""
        trial, hypothesis = self._trial, steps[-1].hypothesis
        outcome = self._rehearse(hypothesis)
        if outcome is None or not outcome.helps or not _is_as_told(hypothesis, outcome):
            return False
        nodes = 0
        if not trial.engine.configuration.extenders and hypothesis.replicas is None:
            with trial.with_hypothesis(hypothesis):
                feasible = trial.feasible(hypothesis.pod)
            nodes = len(feasible)
            if among is not None and not among.issuperset(feasible):
                return False
        proposal = Proposal(steps, outcome, nodes)
        carried_out = commands_for(proposal, trial.pod, trial.engine, self._workload, self._kubectl)
        if carried_out is not None:
            self._found.setdefault(proposal.sentence, carried_out)
        return carried_out is not None

    def _rehearse(self, hypothesis: Hypothesis) -> RehearsalOutcome | None:
        """It counts as one trial, however many pods take part."""
        count = self._trial.count
        outcome = rehearse(self._trial, hypothesis, self._workload, self._rivals, self._server)
        self._rehearsed += outcome.attempts if outcome is not None else 0
        self._trial.count = count + 1
        return outcome


def _is_as_told(hypothesis: Hypothesis, outcome: RehearsalOutcome) -> bool:
    """Whether nobody is evicted beyond those whom a proposal names."""
    if not hypothesis.preempted:
        return True
    return not outcome.preempted


def _pods_ahead(trial: Trial) -> list[Pod]:
    """Pods that wait as well and are tried first."""
    engine = trial.engine
    own = engine.queue.get(f"{trial.pod.metadata.namespace}/{trial.pod.metadata.name}")
    if own is None:
        return []
    sort_key = engine.first_profile.queue_sort.sort_key
    ahead = sorted(
        (
            queued
            for queued in engine.queue
            if not queued.gating_plugin
            and queued.info.uid != uid_of(trial.pod)
            and sort_key(queued) < sort_key(own)
        ),
        key=sort_key,
    )
    return [queued.info.pod for queued in ahead[:MAX_RIVALS]]


def _reason(engine: Engine, decision: Decision) -> str:
    refusal = refusal_of(decision)
    told = explained_by_plugin(engine, decision.pod.pod, refusal) if refusal is not None else None
    if told is not None:
        return told.sentence
    if decision.pre_enqueue is not None:
        return decision.pre_enqueue.message
    return decision.message or ""

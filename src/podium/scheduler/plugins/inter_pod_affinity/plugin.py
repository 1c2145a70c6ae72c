"""InterPodAffinity: place pods near or far from other pods.

Required terms filter, preferred ones score, in both directions: what the pod asks of pods on nodes
and what those ask of it. The terms are resolved in `terms.py` and counted in
`filtering.py` and `scoring.py`; this file ties them to the extension points and
says which events may help a rejected pod (`pkg/scheduler/framework/plugins/interpodaffinity`).
"""

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Final

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.pod_affinity import AffinityTerm
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.pod_classes import TermKind
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.plugin_args import InterPodAffinityArgs
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import PlacementLimits
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, NodeRequirement
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import (
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.status import SKIP, Status, error, unresolvable
from podium.scheduler.plugins.inter_pod_affinity.counting import (
    AffinityFilterState,
    AffinityScoreState,
    count_required,
    normalize,
    weigh_domains,
)
from podium.scheduler.plugins.inter_pod_affinity.terms import CarriedTerms, TermQueries
from podium.scheduler.plugins.topology import DomainSums, Topologies

HINTS_NEED_ALL_ANTI_TERMS: Final[bool] = True
"""Quirk Q8: a deleted pod helps only if it matched every one of the waiting pod's anti-affinity
terms, although each of them alone can reject. Hints do not resolve namespace selectors either."""

_SCORE_KEY = "InterPodAffinity/score"


class InterPodAffinity(
    PreFilterPlugin, PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
):
    name = "InterPodAffinity"
    spares_new_nodes = True
    closes_domains = True
    narrows = NodeRequirement.PODS
    builds_on = MappingProxyType({"filter": "preFilter", "score": "preScore"})
    in_range = True

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        cluster = handle.cluster
        self._topologies = Topologies(cluster.nodes)
        self._sums = DomainSums(cluster.classes)
        self._queries = TermQueries(cluster.catalog)
        self._carried = CarriedTerms(cluster.catalog, cluster.classes)
        self._hard_weight = args.hard_pod_affinity_weight
        self._own_preferences_only = args.ignore_preferred_terms_of_existing_pods

    def pre_filter(self, cycle: Cycle) -> Status | None:
        problem = cycle.pod.shape.affinity.error
        if problem is not None:
            return unresolvable(f"parsing pod: {problem}")
        state = count_required(cycle, self._topologies, self._sums, self._queries, self._carried)
        # upstream: a skipped filter follows no trial either, so that the anti-affinity of
        # nominated pods cannot reject this pod (quirk Q6).
        if state.idle:
            return SKIP
        cycle.write(self.name, state)
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        """Without terms of its own, and while nobody carries one that means it, a pod has nothing
        to count."""
        shape = cycle.pod.shape
        terms = shape.affinity
        if terms.required_affinity or terms.required_anti:
            return False
        return not self._carried.find_matching("required_anti", shape)

    def looks_at_sums(self, cycle: Cycle) -> bool:
        """Others' terms stay as they are while pods without any come."""
        terms = cycle.pod.shape.affinity
        return not terms.required_affinity and not terms.required_anti

    def state_limits(self, cycle: Cycle) -> PlacementLimits:  # noqa: ARG002
        return PlacementLimits(affinity=True, says_all=True)

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        self._filter_state(cycle).shift(cycle, pod, row, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        self._filter_state(cycle).shift(cycle, pod, row, -1)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return self._filter_state(cycle).verdict(rows)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        terms = cycle.pod.shape.affinity
        prefers = terms.preferred_affinity or terms.preferred_anti
        # upstream: a pod with preferences of its own does get to know those of others.
        if self._own_preferences_only and not prefers:
            return SKIP
        if terms.error is not None:
            return error(f"failed to parse pod: {terms.error}")
        state = weigh_domains(
            cycle,
            self._topologies,
            self._sums,
            self._queries,
            self._carried,
            hard_weight=self._hard_weight,
        )
        if state is None:
            return SKIP
        cycle.write(_SCORE_KEY, state)
        return None

    def pre_score_stays(self, cycle: Cycle) -> bool:
        shape = cycle.pod.shape
        if shape.affinity.preferred_affinity or shape.affinity.preferred_anti:
            return False
        if self._own_preferences_only:
            return True
        kinds: tuple[TermKind, ...] = ("preferred_affinity", "preferred_anti", "required_affinity")
        return not any(self._carried.find_matching(kind, shape) for kind in kinds)

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return self._score_state(cycle).raw(rows)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return normalize(scores)

    def _filter_state(self, cycle: Cycle) -> AffinityFilterState:
        try:
            return cycle.read(self.name, AffinityFilterState)
        except StateMissing as missing:
            text = f'error reading "PreFilterInterPodAffinity" from cycleState: {missing}'
            raise StateMissing(text) from missing

    def _score_state(self, cycle: Cycle) -> AffinityScoreState:
        try:
            return cycle.read(_SCORE_KEY, AffinityScoreState)
        except StateMissing as missing:
            text = f'failed to read "PreScoreInterPodAffinity" from cycleState: {missing}'
            raise StateMissing(text) from missing

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.inter_pod_affinity.explanations import find_affinity_conflicts

        return find_affinity_conflicts(view, among)

    def narrow_nodes(self, view: AttemptView) -> Narrowing:
        from podium.scheduler.plugins.inter_pod_affinity.explanations import narrow_by_affinity

        return narrow_by_affinity(view)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.inter_pod_affinity.explanations import propose_other_affinity

        return propose_other_affinity(situation)

    def find_blockers(self, situation: Situation) -> Callable[[str], list[PodInfo]]:
        from podium.scheduler.plugins.inter_pod_affinity.explanations import find_blockers

        return find_blockers(situation)

    def events(self) -> Sequence[Registration]:
        pod_actions = Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL
        return (
            Registration(Resource.POD, pod_actions, self._pod_hint),
            Registration(Resource.NODE, node_actions, self._node_hint),
        )

    def _pod_hint(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:
        if old is not None and new is not None and waiting.is_about(new):
            return True
        if any(pod is not None and not _is_placed(pod) for pod in (old, new)):
            return False
        if _is_broken(waiting):
            return True
        terms = waiting.shape.affinity
        attracted, repelled = terms.required_affinity, terms.required_anti
        if old is not None and new is not None:
            starts = _matches_all(attracted, new) and not _matches_all(attracted, old)
            return starts or (_repels(repelled, old) and not _repels(repelled, new))
        if new is not None:
            return _matches_all(attracted, new)
        if old is None or _repels(repelled, old):
            return True
        gone = self.handle.cluster.infos.of(old)
        return _is_broken(gone) or _matches_all(gone.shape.affinity.required_anti, waiting.pod)

    def _node_hint(self, waiting: PodInfo, old: Node | None, new: Node) -> bool:
        if _is_broken(waiting):
            return True
        terms = waiting.shape.affinity
        before = (old.metadata.labels or {}) if old is not None else {}
        after = new.metadata.labels or {}
        for term in terms.required_affinity:
            key = term.topology_key
            if key in after and after[key] != before.get(key):
                return True
        if old is None:
            return bool(terms.required_anti)
        return any(
            term.topology_key in before
            and before[term.topology_key] != after.get(term.topology_key)
            for term in terms.required_anti
        )


def _is_placed(pod: Pod) -> bool:
    return bool(pod.spec.node_name or pod.status.nominated_node_name)


def _matches_all(terms: Sequence[AffinityTerm], pod: Pod) -> bool:
    """Whether there are terms and all of them mean a pod, as far as its own object tells."""
    return bool(terms) and all(_means(term, pod) for term in terms)


def _repels(terms: Sequence[AffinityTerm], pod: Pod) -> bool:
    if HINTS_NEED_ALL_ANTI_TERMS:
        return _matches_all(terms, pod)
    return any(_means(term, pod) for term in terms)


def _means(term: AffinityTerm, pod: Pod) -> bool:
    return term.matches(pod.metadata.namespace, pod.metadata.labels, None)


def _is_broken(pod: PodInfo) -> bool:
    """Whether required terms are written that cannot be parsed."""
    affinity = pod.pod.spec.affinity
    if pod.shape.affinity.error is None or affinity is None:
        return False
    terms = pod.shape.affinity
    return any(
        written is not None
        and bool(written.required_during_scheduling_ignored_during_execution)
        and not parsed
        for written, parsed in (
            (affinity.pod_affinity, terms.required_affinity),
            (affinity.pod_anti_affinity, terms.required_anti),
        )
    )

"""PodTopologySpread: spread like pods over zones, hosts or any other topology.

DoNotSchedule constraints filter nodes whose domain would get too far ahead of the emptiest one;
ScheduleAnyway constraints score them. Which constraints hold is `constraints.py`, the
counting is `filtering.py` and `scoring.py`; this file ties them to the extension
points and says which events may help a rejected pod
(`pkg/scheduler/framework/plugins/podtopologyspread`).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.labels import SelectorError
from podium.scheduler.cluster.growth import Ints, Mask, Rows
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.config.plugin_args import PodTopologySpreadArgs
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import PlacementLimits, SpreadLimit
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding
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
from podium.scheduler.framework.status import SKIP, Status, error
from podium.scheduler.plugins.pod_topology_spread.constraints import (
    HARD,
    SOFT,
    SpreadConstraint,
    SpreadConstraints,
)
from podium.scheduler.plugins.pod_topology_spread.counting import (
    SpreadFilterState,
    SpreadScoreState,
    count_hard,
    prepare_scores,
)
from podium.scheduler.plugins.topology import DomainSums, Topologies

_HARD_FAILED = "get constraints from pod: obtaining pod's hard topology spread constraints: "
_SOFT_FAILED = "calculating preScoreState: obtaining pod's soft topology spread constraints: "

_SCORE_KEY = "PodTopologySpread/score"


class PodTopologySpread(
    PreFilterPlugin, PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin
):
    name = "PodTopologySpread"
    spares_new_nodes = True
    eviction_helps = False
    builds_on = MappingProxyType({"filter": "preFilter", "score": "preScore"})
    in_range = True

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        gates = handle.gates
        self._constraints = SpreadConstraints(
            args,
            handle.cluster.catalog,
            match_label_keys=gates["MatchLabelKeysInPodTopologySpread"],
        )
        self._comparison = gates["TaintTolerationComparisonOperators"]
        self._topologies = Topologies(handle.cluster.nodes)
        self._sums = DomainSums(handle.cluster.classes)

    def pre_filter(self, cycle: Cycle) -> Status | None:
        try:
            constraints = self._constraints.of(cycle.pod, HARD)
        except SelectorError as problem:
            return error(f"{_HARD_FAILED}{problem}")
        if not constraints:
            return SKIP
        state = count_hard(
            cycle, self._topologies, self._sums, constraints, comparison=self._comparison
        )
        cycle.write(self.name, state)
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_filter

    def state_limits(self, cycle: Cycle) -> PlacementLimits:
        state = cycle.states.get(self.name)
        spread: Sequence[SpreadLimit] = ()
        if isinstance(state, SpreadFilterState) and self.name not in cycle.skip_filter:
            spread = state.limits()
        return PlacementLimits(spread=spread, says_all=True)

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        self._filter_state(cycle).shift(pod, row, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        self._filter_state(cycle).shift(pod, row, -1)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return self._filter_state(cycle).verdict(rows)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:
        try:
            constraints = self._constraints.of(cycle.pod, SOFT)
        except SelectorError as problem:
            return error(f"{_SOFT_FAILED}{problem}")
        if not constraints:
            return SKIP
        state = prepare_scores(
            cycle,
            rows,
            self._topologies,
            self._sums,
            constraints,
            needs_all_keys=self._constraints.needs_all_keys(cycle.pod),
            comparison=self._comparison,
        )
        cycle.write(_SCORE_KEY, state)
        return None

    def pre_score_stays(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_score

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return self._score_state(cycle).raw(rows)

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:
        return self._score_state(cycle).normalize(rows, scores)

    def _filter_state(self, cycle: Cycle) -> SpreadFilterState:
        try:
            return cycle.read(self.name, SpreadFilterState)
        except StateMissing as missing:
            text = f'reading "PreFilterPodTopologySpread" from cycleState: {missing}'
            raise StateMissing(text) from missing

    def _score_state(self, cycle: Cycle) -> SpreadScoreState:
        try:
            return cycle.read(_SCORE_KEY, SpreadScoreState)
        except StateMissing as missing:
            text = f'error reading "PreScorePodTopologySpread" from cycleState: {missing}'
            raise StateMissing(text) from missing

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.pod_topology_spread.explanations import find_skew

        return find_skew(view, among)

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.pod_topology_spread.explanations import propose_other_spread

        return propose_other_spread(situation)

    def events(self) -> Sequence[Registration]:
        pod_actions = Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE
        if self.handle.gates["SchedulerQueueingHints"]:
            pod_actions |= Action.UPDATE_POD_TOLERATION
        node_actions = (
            Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        )
        return (
            Registration(Resource.POD, pod_actions, self._pod_hint),
            Registration(Resource.NODE, node_actions, self._node_hint),
        )

    def _pod_hint(self, waiting: PodInfo, old: Pod | None, new: Pod | None) -> bool:
        present = [pod for pod in (old, new) if pod is not None]
        if not all(_is_involved(waiting, pod) for pod in present):
            return False
        try:
            constraints = self._constraints.of(waiting, HARD)
        except SelectorError:
            return True
        if old is None or new is None:
            (pod,) = present
            labels = pod.metadata.labels or {}
            return any(constraint.selector.matches(labels) for constraint in constraints)
        tolerates_otherwise = (old.spec.tolerations or ()) != (new.spec.tolerations or ())
        minds_taints = any(constraint.honors_taints for constraint in constraints)
        if tolerates_otherwise and minds_taints and waiting.is_about(new):
            return True
        before, after = old.metadata.labels or {}, new.metadata.labels or {}
        return any(
            constraint.selector.matches(before) != constraint.selector.matches(after)
            for constraint in constraints
        )

    def _node_hint(self, waiting: PodInfo, old: Node | None, new: Node | None) -> bool:
        try:
            constraints = self._constraints.of(waiting, HARD)
        except SelectorError:
            return True
        before = old.metadata.labels or {} if old is not None else None
        after = new.metadata.labels or {} if new is not None else None
        carried, carries = _carries_keys(before, constraints), _carries_keys(after, constraints)
        if old is None or new is None or before is None or after is None:
            return carried or carries
        if carried != carries:
            return True
        if not carries:
            return False
        return (old.spec.taints or ()) != (new.spec.taints or ()) or any(
            before[constraint.topology_key] != after[constraint.topology_key]
            for constraint in constraints
        )


def _is_involved(waiting: PodInfo, pod: Pod) -> bool:
    """Whether a pod can matter to a waiting one: it is the same, or counts in its namespace."""
    if waiting.is_about(pod):
        return True
    placed = bool(pod.spec.node_name or pod.status.nominated_node_name)
    return placed and pod.metadata.namespace == waiting.shape.namespace


def _carries_keys(
    labels: Mapping[str, str] | None, constraints: Sequence[SpreadConstraint]
) -> bool:
    return labels is not None and all(c.topology_key in labels for c in constraints)

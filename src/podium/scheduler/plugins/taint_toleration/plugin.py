"""TaintToleration: keep pods off nodes whose taints they do not tolerate.

`NoSchedule` and `NoExecute` taints reject; each `PreferNoSchedule` taint that is not tolerated
lowers the score. Untolerated counts 3, 1, 2 give 0, 67, 34 after normalisation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, Toleration
from podium.kubernetes.rules.tolerations import HARD_EFFECTS, PREFER_NO_SCHEDULE, untolerated
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.node_matching import untolerated_counts, untolerated_mask
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations.finding import Finding, Restated
from podium.scheduler.framework.explanations.situation import AttemptView, Situation
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import FilterPlugin, PreScorePlugin, ScorePlugin
from podium.scheduler.framework.scoring import default_normalize
from podium.scheduler.framework.status import Status, unresolvable
from podium.scheduler.plugins.node_unschedulable import NodeUnschedulable

UNTOLERATED = unresolvable("node(s) had untolerated taint(s)")

SOFT_EFFECTS = frozenset((PREFER_NO_SCHEDULE,))

_SCORE_STATE = "TaintToleration/score"


@dataclass(frozen=True, slots=True)
class _SoftTolerations:
    """The pod's tolerations that may cover a `PreferNoSchedule` taint."""

    tolerations: tuple[Toleration, ...]


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin):
    name = "TaintToleration"
    refusals_stand = True
    keeps_daemons_away = True
    builds_on = MappingProxyType({"score": "preScore"})
    in_range = True
    normalizes_by_range = True

    def __init__(self, args: None, handle: Handle) -> None:
        super().__init__(args, handle)
        self._comparison = handle.gates["TaintTolerationComparisonOperators"]

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        tolerations = cycle.pod.pod.spec.tolerations
        mask = untolerated_mask(
            cycle.nodes, tolerations, HARD_EFFECTS, rows, comparison=self._comparison
        )
        return rejecting(mask, UNTOLERATED)

    def filter_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.pod.spec.tolerations, usage=False)

    def score_depends(self, cycle: Cycle) -> Dependence:
        return Dependence(cycle.pod.pod.spec.tolerations, usage=False)

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        soft = tuple(
            toleration
            for toleration in cycle.pod.pod.spec.tolerations or ()
            if toleration.effect in ("", PREFER_NO_SCHEDULE)
        )
        cycle.write(_SCORE_STATE, _SoftTolerations(soft))
        return None

    def pre_score_stays(self, cycle: Cycle) -> bool:  # noqa: ARG002
        return True

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        try:
            state = cycle.read(_SCORE_STATE, _SoftTolerations)
        except StateMissing as missing:
            text = f'failed to read "PreScoreTaintToleration" from cycleState: {missing}'
            raise StateMissing(text) from missing
        counts = untolerated_counts(
            cycle.nodes, state.tolerations, SOFT_EFFECTS, rows, comparison=self._comparison
        )
        return np.zeros(count_of(rows), dtype=np.int64) if counts is None else counts

    def normalize(self, cycle: Cycle, rows: Rows, scores: Ints) -> Ints:  # noqa: ARG002
        return default_normalize(scores, reverse=True)

    def explain_rejections(self, view: AttemptView, among: Mask) -> list[Finding]:
        from podium.scheduler.plugins.taint_toleration.causes import find_taints

        return find_taints(view, among)

    def find_restated(self, view: AttemptView) -> Restated:
        from podium.scheduler.plugins.taint_toleration.causes import cordoned_only

        return Restated(NodeUnschedulable.name, cordoned_only(view))

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
        from podium.scheduler.plugins.taint_toleration.proposals import (
            propose_tolerations,
            propose_uncordoning,
            propose_untainting,
        )

        yield from propose_tolerations(situation)
        yield from propose_uncordoning(situation)
        yield from propose_untainting(situation)

    def events(self) -> Sequence[Registration]:
        node_actions = self.handle.new_node_actions | Action.UPDATE_NODE_TAINT
        of_nodes = Registration(Resource.NODE, node_actions, self._node_hint)
        if not self.handle.gates["SchedulerQueueingHints"]:
            return (of_nodes,)
        return (
            of_nodes,
            Registration(Resource.POD, Action.UPDATE_POD_TOLERATION, self._pod_hint),
        )

    def _node_hint(self, waiting: PodInfo, old: Node | None, new: Node) -> bool:
        return self._admits(new, waiting) and (old is None or not self._admits(old, waiting))

    def _pod_hint(self, waiting: PodInfo, _old: Pod | None, new: Pod) -> bool:
        return waiting.is_about(new)

    def _admits(self, node: Node, pod: PodInfo) -> bool:
        taints, tolerations = node.spec.taints, pod.pod.spec.tolerations
        return untolerated(taints, tolerations, comparison=self._comparison) is None

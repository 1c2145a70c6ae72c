"""TaintToleration: keep pods off nodes whose taints they do not tolerate.

`NoSchedule` and `NoExecute` taints reject; each `PreferNoSchedule` taint that is not tolerated
lowers the score. Untolerated counts 3, 1, 2 give 0, 67, 34 after normalisation.

People are told which taint, on how many nodes, and how many would fit with the toleration; proposed
is to tolerate taints, or to take them off a node.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod, Toleration
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.tolerations import (
    CONDITION_KEYS,
    HARD_EFFECTS,
    PREFER_NO_SCHEDULE,
    describe_taint,
    find_untolerated_taint,
    is_tolerated,
    toleration_of,
)
from podium.scheduler.cluster.growth import Ints, Mask, Rows, count_of
from podium.scheduler.cluster.node_matching import untolerated_counts, untolerated_mask
from podium.scheduler.cluster.nodes import TaintTriple
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle, StateMissing
from podium.scheduler.framework.dependence import Dependence
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import (
    Finding,
    Relaxation,
    Restated,
    join_words,
)
from podium.scheduler.framework.explanations.situation import (
    MAX_STEPS_OF_A_KIND,
    AttemptView,
    Situation,
)
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.framework.points import FilterPlugin, PreScorePlugin, ScorePlugin
from podium.scheduler.framework.scoring import default_normalize
from podium.scheduler.framework.status import Status, unresolvable
from podium.scheduler.plugins.node_unschedulable import UNSCHEDULABLE_TAINT, NodeUnschedulable

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
        return find_taints(view, among)

    def find_restated(self, view: AttemptView) -> Restated:
        return Restated(NodeUnschedulable.name, cordoned_only(view))

    def propose_for(self, situation: Situation) -> Iterator[ProposedChange]:
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
        return find_untolerated_taint(taints, tolerations, comparison=self._comparison) is None


def find_taints(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of taints that is not tolerated."""
    sets = view.table.taint_set[view.rows]
    by_taints: dict[tuple[TaintTriple, ...], Mask] = {}
    for number in np.unique(sets[among]).tolist():
        untolerated = untolerated_taints(view, view.table.taint_sets[number])
        mask = among & (sets == number)
        held = by_taints.get(untolerated)
        by_taints[untolerated] = mask if held is None else held | mask
    return [_describe_taints(view, taints, mask) for taints, mask in by_taints.items() if taints]


def cordoned_only(view: AttemptView) -> Mask:
    """Nodes whose only untolerated taint is the one that their cordon brings."""
    sets = view.table.taint_set[view.rows]
    only = [
        number
        for number in np.unique(sets).tolist()
        if {t[0] for t in untolerated_taints(view, view.table.taint_sets[number])}
        == {UNSCHEDULABLE_TAINT[0]}
    ]
    mask: Mask = np.isin(sets, only) & view.table.unschedulable[view.rows]
    return mask


def untolerated_taints(
    view: AttemptView, taints: tuple[TaintTriple, ...]
) -> tuple[TaintTriple, ...]:
    comparison = view.gates["TaintTolerationComparisonOperators"]
    given = view.pod.spec.tolerations
    return tuple(
        taint
        for taint in taints
        if taint[2] in HARD_EFFECTS and not is_tolerated(given, *taint, comparison=comparison)
    )


def _describe_taints(view: AttemptView, taints: tuple[TaintTriple, ...], mask: Mask) -> Finding:
    texts = [describe_taint(*taint) for taint in taints]
    noun = "taint" if len(taints) == 1 else "taints"
    what = f"{noun} {join_words(texts)}"
    toleration = "with that toleration" if len(taints) == 1 else "with those tolerations"
    return Finding(
        "untolerated-taint",
        ",".join(texts),
        mask,
        view.say(mask, f"has {what}", f"have {what}"),
        what,
        facts={"taints": list(texts)},
        relax=lambda: Relaxation(toleration, tolerate(view.pod, taints)),
    )


def tolerate(pod: Pod, taints: Iterable[TaintTriple]) -> Pod:
    added = tuple(toleration_of(*taint) for taint in taints)
    tolerations = (*(pod.spec.tolerations or ()), *added)
    return replace(pod, spec=replace(pod.spec, tolerations=tolerations))


CORDON_KEY = UNSCHEDULABLE_TAINT[0]


def propose_tolerations(situation: Situation) -> Iterator[ProposedChange]:
    """All taints of a node at once: one toleration alone may not be enough for any node."""
    pod = situation.pod
    groups: dict[tuple[Taint, ...], list[str]] = defaultdict(list)
    for name in situation.nodes_near(TaintToleration.name):
        groups[untolerated_taints_of(pod, situation.node(name), situation.gates)].append(name)
    ranked = sorted(groups, key=lambda taints: (_has_condition(taints), -len(groups[taints])))
    for taints in ranked[:MAX_STEPS_OF_A_KIND]:
        if not taints or any(taint.key == CORDON_KEY for taint in taints):
            continue
        told = " and ".join(
            describe_taint(taint.key, taint.value, taint.effect) for taint in taints
        )
        added = [toleration_of(taint.key, taint.value, taint.effect) for taint in taints]
        tolerations = (*(pod.spec.tolerations or ()), *added)
        changed = replace(pod, spec=replace(pod.spec, tolerations=tolerations))
        weight = disturbance.TOLERATE + len(taints) - 1
        if _has_condition(taints):
            weight = disturbance.TOLERATE_CONDITION
        yield situation.change_pod("tolerate-taint", f"tolerate {told}", weight, changed)


def propose_untainting(situation: Situation) -> Iterator[ProposedChange]:
    """Taints of one node, the node with the fewest first."""
    pod = situation.pod
    found = [
        (untolerated_taints_of(pod, situation.node(name), situation.gates), name)
        for name in situation.nodes_near(TaintToleration.name)
    ]
    usable = [(taints, name) for taints, name in found if taints and not _has_condition(taints)]
    usable.sort(key=lambda each: len(each[0]))
    seen: set[tuple[Taint, ...]] = set()
    for taints, name in usable:
        if taints in seen or len(seen) >= MAX_STEPS_OF_A_KIND:
            continue
        seen.add(taints)
        node = situation.node(name)
        kept = tuple(taint for taint in node.spec.taints or () if taint not in taints)
        changed = replace(node, spec=replace(node.spec, taints=kept or None))
        told = " and ".join(
            describe_taint(taint.key, taint.value, taint.effect) for taint in taints
        )
        yield ProposedChange(
            "remove-taint",
            f"remove {told} from node {name}",
            disturbance.REMOVE_TAINT + len(taints) - 1,
            nodes=(changed,),
        )


def propose_uncordoning(situation: Situation) -> Iterator[ProposedChange]:
    """Cordoned nodes; the taint that a cordon brings along goes with it."""
    cordoned = situation.nodes_near(NodeUnschedulable.name) + [
        name
        for name in situation.nodes_near(TaintToleration.name)
        if is_only_cordoned(situation.pod, situation.node(name), situation.gates)
    ]
    for name in cordoned[:MAX_STEPS_OF_A_KIND]:
        node = uncordon_node(situation.node(name))
        yield ProposedChange(
            "uncordon-node",
            f"uncordon node {name}",
            disturbance.UNCORDON,
            nodes=(node,),
        )


def _has_condition(taints: tuple[Taint, ...]) -> bool:
    return any(taint.key.startswith(CONDITION_KEYS) for taint in taints)


def uncordon_node(node: Node) -> Node:
    kept = tuple(taint for taint in node.spec.taints or () if taint.key != CORDON_KEY)
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=kept or None))


def untolerated_taints_of(pod: Pod, node: Node, gates: FeatureGates) -> tuple[Taint, ...]:
    """The taints that keep the pod off the node."""
    comparison = gates["TaintTolerationComparisonOperators"]
    given = pod.spec.tolerations
    return tuple(
        taint
        for taint in node.spec.taints or ()
        if taint.effect in HARD_EFFECTS
        and not is_tolerated(given, taint.key, taint.value, taint.effect, comparison=comparison)
    )


def is_only_cordoned(pod: Pod, node: Node, gates: FeatureGates) -> bool:
    """Whether a cordon is all that keeps the pod away."""
    taints = untolerated_taints_of(pod, node, gates)
    return bool(taints) and all(taint.key == CORDON_KEY for taint in taints)

"""Taints: tolerate them, or take them off a node."""

from collections import defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.tolerations import (
    CONDITION_KEYS,
    HARD_EFFECTS,
    describe_taint,
    tolerated,
    toleration_of,
)
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.situation import MAX_STEPS_OF_A_KIND, Situation
from podium.scheduler.framework.plugin import ProposedChange
from podium.scheduler.plugins.node_unschedulable import NodeUnschedulable
from podium.scheduler.plugins.node_unschedulable.plugin import UNSCHEDULABLE_TAINT
from podium.scheduler.plugins.taint_toleration.plugin import TaintToleration

CORDON_KEY = UNSCHEDULABLE_TAINT[0]


def propose_tolerations(situation: Situation) -> Iterator[ProposedChange]:
    """All taints of a node at once: one toleration alone may not be enough for any node."""
    pod = situation.pod
    groups: dict[tuple[Taint, ...], list[str]] = defaultdict(list)
    for name in situation.nodes_near(TaintToleration.name):
        groups[untolerated_taints(pod, situation.node(name), situation.gates)].append(name)
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
        (untolerated_taints(pod, situation.node(name), situation.gates), name)
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
        node = uncordoned(situation.node(name))
        yield ProposedChange(
            "uncordon-node",
            f"uncordon node {name}",
            disturbance.UNCORDON,
            nodes=(node,),
        )


def _has_condition(taints: tuple[Taint, ...]) -> bool:
    return any(taint.key.startswith(CONDITION_KEYS) for taint in taints)


def uncordoned(node: Node) -> Node:
    kept = tuple(taint for taint in node.spec.taints or () if taint.key != CORDON_KEY)
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=kept or None))


def untolerated_taints(pod: Pod, node: Node, gates: FeatureGates) -> tuple[Taint, ...]:
    """The taints that keep the pod off the node."""
    comparison = gates["TaintTolerationComparisonOperators"]
    given = pod.spec.tolerations
    return tuple(
        taint
        for taint in node.spec.taints or ()
        if taint.effect in HARD_EFFECTS
        and not tolerated(given, taint.key, taint.value, taint.effect, comparison=comparison)
    )


def is_only_cordoned(pod: Pod, node: Node, gates: FeatureGates) -> bool:
    """Whether a cordon is all that keeps the pod away."""
    taints = untolerated_taints(pod, node, gates)
    return bool(taints) and all(taint.key == CORDON_KEY for taint in taints)

"""Taints: tolerate them, or take them off a node."""

from collections import defaultdict
from collections.abc import Iterator

from msgspec.structs import replace

from podium.explain.proposals import disturbance
from podium.explain.proposals.proposal import Step
from podium.explain.proposals.situation import CORDON_FILTER, MAX_STEPS_OF_A_KIND, Situation
from podium.explain.proposals.taints import (
    CONDITION_KEYS,
    CORDON_KEY,
    is_only_cordoned,
    taint_text,
    uncordoned,
    untolerated_taints,
)
from podium.kubernetes.kinds.node import Taint
from podium.kubernetes.rules.tolerations import toleration_of

PLUGIN = "TaintToleration"


def propose_tolerations(situation: Situation) -> Iterator[Step]:
    """All taints of a node at once: one toleration alone may not be enough for any node."""
    pod = situation.pod
    groups: dict[tuple[Taint, ...], list[str]] = defaultdict(list)
    for name in situation.nodes_near(PLUGIN):
        groups[untolerated_taints(pod, situation.node(name), situation.gates)].append(name)
    ranked = sorted(groups, key=lambda taints: (_has_condition(taints), -len(groups[taints])))
    for taints in ranked[:MAX_STEPS_OF_A_KIND]:
        if not taints or any(taint.key == CORDON_KEY for taint in taints):
            continue
        told = " and ".join(taint_text(taint) for taint in taints)
        added = [toleration_of(taint.key, taint.value, taint.effect) for taint in taints]
        tolerations = (*(pod.spec.tolerations or ()), *added)
        changed = replace(pod, spec=replace(pod.spec, tolerations=tolerations))
        weight = disturbance.TOLERATE + len(taints) - 1
        if _has_condition(taints):
            weight = disturbance.TOLERATE_CONDITION
        yield situation.change_pod("tolerate-taint", f"tolerate {told}", weight, changed)


def propose_untainting(situation: Situation) -> Iterator[Step]:
    """Taints of one node, the node with the fewest first."""
    pod = situation.pod
    found = [
        (untolerated_taints(pod, situation.node(name), situation.gates), name)
        for name in situation.nodes_near(PLUGIN)
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
        told = " and ".join(taint_text(taint) for taint in taints)
        yield Step(
            "remove-taint",
            f"remove {told} from node {name}",
            disturbance.REMOVE_TAINT + len(taints) - 1,
            situation.hypothesis.but_with(nodes=(changed,)),
        )


def propose_uncordoning(situation: Situation) -> Iterator[Step]:
    """Cordoned nodes; the taint that a cordon brings along goes with it."""
    cordoned = situation.nodes_near(CORDON_FILTER) + [
        name
        for name in situation.nodes_near(PLUGIN)
        if is_only_cordoned(situation.pod, situation.node(name), situation.gates)
    ]
    for name in cordoned[:MAX_STEPS_OF_A_KIND]:
        node = uncordoned(situation.node(name))
        yield Step(
            "uncordon-node",
            f"uncordon node {name}",
            disturbance.UNCORDON,
            situation.hypothesis.but_with(nodes=(node,)),
        )


def _has_condition(taints: tuple[Taint, ...]) -> bool:
    return any(taint.key.startswith(CONDITION_KEYS) for taint in taints)

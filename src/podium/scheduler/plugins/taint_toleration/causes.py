"""Taints: which one, on how many nodes, how many would fit with the toleration."""

from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.tolerations import (
    HARD_EFFECTS,
    describe_taint,
    tolerated,
    toleration_of,
)
from podium.scheduler.cluster.growth import Mask
from podium.scheduler.cluster.nodes import TaintTriple
from podium.scheduler.framework.explanations.finding import Finding, Relaxation, joined
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.node_unschedulable.plugin import UNSCHEDULABLE_TAINT


def find_taints(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of taints that is not tolerated."""
    sets = view.table.taint_set[view.rows]
    by_taints: dict[tuple[TaintTriple, ...], Mask] = {}
    for number in np.unique(sets[among]).tolist():
        untolerated = untolerated_taints(view, view.table.taint_sets[number])
        mask = among & (sets == number)
        held = by_taints.get(untolerated)
        by_taints[untolerated] = mask if held is None else held | mask
    return [_finding(view, taints, mask) for taints, mask in by_taints.items() if taints]


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
        if taint[2] in HARD_EFFECTS and not tolerated(given, *taint, comparison=comparison)
    )


def _finding(view: AttemptView, taints: tuple[TaintTriple, ...], mask: Mask) -> Finding:
    texts = [describe_taint(*taint) for taint in taints]
    noun = "taint" if len(taints) == 1 else "taints"
    what = f"{noun} {joined(texts)}"
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

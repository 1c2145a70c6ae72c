"""Taints of nodes: which of them keep a pod away, and which a cordon or a controller has set."""

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.tolerations import HARD_EFFECTS, describe_taint, tolerated

CORDON_KEY = "node.kubernetes.io/unschedulable"
CONDITION_KEYS = "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"
"""Taints that controllers put on nodes that are not well, and put back if one takes them off."""


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


def taint_text(taint: Taint) -> str:
    return describe_taint(taint.key, taint.value, taint.effect)


def is_only_cordoned(pod: Pod, node: Node, gates: FeatureGates) -> bool:
    """Whether a cordon is all that keeps the pod away."""
    taints = untolerated_taints(pod, node, gates)
    return bool(taints) and all(taint.key == CORDON_KEY for taint in taints)

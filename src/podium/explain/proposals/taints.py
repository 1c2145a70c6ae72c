"""Taints of nodes: which of them keep a pod away, and which a cordon or a controller has set."""

from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.tolerations import HARD_EFFECTS, tolerated

CORDON_KEY = "node.kubernetes.io/unschedulable"
CONDITION_KEYS = "node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"
"""Taints that controllers put on nodes that are not well, and put back if one takes them off."""


def uncordoned(node: Node) -> Node:
    kept = tuple(taint for taint in node.spec.taints or () if taint.key != CORDON_KEY)
    return replace(node, spec=replace(node.spec, unschedulable=False, taints=kept or None))


def untolerated_taints(pod: Pod, node: Node) -> tuple[Taint, ...]:
    """The taints that keep the pod off the node."""
    return tuple(
        taint
        for taint in node.spec.taints or ()
        if taint.effect in HARD_EFFECTS
        and not tolerated(pod.spec.tolerations, taint.key, taint.value, taint.effect)
    )


def describe_taint(taint: Taint) -> str:
    """As kubectl writes it: `key=value:effect`."""
    return f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"


def is_only_cordoned(pod: Pod, node: Node) -> bool:
    """Whether a cordon is all that keeps the pod away."""
    taints = untolerated_taints(pod, node)
    return bool(taints) and all(taint.key == CORDON_KEY for taint in taints)

"""Features that a pod needs the kubelet to declare."""

from podium.scheduler.cluster.growth import Mask
from podium.scheduler.framework.explanations.finding import Finding, Narrowing, joined
from podium.scheduler.framework.explanations.situation import AttemptView
from podium.scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from podium.scheduler.plugins.node_declared_features.plugin import (
    FEATURES,
    declared_bits,
    needed_bits,
)


def find_features(view: AttemptView, among: Mask) -> list[Finding]:
    """One finding for each set of features that nodes do not declare."""
    needed = needed_bits(view.pod.spec)
    groups: dict[int, list[int]] = {}
    for position in view.positions(among):
        node = view.examination.objects[view.names[position]]
        lacking = needed & ~declared_bits(node.status.declared_features or ())
        groups.setdefault(lacking, []).append(position)
    return [_finding(view, bits, at) for bits, at in groups.items() if bits]


def narrow_by_features(view: AttemptView) -> Narrowing:
    """Where kubelets declare what the pod needs."""
    needed = needed_bits(view.pod.spec)
    told = joined(name for bit, name in enumerate(FEATURES) if needed >> bit & 1)
    rejected = view.rejected(NodeDeclaredFeatures.name)
    return Narrowing(NodeDeclaredFeatures.name, ~rejected, f"declare {told}", f"declares {told}")


def _finding(view: AttemptView, bits: int, positions: list[int]) -> Finding:
    mask: Mask = ~view.everywhere
    mask[positions] = True
    names = [name for bit, name in enumerate(FEATURES) if bits >> bit & 1]
    told = joined(names)
    nobody = view.rejected(NodeDeclaredFeatures.name).all()
    who = "no node declares it" if nobody else view.say(mask, "does", "do") + " not declare it"
    return Finding(
        "node-feature-missing",
        ",".join(names),
        mask,
        f"the pod needs the kubelet feature {told}; {who}",
        f"the node does not declare {told}",
        facts={"features": list(names)},
    )

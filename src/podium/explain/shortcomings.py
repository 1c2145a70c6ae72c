"""What exactly stands between a pod and a node.

Filters answer with upstream's reasons, which say what kind of thing is wrong ("Insufficient cpu").
For a single node one can say more: how much is missing, which label. This is for
people only; nothing decides by it.
"""

from dataclasses import dataclass

from podium.cluster.pod_info import PodInfo
from podium.explain.utilisation import Load
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.node_affinity import NodeTerm, required_of
from podium.kubernetes.rules.requests import PODS


@dataclass(frozen=True, slots=True)
class Room:
    """One resource on one node: what the pod asks for and what is there."""

    resource: str
    asked: int
    free: int
    allocatable: int

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.free)


def room_for(pod: PodInfo, node: str, load: Load) -> list[Room]:
    """Every resource that a pod asks for, as things stand on a node."""
    column = load.nodes.index(node)
    asked = {**pod.shape.requests, PODS: 1}
    found = []
    for resource, amount in asked.items():
        allocatable = requested = 0
        if resource in load.resources:
            row = load.resources.index(resource)
            allocatable = int(load.allocatable[row, column])
            requested = int(load.requested[row, column])
        found.append(Room(resource, amount, allocatable - requested, allocatable))
    return found


def unmet_selectors(pod: Pod, node: Node) -> list[str]:
    """Parts of the pod's nodeSelector and required affinity that the node does not meet."""
    labels, name = node.metadata.labels or {}, node.metadata.name
    required = required_of(pod)
    unmet = [
        f"nodeSelector {requirement} ({_describe_label(requirement.key, labels)})"
        for requirement in required.selector.requirements
        if not requirement.matches(labels)
    ]
    terms = required.terms
    if terms is not None and not any(term.matches(labels, name) for term in terms):
        wanted = " or ".join(_unmet_part(term, labels, name) for term in terms)
        unmet.append(f"required affinity {wanted or 'has no usable term'}")
    return unmet


def _unmet_part(term: NodeTerm, labels: dict[str, str], name: str) -> str:
    parts = [
        f"{expression} ({_describe_label(expression.key, labels)})"
        for expression in term.expressions
        if not expression.matches(labels)
    ]
    parts += [
        f"{field.key} {field.operator} {field.value}"
        for field in term.fields
        if not field.matches(name)
    ]
    return term.error or " and ".join(parts)


def _describe_label(key: str, labels: dict[str, str]) -> str:
    return f"the node has {labels[key]}" if key in labels else "the node has no such label"

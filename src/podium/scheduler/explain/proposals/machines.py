"""One more node: a copy of the smallest that suffices, or a larger one.

A copy has the shape of a node that is there (allocatable resources, labels, taints, features, CSI
drivers, its own devices) and no pods but those that daemon sets bring to it. Where no shape is
large enough, the nearest one gets as much as the pod and they ask for.
"""

from collections.abc import Iterator
from itertools import count, islice
from math import fsum

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import ResourceSlice
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node, NodeSpec
from podium.kubernetes.kinds.storage import CSINode
from podium.kubernetes.rules.nodes import is_daemon
from podium.kubernetes.rules.requests import (
    CPU,
    MEMORY,
    PODS,
    allocatable_vector,
)
from podium.kubernetes.rules.tolerations import CONDITION_KEYS
from podium.scheduler.explain.proposals.proposal import ProposalStep
from podium.scheduler.explain.proposals.situation import SearchSituation
from podium.scheduler.framework.explanations import disturbance
from podium.scheduler.framework.explanations.finding import amount_text, describe

MAX_SHAPES = 8
MAX_COPIES = 3
"""Of one node."""
HOSTNAME = "kubernetes.io/hostname"
_PLACES = ("topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/")


def propose_nodes(situation: SearchSituation) -> Iterator[ProposalStep]:
    """Copies of nodes, the smallest first, then larger ones; the search stops at the first."""
    if situation.refusal is not None:
        return
    enough = [
        node
        for node in _shapes(situation)
        if _shortfall(node, _sum_requests(situation, node)) == (0, 0.0)
    ]
    for node in enough[:MAX_SHAPES]:
        hypothesis = situation.hypothesis
        for number in range(1, MAX_COPIES + 1):  # pods that wait as well may take the first ones
            made, others = _copy_of(situation, node, number)
            hypothesis = hypothesis.but_with(nodes=(made,), objects=others)
            what = "a node" if number == 1 else f"{number} nodes"
            yield ProposalStep(
                "add-node",
                f"add {what} like {node.name} ({_describe(node)})",
                disturbance.ADD_NODE + disturbance.PER_POD * (number - 1),
                hypothesis,
            )


def propose_larger_nodes(situation: SearchSituation) -> Iterator[ProposalStep]:
    """For a pod that asks for more than any node has."""
    if situation.refusal is not None:
        return
    nearest = sorted(
        _shapes(situation), key=lambda node: _shortfall(node, _sum_requests(situation, node))
    )
    for node in nearest[:MAX_SHAPES]:
        asked = _sum_requests(situation, node)
        has = allocatable_vector(node.status.allocatable)
        more = {r: amount for r, amount in asked.items() if amount > has.get(r, 0)}
        if not more:
            continue
        made, others = _copy_of(situation, node)
        grown = {**(made.status.allocatable or {}), **{r: describe(r, a) for r, a in more.items()}}
        made = replace(made, status=replace(made.status, allocatable=grown, capacity=None))
        told = " and ".join(f"{amount_text(r, amount)} {r}" for r, amount in more.items())
        yield ProposalStep(
            "add-larger-node",
            f"add a node like {node.name}, but with {told}",
            disturbance.ADD_LARGER_NODE,
            situation.hypothesis.but_with(nodes=(made,), objects=others),
        )


def _sum_requests(situation: SearchSituation, node: Node) -> dict[str, int]:
    """What the pod asks for, and what the daemons ask for that are on a node like that."""
    asked = {**situation.info.shape.requests, PODS: 1}
    cluster = situation.cluster
    for info in cluster.usage.pods(cluster.nodes.row(node.name)):
        if is_daemon(info.pod):
            for resource, amount in {**info.shape.accounted, PODS: 1}.items():
                asked[resource] = asked.get(resource, 0) + amount
    return asked


def _shortfall(node: Node, asked: dict[str, int]) -> tuple[int, float]:
    """(resources that a node does not have at all, shares that it lacks of all of them)."""
    has = allocatable_vector(node.status.allocatable)
    short = [max(0.0, 1 - has.get(r, 0) / amount) for r, amount in asked.items() if amount]
    return sum(each == 1 for each in short), fsum(short)


def _shapes(situation: SearchSituation) -> list[Node]:
    """A node of each shape: those that the fewest filters speak against come first, which leaves
    out what only depends on the pods that are there, and of these the smallest."""
    found: dict[object, tuple[tuple[int, int, int, int], Node]] = {}
    for node in situation.all_nodes():
        objections = situation.objections.get(node.name, {})
        fixed = sum(not situation.filters[plugin].spares_new_nodes for plugin in objections)
        vector = allocatable_vector(node.status.allocatable)
        labels = {
            key: value
            for key, value in (node.metadata.labels or {}).items()
            if key != HOSTNAME and not key.startswith(_PLACES)
        }
        shape = (
            tuple(sorted(vector.items())),
            tuple(sorted(labels.items())),
            node.spec.taints,
            fixed,
        )
        extended = sum(1 for name in vector if name not in (CPU, MEMORY, PODS))
        rank = (fixed, extended, vector.get(CPU, 0), vector.get(MEMORY, 0))
        if shape not in found:
            found[shape] = (rank, node)
    return [node for _, node in sorted(found.values(), key=lambda each: (each[0], each[1].name))]


def _copy_of(
    situation: SearchSituation, node: Node, number: int = 1
) -> tuple[Node, tuple[KubeObject, ...]]:
    """A fresh node of that shape, the first or another one, and what belongs to a node."""
    name = _free_names(situation, node.name, number)[-1]
    labels = dict(node.metadata.labels or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    taints = tuple(t for t in node.spec.taints or () if not t.key.startswith(CONDITION_KEYS))
    made = Node(
        metadata=ObjectMeta(name=name, uid=f"new-{name}", labels=labels),
        spec=NodeSpec(taints=taints or None),
        status=replace(node.status, images=None, conditions=None, addresses=None),
    )
    others: list[KubeObject] = []
    csi_node = situation.catalog.get(CSINode, node.name)
    if csi_node is not None:
        others.append(replace(csi_node, metadata=ObjectMeta(name=name)))
    for piece in situation.catalog.all(ResourceSlice):
        if piece.spec.node_name == node.name:
            pool = replace(piece.spec.pool, name=name)
            spec = replace(piece.spec, node_name=name, pool=pool)
            metadata = ObjectMeta(name=f"{name}-{piece.spec.driver}")
            others.append(replace(piece, metadata=metadata, spec=spec))
    return made, tuple(others)


def _free_names(situation: SearchSituation, base: str, number: int) -> list[str]:
    nodes = situation.cluster.nodes
    names = (f"{base}-{at}" for at in count(2))
    return list(islice((name for name in names if not nodes.is_present(name)), number))


def _describe(node: Node) -> str:
    vector = allocatable_vector(node.status.allocatable)
    return f"{describe(CPU, vector.get(CPU, 0))} cpu, {describe(MEMORY, vector.get(MEMORY, 0))}"

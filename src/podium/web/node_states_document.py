"""What is the matter with nodes: which are dead, under pressure, cordoned or tainted, and which GPU
model each has.

The table knows taints, since the scheduler does; that a node is dead or short of memory it tells in
its conditions, with or without the taints that stand for them, and an administrator's
`out-of-service` says so of a machine that cannot speak any more. What depends on pods (full, more
requested than there is) follows from the columns that the map has.
"""

from math import inf
from typing import ClassVar, Final, Literal

from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.golang.document_structs import Document, DocumentPart
from podium.kubernetes.kinds.node import Node, Taint
from podium.kubernetes.rules.nodes import CONDITION_KEYS, condition_taints
from podium.scheduler.cluster.state import Cluster

NodeTrouble = Literal["dead", "pressure", "cordoned", "tainted"]

_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
_OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_DEAD: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", _OUT_OF_SERVICE}
)
_MODEL_LABELS: Final = (
    "nvidia.com/gpu.product",
    "gaia.tencent.com/gpu-model",
    "tkestack.io/gpu-model",
    "gaia.nvidia.com/gpu-model",
    "amd.com/gpu.product-name",
)
"""Where agents and device plugins write the model of a node's cards."""
MAX_AGENTS_READ: Final = 200
"""Nodes in one document of which annotations are read for a model that no label tells."""


class NodeState(DocumentPart, frozen=True):
    """One node that something is to be said of."""

    name: str
    """Its name."""
    states: tuple[NodeTrouble, ...]
    """What is the matter with it, the gravest first."""
    reasons: tuple[str, ...]
    """Conditions that are not as they should be, and taints."""
    gpu_model: str
    """The model of its GPU cards, empty if nothing tells it."""


class NodeStates(Document, frozen=True):
    """States of nodes, for the map of the page."""

    KIND: ClassVar[str] = "NodeStatesView"

    nodes: tuple[NodeState, ...]
    """Those that are not simply there and well, or have GPU cards of a known model."""


class NodeStatesReader:
    """Reads those nodes anew whose objects have changed."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._generation = 0
        self._by_row: dict[int, NodeState] = {}
        self._models: dict[str, str] = {}

    def read(self) -> NodeStates:
        nodes = self._cluster.nodes
        left = MAX_AGENTS_READ
        for row in nodes.changed_since(self._generation).tolist():
            self._by_row.pop(row, None)
            if not nodes.present[row]:
                continue
            node = nodes.node(row)
            model = _labelled_model(node) or self._models.get(node.name, "")
            if not model and left > 0 and _may_have_agent(node):
                left -= 1
                model = self._models[node.name] = _announced_model(node)
            state = _state(node, model)
            if state.states or state.gpu_model:
                self._by_row[row] = state
        self._generation = nodes.generation
        return NodeStates(tuple(self._by_row.values()))


def _labelled_model(node: Node) -> str:
    labels = node.metadata.labels or {}
    return next((labels[key] for key in _MODEL_LABELS if labels.get(key)), "")


def _may_have_agent(node: Node) -> bool:
    return any("gpu" in name or "vcuda" in name for name in node.status.allocatable or ())


def _announced_model(node: Node) -> str:
    """As the node's agent says of its first card."""
    for spoken in find_spoken_dialects([node]):
        for card in find_dialect(spoken).node_cards(node, -inf).cards:
            return card.model
    return ""


def _state(node: Node, gpu_model: str) -> NodeState:
    conditions = {each.type: each.status for each in node.status.conditions or ()}
    wrong = condition_taints(conditions).items()
    told = {key: f"{name}={conditions[name]}" for (key, _), name in wrong}
    taints = {each.key: _taint_words(each) for each in node.spec.taints or ()}
    keys = told.keys() | taints.keys()
    states: dict[NodeTrouble, bool] = {
        "dead": bool(keys & _DEAD),
        "pressure": bool((keys & CONDITION_KEYS) - _DEAD),
        "cordoned": node.spec.unschedulable or _UNSCHEDULABLE in keys,
        "tainted": bool(taints.keys() - CONDITION_KEYS - {_UNSCHEDULABLE, _OUT_OF_SERVICE}),
    }
    shown = {**taints, **told}  # a condition says more than the taint that stands for it
    shown.pop(_UNSCHEDULABLE, None)
    return NodeState(
        node.metadata.name,
        tuple(name for name, holds in states.items() if holds),
        tuple(dict.fromkeys(shown.values())),
        gpu_model,
    )


def _taint_words(taint: Taint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"

"""Pools of equal nodes: the nodes that a cluster begins with, and those that an autoscaler adds.

Nodes are numbered (`general-0`), have the label `podium/pool`, and go through the zones of their
pool in turn.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from podium.golang.documents import Document
from podium.golang.errors import InputError, ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.label_syntax import value_problems
from podium.kubernetes.rules.nodes import ZONE
from podium.offline.scenarios.file_format import WrittenPool, choose_one
from podium.offline.simulate.admission import assign_uid
from podium.offline.simulate.node_prices import PRICE, parse_price, price_of
from podium.offline.simulate.scenario import read_inline_scenario

POOL: Final = "podium/pool"
HOSTNAME: Final = "kubernetes.io/hostname"
MAX_NODES: Final = 100_000
"""Of one pool."""
_DEFAULT_PODS: Final = 110


@dataclass(frozen=True, slots=True)
class Pool:
    """`template` is a node without a name; `count` is how many there are in the beginning."""

    name: str
    count: int
    template: Node
    zones: tuple[str, ...] = ()
    price: Fraction | None = None
    """For an hour."""

    def make(self, number: int) -> Node:
        """One of its nodes."""
        metadata = self.template.metadata
        name = f"{self.name}-{number}"
        labels = {**(metadata.labels or {}), HOSTNAME: name}
        if self.zones:
            labels[ZONE] = self.zones[number % len(self.zones)]
        return assign_uid(
            replace(self.template, metadata=replace(metadata, name=name, uid="", labels=labels))
        )


def read_pool(written: WrittenPool, path: str, source: str, *, gates: FeatureGates) -> Pool:
    """Raises ObjectError, and InputError for what is wrong with the node."""
    if not written.name or value_problems(written.name):
        raise ObjectError(f"{path}.name", "is missing" if not written.name else "is no label value")
    if not 0 <= written.count <= MAX_NODES:
        raise ObjectError(f"{path}.count", f"must be from 0 to {MAX_NODES}")
    kind = choose_one(written, ("allocatable", "node"), path)
    raw: JsonObject = dict(written.node or {})
    if written.allocatable is not None:
        raw["status"] = {"allocatable": {"pods": _DEFAULT_PODS, **written.allocatable}}
    raw = {"apiVersion": "v1", "kind": "Node", **raw}
    raw["metadata"] = {**(raw.get("metadata") or {}), "name": written.name}
    document = Document(source, 1, 1, raw, item=f"{path}.{kind}")
    found = read_inline_scenario([document], gates=gates).nodes
    if len(found) != 1:
        raise ObjectError(f"{path}.node", "is no Node")
    node = found[0]
    labels = {**(node.metadata.labels or {}), **(written.labels or {}), POOL: written.name}
    annotations = dict(node.metadata.annotations or {})
    try:
        if written.price is not None:
            annotations[PRICE] = str(written.price)
            parse_price(str(written.price), "the pool has price")
        metadata = replace(node.metadata, labels=labels, annotations=annotations or None)
        node = replace(node, metadata=metadata)
        price = price_of(node)
    except InputError as problem:
        raise ObjectError(f"{path}.price", problem.problem, problem.remedy) from None
    return Pool(written.name, written.count, node, tuple(written.zones or ()), price)

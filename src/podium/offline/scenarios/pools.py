"""Pools of equal nodes, and their failures.

A pool has the nodes that a cluster begins with, and those that an autoscaler adds. Nodes are
numbered (`general-0`), have the label `podium.dev/pool`, and go through the zones of their pool in
turn.

Nodes that fail and come back, as a reactor of a timed run. With a mean time between failures each
node fails by itself, at any moment with the same chance: one Poisson process for the most nodes
that there can be, of which those count that meet a node that is there. So what chance says does not
depend on what the scheduler does. At given times a zone, or some nodes of a pool, fail at once.
What an autoscaler may replace does not come back.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from podium.golang.documents import SourceDocument
from podium.golang.errors import InputError, ObjectError
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.labels import value_problems
from podium.kubernetes.rules.nodes import ZONE, zone_of
from podium.offline.scenarios.file_format import WrittenPool, choose_one
from podium.offline.scenarios.run_times import RandomStream, RunTime
from podium.offline.simulate.admission import assign_uid
from podium.offline.simulate.node_prices import PRICE, parse_price, price_of
from podium.offline.simulate.scenario import read_inline_scenario
from podium.offline.simulate.timed_events import NodePut, NodeRemoval, TimedEvent
from podium.scheduler.engine import Engine

POOL: Final = "podium.dev/pool"
OLD_POOL: Final = "podium/pool"
"""Its earlier spelling, which nodes have as well, for pods that still choose nodes by it."""
HOSTNAME: Final = "kubernetes.io/hostname"
MAX_NODES: Final = 100_000
"""Of one pool."""
_DEFAULT_PODS: Final = 110


@dataclass(frozen=True, slots=True)
class NodePool:
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


def read_pool(written: WrittenPool, path: str, source: str, *, gates: FeatureGates) -> NodePool:
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
    document = SourceDocument(source, 1, 1, raw, item=f"{path}.{kind}")
    found = read_inline_scenario([document], gates=gates).nodes
    if len(found) != 1:
        raise ObjectError(f"{path}.node", "is no Node")
    node = found[0]
    labels = {**(node.metadata.labels or {}), **(written.labels or {})}
    labels |= {POOL: written.name, OLD_POOL: written.name}
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
    return NodePool(written.name, written.count, node, tuple(written.zones or ()), price)


@dataclass(frozen=True, slots=True)
class NodeFailure:
    """Which nodes fail (all, or those of pools and of a zone), and when: each after `mtbf_s` on
    average, or `count` of them at given times, 0 for all."""

    name: str
    pools: frozenset[str] = frozenset()
    zone: str = ""
    mtbf_s: float = 0.0
    times: Sequence[float] = ()
    count: int = 0
    repair: RunTime | None = None

    def concerns(self, node: Node) -> bool:
        in_pool = not self.pools or node.metadata.label(POOL) in self.pools
        return in_pool and (not self.zone or zone_of(node) == self.zone)


class NodeFailures:
    """One of them in a run. `failed` counts nodes, each time."""

    def __init__(
        self, failure: NodeFailure, seed: int, max_nodes: int, replaced: frozenset[str]
    ) -> None:
        """`max_nodes` are the most nodes that it can concern at once, `replaced` the pools whose
        nodes do not come back."""
        self.failed = 0
        self._failure = failure
        self._max_nodes = max_nodes
        self._replaced = replaced
        self._times = RandomStream(seed, failure.name, "failures")
        self._nodes = RandomStream(seed, failure.name, "failed nodes")
        self._repairs = RandomStream(seed, failure.name, "repairs")
        self._given = iter(sorted(failure.times))
        self._next = 0.0
        self._advance()

    def next_s(self) -> float | None:
        return None if self._next == math.inf else self._next

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        failure = self._failure
        nodes = engine.cluster.nodes
        there = sorted(
            (
                node
                for row in range(nodes.size)
                if nodes.present[row] and failure.concerns(node := nodes.node(row))
            ),
            key=lambda node: node.metadata.name,
        )
        chosen = self._choose_some(there) if failure.times else self._choose_one(there)
        self._advance()
        found: list[TimedEvent] = []
        for node in chosen:
            self.failed += 1
            repair_s = failure.repair(self._repairs) if failure.repair is not None else None
            found.append(NodeRemoval(now_s, node.metadata.name))
            if repair_s is not None and node.metadata.label(POOL) not in self._replaced:
                found.append(NodePut(now_s + repair_s, node))
        return found

    def _choose_one(self, there: Sequence[Node]) -> Sequence[Node]:
        index = self._nodes.draw_index(max(self._max_nodes, 1))
        return there[index : index + 1]

    def _choose_some(self, there: Sequence[Node]) -> Sequence[Node]:
        if not self._failure.count:
            return there
        keyed = sorted((self._nodes.draw(), at) for at in range(len(there)))
        return [there[at] for at in sorted(at for _, at in keyed[: self._failure.count])]

    def _advance(self) -> None:
        if self._failure.times:
            self._next = next(self._given, math.inf)
        elif self._max_nodes:
            self._next += self._times.draw_exponential(self._failure.mtbf_s / self._max_nodes)
        else:
            self._next = math.inf

"""Which machines to add so that enough pods fit: the cheapest mix of given shapes.

A shape is a Node manifest, one of as many as one likes to add; its price is the annotation
`podium.dev/price`. Without prices the fewest nodes are the cheapest. What a new node takes is
counted with the engine on the cluster that has it, after the pods that daemon sets would put there.

Contract: the mix that is given back has been tried: with these nodes the wanted number fits. It is
proven to be the cheapest where what one node takes does not depend on other nodes; else it is the
cheapest of those that were tried.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from msgspec.structs import replace

from podium.golang.errors import InputError
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import assign_uid
from podium.offline.simulate.node_prices import PRICE, price_of
from podium.offline.simulate.scenario import load_scenario
from podium.offline.what_if.capacity import CapacityQuestion, hold_pods
from podium.offline.what_if.capacity_answer import Mix
from podium.offline.what_if.pod_templates import TemplatePod
from podium.offline.what_if.records import Record
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.explain.trial import Trial

HOSTNAME: Final = "kubernetes.io/hostname"
MAX_MIXES: Final = 20
"""Mixes that are tried where one node's room depends on others."""


@dataclass(frozen=True, slots=True)
class NodeShape:
    """`price` is None where none is given."""

    node: Node
    price: Fraction | None = None

    @property
    def name(self) -> str:
        return self.node.metadata.name

    def make(self, number: int) -> Node:
        """A node of this shape with a name of its own."""
        metadata = self.node.metadata
        name = f"{metadata.name}-new-{number}"
        labels = {**(metadata.labels or {}), HOSTNAME: name}
        metadata = replace(metadata, name=name, labels=labels, uid="", resource_version="")
        return assign_uid(replace(self.node, metadata=metadata))


def load_nodes(path: str) -> tuple[Node, ...]:
    """The nodes of a file, by the gates of the newest release. Raises InputError."""
    return nodes_of(path, FeatureGates())


def nodes_of(path: str, gates: FeatureGates) -> tuple[Node, ...]:
    """The nodes of a file. Raises InputError."""
    return load_scenario([path], gates=gates).nodes


def read_shapes(nodes: Iterable[Node]) -> list[NodeShape]:
    """Raises InputError."""
    shapes = [NodeShape(node, price_of(node)) for node in nodes]
    if not shapes:
        raise InputError("--shapes: no Node in it", remedy="each shape is the manifest of a Node")
    unpriced = [shape.name for shape in shapes if shape.price is None]
    if unpriced and len(unpriced) < len(shapes):
        raise InputError(
            f"--shapes: no price for {', '.join(unpriced)}",
            remedy=f"annotate all of them with {PRICE}, or none",
        )
    return shapes


class NodePurchase:
    """What to add to one engine's cluster; `daemons_on` says what daemon sets make for a node."""

    def __init__(
        self,
        engine: Engine,
        question: CapacityQuestion,
        daemons_on: Callable[[Node], Iterable[Pod]],
    ) -> None:
        self._engine = engine
        self._question = question
        self._daemons_on = daemons_on

    def find(self, template: TemplatePod, wanted: int, shapes: Sequence[NodeShape]) -> Mix | None:
        """The cheapest mix with which so many fit, None if there is none."""
        there = self._question.fits_at_least(template, wanted)
        takes = {shape.name: self._takes(template, wanted, shape, there) for shape in shapes}
        useful = [shape for shape in shapes if takes[shape.name] > 0]
        if not useful:
            return None
        missing = wanted - there
        for _ in range(MAX_MIXES):
            bought = cheapest_cover(
                missing, [(takes[s.name], s.price or Fraction(1)) for s in useful]
            )
            nodes = {s.name: n for s, n in zip(useful, bought, strict=True) if n}
            with self._with_nodes(useful, bought):
                fits = self._question.fits_at_least(template, wanted)
            if fits >= wanted:
                price = _total(useful, bought)
                return Mix(nodes, fits, price, self._question.counts_by_node(template))
            missing += wanted - fits
        return None

    def _takes(self, template: TemplatePod, wanted: int, shape: NodeShape, there: int) -> int:
        with self._with_nodes([shape], [1]):
            return self._question.fits_at_least(template, wanted + there) - there

    @contextmanager
    def _with_nodes(self, shapes: Sequence[NodeShape], counts: Sequence[int]) -> Iterator[None]:
        trial = Trial(self._engine, Pod())
        nodes = [
            shape.make(number)
            for shape, count in zip(shapes, counts, strict=True)
            for number in range(count)
        ]
        with ExitStack() as stack:
            for node in nodes:
                stack.enter_context(trial.with_node(node))
            daemons = (pod for node in nodes for pod in self._daemons_on(node))
            stack.enter_context(hold_pods(self._engine, daemons))
            yield


def mix_records(mix: Mix, shapes: Iterable[NodeShape]) -> list[Record]:
    """Each shape that is to be added, with what it costs."""
    prices = {shape.name: shape.price for shape in shapes}
    found: list[Record] = []
    for name, nodes in mix.nodes.items():
        price = prices[name]
        cost = None if price is None else float(price * nodes)
        found.append({"shape": name, "nodes": nodes, "price": cost, "cheapest": mix.proven})
    return found


def _total(shapes: Sequence[NodeShape], counts: Sequence[int]) -> Fraction | None:
    if any(shape.price is None for shape in shapes):
        return None
    return sum(
        (n * (s.price or Fraction(0)) for s, n in zip(shapes, counts, strict=True)), Fraction(0)
    )


def cheapest_cover(missing: int, items: Sequence[tuple[int, Fraction]]) -> list[int]:
    """How often to take each of (room, price) so that the rooms cover what is missing for the
    least money, and of equal money with the fewest items.

    Beyond the range where remainders matter only the item with the best price for its room is
    taken: any `room` others have some among them that it could replace at no more cost. Example:
    7 with (4, 3.0) and (3, 2.0): one of each, 5.0.
    """
    if missing <= 0:
        return [0] * len(items)
    best = min(range(len(items)), key=lambda i: (items[i][1] / items[i][0], -items[i][0]))
    room = items[best][0]
    range_of_remainders = (room - 1) * max(each for each, _ in items) + room
    surely = max(0, -(-(missing - range_of_remainders) // room))
    missing -= surely * room
    cost: list[tuple[Fraction, int]] = [(Fraction(0), 0)]
    taken = [-1]
    for covered in range(1, missing + 1):
        options = (
            (cost[max(0, covered - each)][0] + price, cost[max(0, covered - each)][1] + 1, index)
            for index, (each, price) in enumerate(items)
        )
        price, count, index = min(options)
        cost.append((price, count))
        taken.append(index)
    counts = [0] * len(items)
    counts[best] = surely
    while missing > 0:
        counts[taken[missing]] += 1
        missing -= items[taken[missing]][0]
    return counts

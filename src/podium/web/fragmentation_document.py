"""How much idle GPU typical pods cannot use, node by node.

GPUShare knows its cards and its pods. Where it is in no profile, such as beside an extender, what
is written on nodes and pods tells, in each dialect that the nodes' agents speak. Nodes without an
extended resource have no agents and are not looked at, and more than 1,000 of the others are too
many to be read anew each time in the scheduler's own thread: then nothing is told.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

import numpy as np

from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.addons.gpu.packing.fragmentation import (
    NodeFragments,
    observe_fragments,
    total_fragments,
)
from podium.addons.gpu.packing.node_columns import WHOLE
from podium.addons.gpu.plugin.gpu_share import GPUShare
from podium.golang.document_structs import Document
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.requests import CPU
from podium.scheduler.engine import Engine

MAX_OBSERVED_NODES: Final = 1_000


class FragmentationView(Document, frozen=True):
    """Idle GPU that typical pods cannot use, for the page."""

    KIND: ClassVar[str] = "FragmentationView"

    idle: float
    """GPU that nobody has, in cards."""
    fragmented: float
    """What typical pods cannot use of it, in cards."""
    names: tuple[str, ...]
    """The nodes with cards."""
    node_idle: tuple[float, ...]
    """Idle GPU of each of these nodes."""
    node_fragmented: tuple[float, ...]
    """What typical pods cannot use of it, node by node."""


def fragmentation_document(engine: Engine) -> FragmentationView:
    """In cards. Nodes without cards are not among the names."""
    found = _read_followed_cards(engine)
    if found is None:
        found = _observe_cards(engine)
    together = total_fragments(found)
    return FragmentationView(
        idle=together.idle / WHOLE,
        fragmented=_cards(together.fragments),
        names=tuple(each.node for each in found),
        node_idle=tuple(each.idle / WHOLE for each in found),
        node_fragmented=tuple(_cards(each.fragments) for each in found),
    )


def _cards(milli: float) -> float:
    return round(milli / WHOLE, 4)


def _read_followed_cards(engine: Engine) -> list[NodeFragments] | None:
    for profile in engine.profiles.values():
        plugin = profile.plugins.get(GPUShare.name)
        if isinstance(plugin, GPUShare):
            return plugin.idle_cards.fragments()
    return None


def _observe_cards(engine: Engine) -> list[NodeFragments]:
    nodes = find_nodes_with_devices(engine)
    if len(nodes) > MAX_OBSERVED_NODES:
        return []
    by_dialect: dict[str, list[Node]] = {}
    for node in nodes:
        for name in find_spoken_dialects([node]):
            by_dialect.setdefault(name, []).append(node)
    found: list[NodeFragments] = []
    for name, speaking in by_dialect.items():
        left = dict(_cpu_left(engine, speaking))
        pods = engine.state.pods.values()
        found += observe_fragments(find_dialect(name), left, speaking, pods, engine.clock())
    return found


def find_nodes_with_devices(engine: Engine) -> list[Node]:
    """Those that offer an extended resource."""
    nodes = engine.cluster.nodes
    columns = [at for at, name in enumerate(nodes.resources) if "/" in name]
    if not columns:
        return []
    has = (nodes.allocatable[columns, : nodes.size] > 0).any(axis=0) & nodes.present[: nodes.size]
    return [nodes.node(row) for row in np.flatnonzero(has).tolist()]


def _cpu_left(engine: Engine, wanted: Iterable[Node]) -> Iterable[tuple[str, int]]:
    nodes, usage = engine.cluster.nodes, engine.cluster.usage
    usage.grow()
    at = list(nodes.resources).index(CPU)
    for node in wanted:
        row = nodes.row(node.name)
        yield node.name, int(nodes.allocatable[at, row] - usage.requested[at, row])

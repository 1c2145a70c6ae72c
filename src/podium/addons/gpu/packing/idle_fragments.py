"""Idle GPU of a cluster's nodes, and how much of it typical pods cannot use.

The fragmentation of each node is that of `fragmentation.py`, over the cards of a table. Whoever
follows cards all the time has the table; `observe_fragments` makes one for those who only look.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import fsum
from typing import NamedTuple

import numpy as np

from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.columns import Floats, Ints
from podium.addons.gpu.cards.held_cards import held_cards
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.packing.card_columns import card_sizes, devices_by_model, packing_columns
from podium.addons.gpu.packing.card_needs import CardSize, card_need
from podium.addons.gpu.packing.fragmentation import node_fragmentation
from podium.addons.gpu.packing.pod_kinds import PodKind, cpu_request, estimate_typical
from podium.addons.gpu.packing.typical_pods import TypicalPods
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod


class NodeFragments(NamedTuple):
    """Idle thousandths of the node's cards, and those of them that typical pods cannot use."""

    node: str
    idle: int
    fragments: float

    @property
    def ratio(self) -> float:
        return self.fragments / self.idle if self.idle else 0.0


def total_fragments(nodes: Iterable[NodeFragments]) -> NodeFragments:
    """Of all of them together."""
    listed = list(nodes)
    return NodeFragments(
        "", sum(each.idle for each in listed), fsum(each.fragments for each in listed)
    )


def table_fragments(
    table: CardTable,
    rows: Mapping[str, int],
    cpu_left: Ints,
    typical_of: Callable[[CardSize], TypicalPods],
) -> list[NodeFragments]:
    """Of the nodes with cards among these rows, by name; `cpu_left` is of these rows too."""
    numbers = np.array(list(rows.values()), np.int64)
    columns = packing_columns(table, numbers, cpu_left, np.zeros_like(numbers))
    found: Floats = np.zeros(len(numbers))
    for size, part in rows_by_size(table, numbers):
        some = columns.take(part)
        found[part] = node_fragmentation(some.cpu_left, some.left, some.model_bit, typical_of(size))
    both = zip(rows, columns.gpus.tolist(), columns.idle.tolist(), found.tolist(), strict=True)
    return [NodeFragments(name, idle, part) for name, gpus, idle, part in both if gpus]


def rows_by_size(table: CardTable, rows: Ints) -> list[tuple[CardSize, Ints]]:
    """Sizes of cards, and where among these rows the nodes are that have such."""
    sizes, numbers = card_sizes(table, rows)
    return [(size, np.flatnonzero(numbers == at)) for at, size in enumerate(sizes)]


def observe_fragments(
    dialect: Dialect,
    cpu_left: Mapping[str, int],
    nodes: Iterable[Node],
    pods: Iterable[Pod],
    now: float,
) -> list[NodeFragments]:
    """By what is written on nodes and pods; the pods there are say which ones are typical."""
    cards = {node.name: dialect.node_cards(node, now) for node in nodes}
    rows = {name: row for row, name in enumerate(cards)}
    table = CardTable(dialect.memory_unit)
    table.reserve(len(rows))
    for name, row in rows.items():
        table.put_node(row, cards[name])
    kinds: Counter[PodKind] = Counter()
    for pod in pods:
        try:
            kinds[PodKind(cpu_request(pod), card_need(dialect.pod_request(pod)))] += 1
        except InvalidRequest:
            continue
        place = dialect.decided_node(pod) or pod.spec.node_name
        if place in rows:
            held = held_cards(dialect, pod, cards.get(place, NodeCards()), now)
            table.charge(rows[place], held.uses)
    left = np.array([cpu_left[name] for name in rows], np.int64)
    capacity = devices_by_model(table)
    return table_fragments(
        table, rows, left, lambda size: estimate_typical(kinds, table, size, capacity)
    )

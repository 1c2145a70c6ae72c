"""Fragmentation of cards, and what else is measured of them for metrics.

Fragmentation is how much of what is free lies in pieces that no request for a whole card can use.
A card is idle if nobody has a share of it, and partial if somebody has and some cores are free.
Cards that cannot be had (unhealthy, cordoned, of a node that is refused) are not counted. Cores in
pieces are the free ones of partial cards; their share of all free cores is the fragmentation: 0 if
everything that is free is whole cards, 1 if there is not one. With cards of 100, 40 and 0 free
cores it is 40 / 140.

What is measured of cards, by name: for whoever shows metrics, the extender and GPUShare alike. Each
reading goes over the nodes that it is given, by name and row of the table. Pure: samples are label
values and a number each.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from podium.addons.gpu.cards.allocations import NOTHING_CHARGED, Charged
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.cards.card_table import NO_REASON, CardTable
from podium.addons.gpu.cards.columns import Ints


class NodeFragmentation(Struct, frozen=True):
    """Columns over the rows of the table."""

    cards: Ints
    idle_cards: Ints
    partial_cards: Ints
    free_cores: Ints
    free_cores_in_pieces: Ints
    free_memory: Ints
    free_memory_in_pieces: Ints


class Fragmentation(Struct, frozen=True):
    """Of one node, or of all."""

    cards: int = 0
    idle_cards: int = 0
    partial_cards: int = 0
    free_cores: int = 0
    free_cores_in_pieces: int = 0
    free_memory: int = 0
    free_memory_in_pieces: int = 0

    @property
    def of_cores(self) -> float:
        return self.free_cores_in_pieces / self.free_cores if self.free_cores else 0.0

    @property
    def of_memory(self) -> float:
        return self.free_memory_in_pieces / self.free_memory if self.free_memory else 0.0


def node_fragmentation(table: CardTable) -> NodeFragmentation:
    rows = slice(0, table.rows)
    exists = table.exists[rows] & table.healthy[rows] & ~table.cordoned[rows]
    exists &= (table.refusal[rows] == NO_REASON)[:, None]
    free_cores = (table.cores[rows] - table.used_cores[rows]).clip(min=0) * exists
    free_memory = (table.memory[rows] - table.used_memory[rows]).clip(min=0) * exists
    used = (table.used_cores[rows] | table.used_memory[rows] | table.used_slots[rows]) != 0
    idle = exists & ~used
    # Memory beside exhausted cores is free for nobody, and yet it is in pieces.
    return NodeFragmentation(
        exists.sum(axis=1),
        idle.sum(axis=1),
        (exists & used & (free_cores > 0)).sum(axis=1),
        free_cores.sum(axis=1),
        (free_cores * used).sum(axis=1),
        free_memory.sum(axis=1),
        (free_memory * used).sum(axis=1),
    )


def fragmentation(nodes: NodeFragmentation, row: int | None = None) -> Fragmentation:
    """The figures of one row, or of all together."""
    columns = (getattr(nodes, name) for name in nodes.__struct_fields__)
    return Fragmentation(*(int(each.sum() if row is None else each[row]) for each in columns))


Labels = tuple[str, ...]
Samples = Iterator[tuple[Labels, float]]
RowsByName = Mapping[str, int]

_CARD: Final = ("node", "card", "uuid")


class CardReading(NamedTuple):
    name: str
    words: str
    labels: Labels
    read: Callable[[CardTable, RowsByName], Samples]


REJECTED_NODES: Final = "podium_gpu_rejected_nodes_total"
REJECTED_NODES_WORDS: Final = "Nodes that were refused, by verb and by the code of the reason."
REJECTED_NODES_LABELS: Final = ("verb", "reason")
RESERVATIONS: Final = "podium_gpu_reservations"
RESERVATIONS_WORDS: Final = "Decisions that no pod's object confirms yet."
UNREADABLE: Final = "podium_gpu_unreadable_decisions"
UNREADABLE_WORDS: Final = "Pods with a decision of which something cannot be read."


def _of_cards(name: str, words: str, value: Callable[[Card, Charged, int], float]) -> CardReading:
    def read(table: CardTable, rows: RowsByName) -> Samples:
        for node_name, row in rows.items():
            node = table.nodes[row]
            unit = table.memory_unit * node.memory_factor
            for card in node.cards:
                charged = table.charged[row].get(card.index, NOTHING_CHARGED)
                yield (node_name, str(card.index), card.uuid), value(card, charged, unit)

    return CardReading(f"podium_gpu_card_{name}", words, _CARD, read)


def _fragmentation(table: CardTable, rows: RowsByName) -> Samples:  # noqa: ARG001
    together = fragmentation(node_fragmentation(table))
    yield ("cores",), together.of_cores
    yield ("memory",), together.of_memory


def _fragmentation_of_nodes(table: CardTable, rows: RowsByName) -> Samples:
    found = node_fragmentation(table)
    for node_name, row in rows.items():
        if table.nodes[row].cards:
            one = fragmentation(found, row)
            yield (node_name, "cores"), one.of_cores
            yield (node_name, "memory"), one.of_memory


CARD_READINGS: Final = (
    _of_cards("cores", "Hundredths of a card that there are.", lambda card, *_: card.cores),
    _of_cards(
        "used_cores", "Hundredths of a card that pods have.", lambda _, charged, __: charged.cores
    ),
    _of_cards(
        "free_cores",
        "Hundredths of a card that nobody has.",
        lambda card, charged, _: max(card.cores - charged.cores, 0),
    ),
    _of_cards("memory_bytes", "Memory that there is.", lambda card, _, unit: card.memory * unit),
    _of_cards(
        "used_memory_bytes",
        "Memory that pods have.",
        lambda _, charged, unit: charged.memory * unit,
    ),
    _of_cards(
        "free_memory_bytes",
        "Memory that nobody has.",
        lambda card, charged, unit: max(card.memory - charged.memory, 0) * unit,
    ),
    _of_cards(
        "shares", "Containers that have a share of the card.", lambda _, charged, __: charged.slots
    ),
    _of_cards(
        "healthy",
        "1 if the card can be given away.",
        lambda card, *_: card.healthy and not card.cordoned,
    ),
    CardReading(
        "podium_gpu_fragmentation_ratio",
        "The part of what is free that lies on cards in use, in the whole cluster.",
        ("resource",),
        _fragmentation,
    ),
    CardReading(
        "podium_gpu_node_fragmentation_ratio",
        "The part of what is free that lies on cards in use, by node.",
        ("node", "resource"),
        _fragmentation_of_nodes,
    ),
)

"""What is measured of cards, by name: for whoever shows metrics, the extender and GPUShare alike.

Each reading goes over the nodes that it is given, by name and row of the table. Pure: samples are
label values and a number each.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from podium.addons.gpu.cards.allocations import NOTHING_CHARGED, Charged
from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.fragmentation import fragmentation, node_fragmentation

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

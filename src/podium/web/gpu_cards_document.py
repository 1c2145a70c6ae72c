"""GPU cards of some nodes with the pods that share each, for a map that draws cards as blocks.

Which pod has how much of which card stands in annotations, in each dialect that the nodes' agents
speak. Reading them costs, so that a map asks for the nodes that it draws large enough to show
cards, and gets those of the first hundred. Where cards are handed out whole by a device plugin
nobody knows which pod has which; then there are no cards here.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from podium.addons.gpu.cards.card import Card
from podium.addons.gpu.cards.overview import CardOwner, CardView, view_dialect
from podium.addons.gpu.dialects import find_dialect
from podium.addons.gpu.dialects.dialect_detection import find_spoken_dialects
from podium.golang.document_structs import Amount, Count, Document, DocumentPart, PodKey
from podium.scheduler.engine import Engine
from podium.web.fragmentation_document import find_nodes_with_devices

MAX_NODES: Final = 100


class OwnerShare(DocumentPart, frozen=True):
    """What one pod has of a card."""

    pod: PodKey
    share: Amount
    """The part of its cores or of its memory, whichever is more; 1 is the whole card."""


class CardWithOwners(DocumentPart, frozen=True):
    """A card with those who share it."""

    dialect: str
    """The dialect that tells of it."""
    index: Count
    """Its number on the node."""
    model: str
    """Its model, empty if nobody says."""
    healthy: bool
    """Whether pods may have it."""
    memory_bytes: Count
    """Its memory."""
    used_memory_bytes: Count
    """What pods have of that, together."""
    used_cores: Count
    """What pods have of its cores, in hundredths of the card."""
    owners: tuple[OwnerShare, ...]
    """Pods that have a share of it."""


class CardsOnNode(DocumentPart, frozen=True):
    """The cards of one node."""

    name: str
    """The node."""
    cards: tuple[CardWithOwners, ...]
    """Its cards in their order."""


class GPUCards(Document, frozen=True):
    """GPU cards of nodes, for the map of the page."""

    KIND: ClassVar[str] = "GPUCardsView"

    nodes: tuple[CardsOnNode, ...]
    """Those of the nodes that were asked about whose agents tell of cards."""


def read_gpu_cards(
    engine: Engine, names: Sequence[str] = (), max_nodes: int = MAX_NODES
) -> GPUCards:
    """Of nodes by name, or of those that offer devices."""
    wanted = names or [node.name for node in find_nodes_with_devices(engine)]
    found = (CardsOnNode(name, _cards(engine, name)) for name in wanted[:max_nodes])
    return GPUCards(tuple(each for each in found if each.cards))


def _cards(engine: Engine, name: str) -> tuple[CardWithOwners, ...]:
    nodes, usage = engine.cluster.nodes, engine.cluster.usage
    if not nodes.is_present(name):
        return ()
    usage.grow()
    row = nodes.row(name)
    node, pods = nodes.node(row), [info.pod for info in usage.pods(row)]
    found: list[CardWithOwners] = []
    for spoken in find_spoken_dialects([node]):
        view = view_dialect(find_dialect(spoken), [node], pods, engine.clock(), {})
        for seen in view.nodes:
            found += [_card(spoken, card, view.memory_unit) for card in seen.cards]
    return tuple(found)


def _card(dialect: str, view: CardView, memory_unit: int) -> CardWithOwners:
    card = view.card
    return CardWithOwners(
        dialect,
        card.index,
        card.model,
        card.healthy,
        card.memory * memory_unit,
        view.used.memory * memory_unit,
        view.used.cores,
        tuple(OwnerShare(owner.key, _share(card, owner)) for owner in view.owners),
    )


def _share(card: Card, owner: CardOwner) -> float:
    of_cores = owner.use.cores / card.cores if card.cores else 0.0
    of_memory = owner.use.memory / card.memory if card.memory else 0.0
    return round(max(of_cores, of_memory), 4)

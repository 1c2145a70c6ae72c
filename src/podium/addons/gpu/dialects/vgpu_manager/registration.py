"""What vgpu-manager's agent writes on its node: its settings, its cards, and how they are linked.

Links are kinds of connections, from 1 for a path through two processors to 24 for eighteen NVLinks.
They are scored as HAMi scores them, with the numbers that NVIDIA's own allocator uses.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.card import MAX_LINK, MAX_MEMORY, NVLINK, Card, NodeCards
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.dialects.dialect import NodeWrite
from podium.addons.gpu.dialects.reading import (
    IN_MIG_MODE,
    BadText,
    allocatable_of,
    bad_registration,
    check_uuid,
    read_cards,
    read_json,
    read_numa,
)
from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.node import Node

NUMBER: Final = "nvidia.com/vgpu-number"
REGISTER: Final = "nvidia.com/node-device-register"
CONFIG: Final = "nvidia.com/node-config-info"
TOPOLOGY: Final = "nvidia.com/node-device-topology"
VIRTUAL_MEMORY: Final = "virtual"
PHYSICAL_MEMORY: Final = "physical"

_PCI_LINKS: Final = 6
_MAX_NVLINKS: Final = 18
_SEPARATORS: Final = "_,;[] "


class _Config(msgspec.Struct, rename="camel"):
    device_split: int = 0
    cores_scaling: float = 1.0
    memory_factor: int = 0
    memory_scaling: float = 1.0


class _RegisteredCard(msgspec.Struct):
    id: int = 0
    type: str = ""
    uuid: str = ""
    core: int = 0
    memory: int = 0
    number: int = 0
    numa: int = 0
    mig: bool = False
    bus_id: str = msgspec.field(default="", name="busId")
    capability: float = 0.0
    healthy: bool = False


class _Links(msgspec.Struct):
    index: int = 0
    links: dict[str, list[int]] | None = None


def read_node(node: Node) -> NodeCards:
    if allocatable_of(node, NUMBER) == 0:
        return NodeCards(refusal=Reason.NO_CARDS, detail=f"the node has no {NUMBER}")
    found = read_cards(REGISTER, node.metadata, _read_register)
    if found.refusal is not None:
        return found
    text = node.metadata.annotation(CONFIG)
    if not text:
        return NodeCards(refusal=Reason.NOT_REGISTERED, detail=f"annotation {CONFIG} is missing")
    try:
        config = read_json(text, _Config)
        if config.device_split <= 0 or not 0 < config.memory_factor <= MAX_MEMORY:
            raise BadText("deviceSplit and memoryFactor are not both above 0")
    except BadText as problem:
        return bad_registration(CONFIG, str(problem))
    mode = VIRTUAL_MEMORY if config.memory_scaling > 1 else PHYSICAL_MEMORY
    cards = [
        replace(card, mode=mode, memory=card.memory // config.memory_factor) for card in found.cards
    ]
    return NodeCards(
        cards=tuple(_link(cards, node.metadata.annotation(TOPOLOGY))),
        memory_factor=config.memory_factor,
    )


def write_node(cards: Sequence[Card]) -> NodeWrite:
    virtual = any(card.mode == VIRTUAL_MEMORY for card in cards)
    config = _Config(
        device_split=max((card.slots for card in cards), default=1) or 1,
        memory_factor=1,
        memory_scaling=2.0 if virtual else 1.0,
    )
    linked = [
        _Links(
            card.index,
            {
                str(peer.index): _link_types(card.links[peer.index])
                for peer in cards
                if card.links[peer.index]
            },
        )
        for card in cards
        if card.links
    ]
    return NodeWrite(
        annotations={
            CONFIG: msgspec.json.encode(config).decode(),
            REGISTER: msgspec.json.encode([_registered(card) for card in cards]).decode(),
            TOPOLOGY: msgspec.json.encode(linked).decode() if linked else None,
        },
        capacity={NUMBER: str(sum(card.slots for card in cards))},
    )


def _read_register(text: str) -> Iterable[Card]:
    return map(_card, read_json(text, list[_RegisteredCard]))


def _card(card: _RegisteredCard) -> Card:
    return Card(
        index=card.id,
        uuid=check_uuid(card.uuid, _SEPARATORS),
        model=card.type,
        memory=card.memory,
        cores=card.core,
        slots=card.number,
        numa=read_numa(card.numa),
        healthy=card.healthy,
        profiles=IN_MIG_MODE if card.mig else (),
    )


def _registered(card: Card) -> _RegisteredCard:
    return _RegisteredCard(
        id=card.index,
        type=card.model,
        uuid=card.uuid,
        core=card.cores,
        memory=card.memory,
        number=card.slots,
        numa=card.numa,
        mig=bool(card.profiles),
        healthy=card.healthy,
    )


def _link(cards: Sequence[Card], text: str) -> Iterable[Card]:
    """The cards with how well they are connected; as they are where that cannot be read, since
    only pods that ask for links need it."""
    if not text:
        return cards
    try:
        entries = {entry.index: entry.links or {} for entry in read_json(text, list[_Links])}
    except BadText:
        return cards
    width = cards[-1].index + 1
    linked = []
    for card in cards:
        scores = [0] * width
        for key, types in entries.get(card.index, {}).items():
            peer = parse_int(key)
            if peer is not None and 0 <= peer < width and peer != card.index:
                scores[peer] = min(sum(map(_link_score, types)), MAX_LINK)
        linked.append(replace(card, links=tuple(scores)))
    return linked


def _link_score(link: int) -> int:
    """10 to 60 for the ways over PCI, 100 for each NVLink; 0 for what nobody knows."""
    if not 0 < link <= _PCI_LINKS + _MAX_NVLINKS:
        return 0
    return 10 * link if link <= _PCI_LINKS else NVLINK * (link - _PCI_LINKS)


def _link_types(score: int) -> list[int]:
    nvlinks, rest = divmod(score, NVLINK)
    types = [rest // 10] if rest else []
    return [*types, _PCI_LINKS + nvlinks] if nvlinks else types

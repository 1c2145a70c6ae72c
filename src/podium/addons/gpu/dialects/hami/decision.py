"""HAMi's decisions as text: `uuid,NVIDIA,memory,cores:` a card, `;` behind each container.

Init containers come first, then the others, all of them in one list. Instances of cards in MIG mode
are named in a second annotation.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import CardShare
from podium.addons.gpu.cards.card import MAX_CARDS, MAX_SLICES, Card
from podium.addons.gpu.dialects.reading import (
    MAX_TEXT,
    BadText,
    check_number,
    quote,
    read_json,
    read_number,
)

VENDOR: Final = "NVIDIA"

Shares = tuple[CardShare, ...]


class _Placement(msgspec.Struct):
    start: int = 0
    size: int = 0


class _Instance(msgspec.Struct, rename="camel"):
    container_index: int = 0
    device_index: int = 0
    gpu_uuid: str = msgspec.field(default="", name="gpuUUID")
    profile: str = ""
    placement: _Placement = msgspec.field(default_factory=_Placement)


def write_containers(containers: Iterable[Shares], cards: Sequence[Card]) -> str:
    uuids = {card.index: card.uuid for card in cards}
    return "".join(
        "".join(f"{uuids[at.card]},{VENDOR},{at.memory},{at.cores}:" for at in shares) + ";"
        for shares in containers
    )


def read_containers(
    text: str, count: int, cards: Sequence[Card], problems: list[str]
) -> list[Shares]:
    """The shares of `count` containers; what cannot be read is left out and named."""
    if len(text) > MAX_TEXT:
        problems.append(f"decision is longer than {MAX_TEXT} characters")
        return [()] * count
    parts = text.split(";")[:-1] if text.endswith(";") else text.split(";")
    if len(parts) > count:
        problems.append(f"decision has {len(parts)} containers, the pod has {count}")
    by_uuid = {card.uuid: card.index for card in cards}
    containers: list[Shares] = []
    for part in (*parts[:count], *[""] * (count - len(parts))):
        try:
            containers.append(tuple(_read_cards(part, by_uuid, problems)))
        except BadText as problem:
            problems.append(str(problem))
            containers.append(())
    return containers


def _read_cards(part: str, cards: dict[str, int], problems: list[str]) -> Iterable[CardShare]:
    entries = [entry for entry in part.split(":") if entry]
    if len(entries) > MAX_CARDS:
        raise BadText(f"more than {MAX_CARDS} cards of one container")
    for entry in entries:
        fields = entry.split(",")
        if len(fields) < 4:
            raise BadText(f"{quote(entry)} is not uuid,type,memory,cores")
        memory, cores = read_number(fields[2], "memory"), read_number(fields[3], "cores")
        card = cards.get(fields[0])
        if card is None:
            problems.append(f"the node has no card {quote(fields[0])}")
        else:
            yield CardShare(card=card, cores=cores, memory=memory)


def write_instances(containers: Sequence[Shares], cards: Sequence[Card]) -> str | None:
    """The annotation for cards in MIG mode; None if there are none."""
    uuids = {card.index: card.uuid for card in cards}
    instances = [
        _Instance(
            container_index=container,
            device_index=device,
            gpu_uuid=uuids[share.card],
            profile=share.mig_profile,
            placement=_Placement(share.placement, share.width),
        )
        for container, shares in enumerate(containers)
        for device, share in enumerate(shares)
        if share.mig_profile
    ]
    return msgspec.json.encode(instances).decode() if instances else None


def read_instances(text: str, containers: list[Shares], problems: list[str]) -> list[Shares]:
    """The shares with the instances that they are."""
    if not text:
        return containers
    try:
        instances = {
            (instance.container_index, instance.device_index): instance
            for instance in read_json(text, list[_Instance])
        }
        for instance in instances.values():
            check_number(instance.placement.start, "placement", MAX_SLICES - 1)
            check_number(instance.placement.size, "size", MAX_SLICES)
    except BadText as problem:
        problems.append(f"MIG instances: {problem}")
        return containers
    return [
        tuple(
            _as_instance(share, instances.get((container, device)))
            for device, share in enumerate(shares)
        )
        for container, shares in enumerate(containers)
    ]


def _as_instance(share: CardShare, instance: _Instance | None) -> CardShare:
    if instance is None or not instance.profile:
        return share
    placement = instance.placement
    return replace(
        share, mig_profile=instance.profile, placement=placement.start, width=placement.size
    )

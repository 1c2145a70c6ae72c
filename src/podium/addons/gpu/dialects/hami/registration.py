"""HAMi's annotations as text: cards and their links on nodes, decisions on pods.

Newer agents write JSON, older ones text: `uuid,slots,memory,cores,model,numa,healthy:` a card,
later with `,index,mode` behind.

HAMi's decisions as text: `uuid,NVIDIA,memory,cores:` a card, `;` behind each container. Init
containers come first, then the others, all of them in one list. Instances of cards in MIG mode are
named in a second annotation.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import CardShare
from podium.addons.gpu.cards.card import (
    MAX_CARDS,
    MAX_LINK,
    MAX_SLICES,
    Card,
    MigProfile,
    NodeCards,
    Reason,
)
from podium.addons.gpu.dialects.dialect import NodeWrite
from podium.addons.gpu.dialects.reading import (
    IN_MIG_MODE,
    MAX_TEXT,
    BadText,
    allocatable_of,
    bad_registration,
    check_number,
    check_uuid,
    quote,
    read_cards,
    read_json,
    read_numa,
    read_number,
    split_list,
)
from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.node import Node

REGISTER: Final = "hami.io/node-nvidia-register"
LINK_SCORES: Final = "hami.io/node-nvidia-score"
HANDSHAKE: Final = "hami.io/node-handshake"
CORDON: Final = "hami.io/device-cordon"
COUNT: Final = "nvidia.com/gpu"
SHARED_MODE: Final = "hami-core"
MIG_MODE: Final = "mig"

HANDSHAKE_TIMEOUTS_S: Final = {"Reported": 300.0, "Requesting": 60.0, "Deleted": 0.0}
"""How long after each step of the handshake an agent may be silent: what it said last, what its
scheduler asked it, and that its scheduler gave it up."""
_HANDSHAKE: Final = re.compile(rf"({'|'.join(HANDSHAKE_TIMEOUTS_S)})[_ .](.{{19}})")
_HANDSHAKE_TIME: Final = "%Y-%m-%d %H:%M:%S"


class _Placement(msgspec.Struct):
    start: int = 0
    size: int = 0


class _Profile(msgspec.Struct, rename="camel"):
    name: str = ""
    memory_mb: int = msgspec.field(default=0, name="memoryMB")
    core: int = 0
    slice_count: int = 0
    placements: list[_Placement] | None = None


class _RegisteredCard(msgspec.Struct, omit_defaults=True):
    id: str = ""
    index: int = 0
    count: int = 0
    devmem: int = 0
    devcore: int = 0
    type: str = ""
    numa: int = 0
    mode: str = ""
    mig_profiles: list[_Profile] | None = msgspec.field(default=None, name="migProfiles")
    health: bool = False


class _LinkScores(msgspec.Struct):
    uuid: str = ""
    score: dict[str, int] | None = None


def read_node(node: Node, now: float) -> NodeCards:
    found = read_cards(REGISTER, node.metadata, _read_register)
    if found.refusal is not None:
        return found
    cordoned = frozenset(split_list(node.metadata.annotation(CORDON)))
    cards = [replace(card, cordoned=card.uuid in cordoned) for card in found.cards]
    try:
        linked = tuple(_link(cards, node.metadata.annotation(LINK_SCORES)))
    except BadText as problem:
        return bad_registration(LINK_SCORES, str(problem))
    good_until = _good_until(node)
    if now <= good_until:
        return NodeCards(cards=linked, good_until=good_until)
    return NodeCards(
        cards=linked,
        refusal=Reason.HEARTBEAT_TIMEOUT,
        detail=f"{HANDSHAKE} {quote(node.metadata.annotation(HANDSHAKE))}",
    )


def write_node(cards: Sequence[Card], now: float) -> NodeWrite:
    registered = [_register_card(card) for card in cards]
    scores = [
        _LinkScores(
            card.uuid, {peer.uuid: card.links[peer.index] for peer in cards if peer is not card}
        )
        for card in cards
        if card.links
    ]
    cordoned = ",".join(card.uuid for card in cards if card.cordoned)
    said = datetime.fromtimestamp(now, UTC).strftime(_HANDSHAKE_TIME)
    return NodeWrite(
        annotations={
            REGISTER: msgspec.json.encode(registered).decode(),
            LINK_SCORES: msgspec.json.encode(scores).decode() if scores else None,
            HANDSHAKE: f"Reported_{said}",
            CORDON: cordoned or None,
        },
        capacity={COUNT: str(sum(card.slots for card in cards))},
    )


def _good_until(node: Node) -> float:
    """When the handshake is overdue. As long as the kubelet still has devices of the agent it
    lives, and what cannot be read says nothing."""
    step = _HANDSHAKE.match(node.metadata.annotation(HANDSHAKE))
    if step is None or allocatable_of(node, COUNT) > 0:
        return inf
    try:
        at = datetime.strptime(step[2], _HANDSHAKE_TIME).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return inf
    return at + HANDSHAKE_TIMEOUTS_S[step[1]]


def _read_register(text: str) -> Iterable[Card]:
    if text.lstrip().startswith("["):
        cards = read_json(text, list[_RegisteredCard])
    else:
        cards = list(_read_text(text))
    if len(cards) > 1 and not any(card.index for card in cards):
        for index, card in enumerate(cards):  # agents that do not say it list them in order
            card.index = index
    return map(_card, cards)


def _read_text(text: str) -> Iterable[_RegisteredCard]:
    if ":" not in text:
        raise BadText(f"{quote(text)} is neither JSON nor cards that end with a colon")
    for part in filter(None, text.split(":")):
        fields = part.split(",")
        if len(fields) not in (7, 9):
            raise BadText(f"card {quote(part)} has {len(fields)} fields, not 7 or 9")
        uuid, slots, memory, cores, model, numa, healthy = fields[:7]
        if healthy not in ("true", "false"):
            raise BadText(f"healthy {quote(healthy)} is neither true nor false")
        numa_node = parse_int(numa)
        if numa_node is None:
            raise BadText(f"NUMA node {quote(numa)} is not a number")
        yield _RegisteredCard(
            id=uuid,
            index=read_number(fields[7], "index", MAX_CARDS - 1) if len(fields) == 9 else 0,
            count=read_number(slots, "slots"),
            devmem=read_number(memory, "memory"),
            devcore=read_number(cores, "cores"),
            type=model,
            numa=numa_node,
            mode=fields[8] if len(fields) == 9 else "",
            health=healthy == "true",
        )


def _card(card: _RegisteredCard) -> Card:
    profiles = tuple(map(_profile, (card.mig_profiles or ())[: MAX_CARDS + 1]))
    in_mig_mode = card.mode == MIG_MODE
    return Card(
        index=card.index,
        uuid=check_uuid(card.id, ",:;"),
        model=card.type,
        memory=card.devmem,
        cores=card.devcore,
        slots=card.count,
        numa=read_numa(card.numa),
        healthy=card.health,
        mode=card.mode or SHARED_MODE,
        profiles=(profiles or IN_MIG_MODE) if in_mig_mode else (),
    )


def _profile(profile: _Profile) -> MigProfile:
    placements = profile.placements or []
    widths = {placement.size for placement in placements}
    if not profile.name or len(widths) != 1:
        raise BadText(f"MIG profile {quote(profile.name)} has no placements of one size")
    return MigProfile(
        name=profile.name,
        memory=profile.memory_mb,
        cores=profile.core,
        width=widths.pop(),
        placements=tuple(at.start for at in placements[:MAX_SLICES]),
    )


def _register_card(card: Card) -> _RegisteredCard:
    profiles = [
        _Profile(
            name=profile.name,
            memory_mb=profile.memory,
            core=profile.cores,
            slice_count=parse_int(profile.name.partition("g.")[0]) or profile.width,
            placements=[_Placement(at, profile.width) for at in profile.placements],
        )
        for profile in card.profiles
        if profile.name
    ]
    return _RegisteredCard(
        id=card.uuid,
        index=card.index,
        count=card.slots,
        devmem=card.memory,
        devcore=card.cores,
        type=card.model,
        numa=card.numa,
        mode=card.mode or (MIG_MODE if card.profiles else SHARED_MODE),
        mig_profiles=profiles or None,
        health=card.healthy,
    )


def _link(cards: Sequence[Card], text: str) -> Iterable[Card]:
    """The cards with how well they are connected. A card that the scores do not name is not."""
    if not text:
        return cards
    scores = {entry.uuid: entry.score or {} for entry in read_json(text, list[_LinkScores])}
    width = cards[-1].index + 1
    linked = []
    for card in cards:
        links = [0] * width
        for peer in cards:
            if peer is not card:
                score = scores.get(card.uuid, {}).get(peer.uuid, 0)
                links[peer.index] = check_number(score, "link score", MAX_LINK)
        linked.append(replace(card, links=tuple(links)))
    return linked


VENDOR: Final = "NVIDIA"

Shares = tuple[CardShare, ...]


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

"""Cards as the agent of a node registered them, and why a node or a card is not taken.

Amounts of memory are in the units of the dialect that read them; cores are hundredths of a card.

Codes of reasons are stable: metrics, answers and documents carry them. A
node's reason is the one that keeps most of its cards away, the first of the list if several do.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final

from msgspec import Struct


class Reason(Enum):
    """(code, phrase): the phrase stands behind a node's name in answers and messages."""

    # of the whole node
    NO_CARDS = "NodeNoGPU", "no GPU device"
    NOT_REGISTERED = "NodeNoVGPURegister", "node has no registered GPUs"
    BAD_REGISTRATION = "NodeBadVGPURegister", "the node's GPU registration cannot be read"
    NO_HEARTBEAT = "NodeNoHeartbeat", "node has no gpu manager heartbeat"
    HEARTBEAT_TIMEOUT = "NodeHeartbeatTimeout", "node heartbeat timeout"
    BAD_HEARTBEAT = "NodeBadHeartbeat", "node heartbeat time is not a standard timestamp"
    NODE_LOCKED = "NodeLocked", "another pod is being bound to the node"
    QUOTA_EXCEEDED = "ExceedsGPUQuota", "ExceedsGPUQuota"
    # of single cards
    UNHEALTHY = "DeviceUnhealthy", "GPU is unhealthy"
    CORDONED = "DeviceCordoned", "GPU is cordoned"
    MIG_ENABLED = "DeviceMIGEnabled", "GPU is in MIG mode"
    NO_MIG_PROFILE = "InsufficientMIGPlacement", "no free placement for the MIG profile"
    MODEL_MISMATCH = "DeviceTypeMismatch", "GPU type does not match"
    UUID_MISMATCH = "DeviceUUIDMismatch", "GPU UUID does not match"
    NOT_IDLE = "DeviceInUse", "GPU is in use"
    CORES_EXHAUSTED = "DeviceCoresExhausted", "GPU cores are exhausted"
    INSUFFICIENT_SLOTS = "InsufficientVGPUSlot", "insufficient GPU slots"
    INSUFFICIENT_MEMORY = "InsufficientVGPUMemory", "insufficient GPU memory"
    INSUFFICIENT_CORES = "InsufficientVGPUCore", "insufficient GPU cores"
    # of cards together
    INSUFFICIENT_CARDS = "InsufficientGPUCards", "insufficient GPU cards"
    NUMA_UNSATISFIED = "NUMATopologyUnsatisfied", "no NUMA node has enough matching GPUs"
    LINKS_UNSATISFIED = "LinkTopologyUnsatisfied", "no linked GPUs match"
    # of the pod
    INVALID_REQUEST = "InvalidGPURequest", "the pod's GPU request is not valid"

    def __init__(self, code: str, phrase: str) -> None:
        self.code = code
        self.phrase = phrase


UNLIMITED: Final = 1 << 30
"""Slots of a card whose dialect does not count who shares it."""
UNKNOWN_NUMA: Final = -1
NVLINK: Final = 100
"""How well two cards with one NVLink between them are connected; ways over PCI are below."""

MAX_CARDS: Final = 128
MAX_CORES: Final = 1 << 16
MAX_MEMORY: Final = 1 << 38
MAX_NUMA: Final = 1023
MAX_LINK: Final = 1 << 20
MAX_SLICES: Final = 62
"""Beyond these an amount is a mistake, and sums of them could be too large for columns."""


class MigProfile(Struct, frozen=True):
    """A size of instance that a card can be split into. A placement is the first of the `width`
    memory slices that the instance would occupy."""

    name: str
    memory: int
    cores: int
    width: int
    placements: tuple[int, ...]


class Card(Struct, frozen=True):
    index: int
    uuid: str = ""
    model: str = ""
    memory: int = 0
    cores: int = 100
    slots: int = UNLIMITED
    numa: int = UNKNOWN_NUMA
    healthy: bool = True
    cordoned: bool = False
    mode: str = ""
    """How the card is shared out, in the dialect's word, where pods may ask for one."""
    profiles: tuple[MigProfile, ...] = ()
    """A card with profiles is in MIG mode: it is given away by instances only."""
    links: tuple[int, ...] = ()
    """How well it is connected with each card of the node, by index; empty if nobody knows."""


class NodeCards(Struct, frozen=True):
    """The cards of a node in order of their indexes; with a refusal none of them can be had."""

    cards: tuple[Card, ...] = ()
    refusal: Reason | None = None
    detail: str = ""
    """The dialect's own words for the refusal, where it has some."""
    memory_factor: int = 1
    """How many units of the node's agent are one of those that pods ask in."""
    good_until: float = float("inf")
    """When none of the cards can be had any more, unless the agent says something before."""


NO_CARDS: Final = NodeCards(refusal=Reason.NO_CARDS)


def find_mistake(cards: Sequence[Card]) -> str:
    """What no node can have; empty if nothing."""
    if len(cards) > MAX_CARDS:
        return f"{len(cards)} cards are more than {MAX_CARDS}"
    indexes = [card.index for card in cards]
    if any(index < 0 for index in indexes) or indexes != sorted(set(indexes)):
        return "the indexes of cards have to be different, in order and not negative"
    for card in cards:
        if not 0 <= card.cores <= MAX_CORES:
            return f"card {card.index}: cores have to be 0 to {MAX_CORES}, not {card.cores}"
        if not 0 <= card.memory <= MAX_MEMORY:
            return f"card {card.index}: memory has to be 0 to {MAX_MEMORY}, not {card.memory}"
        if not 0 <= card.slots <= UNLIMITED:
            return f"card {card.index}: slots have to be 0 to {UNLIMITED}, not {card.slots}"
        if not UNKNOWN_NUMA <= card.numa <= MAX_NUMA:
            return f"card {card.index}: the NUMA node has to be -1 to {MAX_NUMA}, not {card.numa}"
        for profile in card.profiles:
            if not _possible(profile):
                return f"card {card.index}: no instance can be as profile {profile.name!r} says"
    return ""


def _possible(profile: MigProfile) -> bool:
    return (
        0 <= profile.cores <= MAX_CORES
        and 0 <= profile.memory <= MAX_MEMORY
        and profile.width > 0
        and all(0 <= at <= MAX_SLICES - profile.width for at in profile.placements)
    )

"""What a pod asks of cards, whatever the dialect it was said in."""

from enum import Enum
from typing import NamedTuple

from msgspec import Struct


class ContainerRequest(Struct, frozen=True):
    """`cards` different cards, and of each of them the rest.

    `exclusive`: only cards that nobody uses. `whole`: all of each card is taken, whatever amounts
    are named. `memory_percent` of a card's memory counts instead of `memory` where it is given.
    `mig`: an instance of each card, of the profile that is named or else of the smallest that has
    the amounts.
    """

    cards: int = 1
    cores: int = 0
    memory: int = 0
    memory_percent: int | None = None
    exclusive: bool = False
    whole: bool = False
    mig: bool = False
    mig_profile: str = ""

    def wants_mig(self) -> bool:
        return self.mig or bool(self.mig_profile)


class CardSelector(Struct, frozen=True):
    """Which cards may be taken. Models match by part of their name, in any case of letters; a card
    has to match one of those to use, if there are some, and none of those not to use."""

    models: tuple[str, ...] = ()
    not_models: tuple[str, ...] = ()
    uuids: tuple[str, ...] = ()
    not_uuids: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    """Modes of cards that will do; any if there are none."""

    def by_kind(self) -> bool:
        """Whether models or modes matter."""
        return bool(self.models or self.not_models or self.modes)


class CardKey(Enum):
    """By what cards are put in order, ascending. Keys are tried one after the other; equal cards go
    by their index."""

    FREE_CORES = "free-cores"
    MOST_FREE_CORES = "most-free-cores"
    FREE_MEMORY = "free-memory"
    MOST_FREE_MEMORY = "most-free-memory"
    FULLEST = "binpack"  # by the weighted share that would be used
    EMPTIEST = "spread"
    NUMA = "numa"
    """Cards of one NUMA node together, the node with most of them that match first."""


class NodePolicy(Enum):
    NONE = "none"
    FULLEST_BY_CORES = "free-cores"  # by free cores, then free memory
    EMPTIEST_BY_CORES = "most-free-cores"
    BINPACK = "binpack"  # by used slots, cores and memory, each as a share, added up
    SPREAD = "spread"


class CardTopology(Enum):
    """How the cards of one container are to lie to each other. A strict one refuses the node."""

    NONE = "none"
    NUMA = "numa"
    NUMA_STRICT = "numa-strict"
    LINK = "link"
    LINK_STRICT = "link-strict"


class ScoreWeights(Struct, frozen=True):
    """How much slots, cores and memory count in the share of a card that is used."""

    slots: int = 1
    cores: int = 1
    memory: int = 1


class PodRequest(Struct, frozen=True):
    """One entry for each container of the pod, None for those that ask for no card."""

    containers: tuple[ContainerRequest | None, ...]
    init_containers: tuple[ContainerRequest | None, ...] = ()
    sidecars: tuple[bool, ...] = ()
    """Which init containers go on beside the others (restartPolicy Always)."""
    selector: CardSelector = CardSelector()
    node_policy: NodePolicy = NodePolicy.BINPACK
    card_order: tuple[CardKey, ...] = (CardKey.FREE_CORES, CardKey.FREE_MEMORY)
    idle_only: bool = False
    """Only cards that nobody uses, shared ones among them (HAMi's `mutex`)."""
    topology: CardTopology = CardTopology.NONE
    weights: ScoreWeights = ScoreWeights()


class ContainerStart(NamedTuple):
    """A container that asks for cards, by its place among the init containers or the others.
    `ends`: before the next one starts."""

    init: bool
    position: int
    container: ContainerRequest
    ends: bool


def starting_order(request: PodRequest) -> list[ContainerStart]:
    """The containers that ask for cards, in the order in which they start."""
    sidecars = request.sidecars
    starts = [
        ContainerStart(True, i, container, not (i < len(sidecars) and sidecars[i]))
        for i, container in enumerate(request.init_containers)
        if container is not None and container.cards > 0
    ]
    for i, container in enumerate(request.containers):
        if container is not None and container.cards > 0:
            starts.append(ContainerStart(False, i, container, False))
    return starts

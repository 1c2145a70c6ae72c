"""vgpu-manager: `nvidia.com/vgpu-number` cards, of each of them `vgpu-cores` and `vgpu-memory`.

Without memory a container has all memory of its cards; with neither, all cores as well. Memory is
in megabytes times the factor that the node's agent is set to.

vgpu-manager's decisions as text: `name[index_uuid_cores_memory,…]`, `;` between containers.
Containers that have no card are not in it. Init containers come first, in the order in which the
kubelet starts them.

What vgpu-manager's agent writes on its node: its settings, its cards, and how they are linked.
Links are kinds of connections, from 1 for a path through two processors to 24 for eighteen NVLinks.
They are scored as HAMi scores them, with the numbers that NVIDIA's own allocator uses.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import Allocation, CardShare
from podium.addons.gpu.cards.card import (
    MAX_CARDS,
    MAX_LINK,
    MAX_MEMORY,
    NVLINK,
    Card,
    NodeCards,
    Reason,
)
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    NodePolicy,
    PodRequest,
)
from podium.addons.gpu.dialects.dialect import (
    Dialect,
    InvalidRequest,
    NodeWrite,
    Phase,
    PodWrite,
    WrittenDecision,
)
from podium.addons.gpu.dialects.reading import (
    IN_MIG_MODE,
    MAX_TEXT,
    BadText,
    allocatable_of,
    bad_registration,
    check_asking,
    check_uuid,
    containers_of,
    has_sidecars,
    init_containers_of,
    limit_of,
    nanoseconds,
    quote,
    read_cards,
    read_json,
    read_numa,
    read_number,
    remove_keys,
    seconds_of_nanoseconds,
    split_list,
)
from podium.golang.arithmetic import INT64_MAX, parse_int
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.labels import value_problems

Shares = tuple[CardShare, ...]


def write_claims(containers: Iterable[tuple[str, Shares]], node: NodeCards) -> str:
    uuids = {card.index: card.uuid for card in node.cards}
    return ";".join(
        f"{name}[{','.join(_claim(share, uuids, node.memory_factor) for share in shares)}]"
        for name, shares in containers
        if shares
    )


def _claim(share: CardShare, uuids: Mapping[int, str], factor: int) -> str:
    return f"{share.card}_{uuids[share.card]}_{share.cores}_{share.memory * factor}"


def count_claims(text: str) -> int:
    """How many containers a text of claims names."""
    return sum(1 for part in text.split(";") if part.strip())


def read_claims(
    text: str, names: Sequence[str], node: NodeCards, problems: list[str]
) -> dict[str, Shares]:
    """Shares by the name of the container; what cannot be read is left out and named."""
    if len(text) > MAX_TEXT:
        problems.append(f"decision is longer than {MAX_TEXT} characters")
        return {}
    by_uuid = {card.uuid: card.index for card in node.cards}
    known = frozenset(names)
    claims: dict[str, Shares] = {}
    for part in filter(None, text.replace(" ", "").split(";")):
        name, bracket, rest = part.partition("[")
        if not bracket or not rest.endswith("]") or name in claims:
            problems.append(f"{quote(part)} is not container[index_uuid_cores_memory]")
        elif name not in known:
            problems.append(f"the pod has no container {quote(name)}")
        else:
            try:
                claims[name] = tuple(_read_cards(rest[:-1], by_uuid, node.memory_factor, problems))
            except BadText as problem:
                problems.append(str(problem))
    return claims


def _read_cards(
    text: str, cards: Mapping[str, int], factor: int, problems: list[str]
) -> Iterable[CardShare]:
    entries = [entry for entry in text.split(",") if entry]
    if len(entries) > MAX_CARDS:
        raise BadText(f"more than {MAX_CARDS} cards of one container")
    for entry in entries:
        fields = entry.split("_")
        if len(fields) != 4:
            raise BadText(f"{quote(entry)} is not index_uuid_cores_memory")
        read_number(fields[0], "index", MAX_CARDS - 1)
        cores, memory = read_number(fields[2], "cores"), read_number(fields[3], "memory")
        # Indexes may have changed since; the uuid is the card.
        card = cards.get(fields[1])
        if card is None:
            problems.append(f"the node has no card {quote(fields[1])}")
        else:
            yield CardShare(card=card, cores=cores, memory=-(-memory // factor))


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
            REGISTER: msgspec.json.encode([_register_card(card) for card in cards]).decode(),
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


def _register_card(card: Card) -> _RegisteredCard:
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


CORES: Final = "nvidia.com/vgpu-cores"
MEMORY: Final = "nvidia.com/vgpu-memory"
NODE: Final = "nvidia.com/predicate-node"
TIME: Final = "nvidia.com/predicate-time"
PRE_ALLOCATED: Final = "nvidia.com/pre-allocated"
REAL_ALLOCATED: Final = "nvidia.com/real-allocated"
PHASE_LABEL: Final = "nvidia.com/assigned-phase"
NODE_LABEL: Final = "nvidia.com/metrics-node"
NODE_POLICY: Final = "nvidia.com/node-scheduler-policy"
CARD_POLICY: Final = "nvidia.com/device-scheduler-policy"
MEMORY_POLICY: Final = "nvidia.com/memory-scheduler-policy"
TOPOLOGY_MODE: Final = "nvidia.com/device-topology-mode"

MAX_CONTAINER_CARDS: Final = 16
_ALL_CORES: Final = 100
_SETTLED: Final = str(INT64_MAX)
"""The time of pods that the agent is done with: they are last in its order."""
_PHASES: Final = {"succeed": Phase.CONFIRMED, "failed": Phase.FAILED}
_NODE_POLICIES: Final = {"binpack": NodePolicy.BINPACK, "spread": NodePolicy.SPREAD}
_CARD_ORDERS: Final = {"binpack": (CardKey.FULLEST,), "spread": (CardKey.EMPTIEST,)}
_TOPOLOGIES: Final = {mode.value: mode for mode in CardTopology}


class VGPUManager(Dialect):
    name = "vgpu-manager"
    resources = (NUMBER, CORES, MEMORY)
    memory_unit = 1 << 20
    cores_resource = CORES
    memory_resource = MEMORY
    node_policy_key = NODE_POLICY
    card_policy_key = CARD_POLICY

    # --- nodes ---

    def node_cards(self, node: Node, now: float) -> NodeCards:  # noqa: ARG002
        return read_node(node)

    def register(self, cards: Sequence[Card], now: float) -> NodeWrite:  # noqa: ARG002
        return write_node(cards)

    # --- requests ---

    def pod_request(self, pod: Pod) -> PodRequest | None:
        containers = tuple(map(_container_request, containers_of(pod)))
        init_containers = tuple(map(_container_request, init_containers_of(pod)))
        if not any((*containers, *init_containers)):
            return None
        check_asking(*containers, *init_containers)
        return PodRequest(
            containers=containers,
            init_containers=init_containers,
            sidecars=has_sidecars(pod),
            selector=_selector(pod),
            node_policy=_NODE_POLICIES.get(_word(pod, NODE_POLICY), NodePolicy.NONE),
            card_order=_CARD_ORDERS.get(_word(pod, CARD_POLICY), ()),
            topology=_TOPOLOGIES.get(_word(pod, TOPOLOGY_MODE), CardTopology.NONE),
        )

    # --- decisions ---

    def decided_node(self, pod: Pod) -> str:
        return pod.metadata.annotation(NODE)

    def decision(self, pod: Pod, node: NodeCards) -> WrittenDecision | None:
        node_name = self.decided_node(pod)
        planned, given = (pod.metadata.annotation(key) for key in (PRE_ALLOCATED, REAL_ALLOCATED))
        if not node_name or not (planned or given):
            return None
        problems: list[str] = []
        # The agent writes down one container after the other; until the last, the plan counts.
        text = given if count_claims(given) >= count_claims(planned) else planned
        names = _names(pod)
        claims = read_claims(text, names, node, problems)
        shares = tuple(claims.get(name, ()) for name in names)
        starting = len(init_containers_of(pod))
        return WrittenDecision(
            node=node_name,
            allocation=Allocation(
                containers=shares[starting:],
                init_containers=shares[:starting],
                sidecars=has_sidecars(pod),
            ),
            decided_at=seconds_of_nanoseconds(pod.metadata.annotation(TIME)) or 0.0,
            phase=_PHASES.get(pod.metadata.label(PHASE_LABEL), Phase.RESERVED),
            problem="; ".join(problems),
        )

    def write_decision(
        self, pod: Pod, node_name: str, node: NodeCards, allocation: Allocation, now: float
    ) -> PodWrite:
        starting = allocation.init_containers or ((),) * len(init_containers_of(pod))
        claims = write_claims(
            zip(_names(pod), (*starting, *allocation.containers), strict=True), node
        )
        return PodWrite(
            annotations={
                NODE: node_name,
                PRE_ALLOCATED: claims,
                REAL_ALLOCATED: "",
                TIME: nanoseconds(now),
            },
            labels={PHASE_LABEL: "filtering", NODE_LABEL: _label(node_name)},
        )

    def write_binding(self, pod: Pod, now: float) -> PodWrite:
        return PodWrite(
            annotations={TIME: nanoseconds(now)},
            labels={PHASE_LABEL: "allocating", NODE_LABEL: _label(self.decided_node(pod))},
        )

    def clear_decision(self, pod: Pod) -> PodWrite:
        keys = (NODE, TIME, PRE_ALLOCATED, REAL_ALLOCATED)
        return PodWrite(
            annotations=remove_keys(pod.metadata.annotations, keys),
            labels=remove_keys(pod.metadata.labels, (PHASE_LABEL, NODE_LABEL)),
        )

    # --- the agent ---

    def confirm(self, pod: Pod) -> PodWrite:
        return PodWrite(
            annotations={REAL_ALLOCATED: pod.metadata.annotation(PRE_ALLOCATED), TIME: _SETTLED},
            labels={PHASE_LABEL: "succeed", NODE_LABEL: _label(pod.spec.node_name)},
        )

    def refuse(self, pod: Pod) -> PodWrite:  # noqa: ARG002
        return PodWrite(
            annotations={TIME: _SETTLED}, labels={PHASE_LABEL: "failed", NODE_LABEL: None}
        )

    def waiting_since(self, pod: Pod) -> float | None:
        if not pod.metadata.annotation(PRE_ALLOCATED) or self.decided_node(pod) != (
            pod.spec.node_name
        ):
            return None
        return seconds_of_nanoseconds(pod.metadata.annotation(TIME))

    def device_count(self, container: Container) -> int:
        return limit_of(container, NUMBER) or 0


def _label(node_name: str) -> str | None:
    """A label holds 63 characters, a node's name up to 253."""
    return node_name if node_name and not value_problems(node_name) else None


def _names(pod: Pod) -> list[str]:
    return [container.name for container in (*init_containers_of(pod), *containers_of(pod))]


def _word(pod: Pod, key: str) -> str:
    return pod.metadata.annotation(key).strip().lower()


def _selector(pod: Pod) -> CardSelector:
    read = pod.metadata.annotation
    memory = _word(pod, MEMORY_POLICY)
    modes = {"virt": (VIRTUAL_MEMORY,), "phy": (PHYSICAL_MEMORY,)}
    return CardSelector(
        models=split_list(read("nvidia.com/include-gpu-type")),
        not_models=split_list(read("nvidia.com/exclude-gpu-type")),
        uuids=split_list(read("nvidia.com/include-gpu-uuid")),
        not_uuids=split_list(read("nvidia.com/exclude-gpu-uuid")),
        modes=next((mode for start, mode in modes.items() if memory.startswith(start)), ()),
    )


def _container_request(container: Container) -> ContainerRequest | None:
    number = limit_of(container, NUMBER)
    cores, memory = limit_of(container, CORES) or 0, limit_of(container, MEMORY) or 0
    if not number:
        if cores or memory:
            raise InvalidRequest(
                f"container {container.name} asks for a share without {NUMBER}: the agent "
                f"would give it no card; ask for {NUMBER} 1 beside it"
            )
        return None
    if number > MAX_CONTAINER_CARDS or cores > _ALL_CORES:
        raise InvalidRequest(
            f"container {container.name} asks for {NUMBER} {number} with {CORES} {cores}: right "
            f"are up to {MAX_CONTAINER_CARDS} cards with up to {_ALL_CORES} cores of each"
        )
    return ContainerRequest(
        cards=number,
        cores=cores if cores or memory else _ALL_CORES,
        memory=memory,
        memory_percent=None if memory else 100,
    )

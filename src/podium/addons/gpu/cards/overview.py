"""What one sees of a cluster's cards: who has which share of them, and what is left.

One dialect at a time: its nodes with their cards, the pods that hold shares, the pods that wait for
some, and the pods whose decisions count nothing, with the reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import inf

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation, CardUse
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import NO_REASON, REASONS, CardTable
from podium.addons.gpu.cards.fragmentation import Fragmentation, fragmentation, node_fragmentation
from podium.addons.gpu.cards.held_cards import HeldCards, held_cards
from podium.addons.gpu.cards.reasons import Reason
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest, Phase
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.rules.timestamps import seconds_of

ConfigMaps = Mapping[tuple[str, str], Mapping[str, str]]
"""Data of ConfigMaps by namespace and name."""


class CardOwner(Struct, frozen=True):
    """What a pod has of a card; `instances` are profiles of MIG with their placements."""

    namespace: str
    name: str
    use: CardUse
    phase: Phase
    instances: tuple[tuple[str, int], ...] = ()

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class CardView(Struct, frozen=True):
    """A card with what all owners together have of it, which may be more than there is."""

    card: Card
    used: CardUse
    owners: tuple[CardOwner, ...] = ()


class NodeView(Struct, frozen=True):
    """With a `refusal` none of the cards can be had."""

    name: str
    cards: tuple[CardView, ...]
    fragmentation: Fragmentation
    refusal: Reason | None = None
    detail: str = ""


class UncountedPod(Struct, frozen=True):
    """A pod of whose decision nothing, or not all, counts."""

    namespace: str
    name: str
    node: str
    why: str


class WaitingPod(Struct, frozen=True):
    """A pod that asks for cards and has no node."""

    namespace: str
    name: str
    request: PodRequest


class DialectView(Struct, frozen=True):
    dialect: str
    memory_unit: int
    nodes: tuple[NodeView, ...]
    fragmentation: Fragmentation
    waiting: tuple[WaitingPod, ...] = ()
    uncounted: tuple[UncountedPod, ...] = ()


def view_dialect(
    dialect: Dialect,
    nodes: Sequence[Node],
    pods: Iterable[Pod],
    now: float,
    config_maps: ConfigMaps | None = None,
) -> DialectView:
    """The nodes that speak a dialect, and the pods that ask in it."""
    found = {node.name: read_cards(dialect, node, now, config_maps or {}) for node in nodes}
    speaking = [name for name, cards in found.items() if speaks(cards)]
    rows = {name: row for row, name in enumerate(speaking)}
    table = CardTable(dialect.memory_unit)
    table.reserve(len(rows))
    for name, row in rows.items():
        table.put_node(row, found[name])
    owners: dict[str, dict[int, list[CardOwner]]] = {name: {} for name in speaking}
    waiting: list[WaitingPod] = []
    uncounted: list[UncountedPod] = []
    for pod in pods:
        place = dialect.decided_node(pod) or pod.spec.node_name
        cards = found.get(place)
        held = held_cards(dialect, pod, cards or NodeCards(), now)
        why = _why_uncounted(dialect, pod, held, place, is_known=cards is not None)
        if why:
            uncounted.append(UncountedPod(pod.namespace, pod.name, place, why))
        elif held.allocation is None and not pod.spec.node_name:
            request = _request(dialect, pod)
            if request is not None:
                waiting.append(WaitingPod(pod.namespace, pod.name, request))
        if held.allocation is not None and place in rows:
            table.charge(rows[place], held.uses)
            for index, use in held.uses.items():
                owner = _owner(pod, held, held.allocation, index, use)
                owners[place].setdefault(index, []).append(owner)
    pieces = node_fragmentation(table)
    return DialectView(
        dialect.name,
        dialect.memory_unit,
        tuple(
            _view_node(table, row, name, owners[name], fragmentation(pieces, row))
            for name, row in rows.items()
        ),
        fragmentation(pieces),
        tuple(waiting),
        tuple(uncounted),
    )


def read_cards(dialect: Dialect, node: Node, now: float, config_maps: ConfigMaps) -> NodeCards:
    """The node's cards with all that is said of them."""
    cards = dialect.node_cards(node, now)
    place = dialect.config_map_name(node.name)
    if place is not None and place in config_maps:
        cards = dialect.read_config_map(cards, config_maps[place])
    return cards


def speaks(cards: NodeCards) -> bool:
    """Whether the node has an agent of the dialect, be it one that nobody understands."""
    return bool(cards.cards) or cards.refusal is Reason.BAD_REGISTRATION


def latest_moment(dialect: Dialect, nodes: Iterable[Node], pods: Iterable[Pod]) -> float:
    """The last moment that objects tell of: what stands in files was true then. 0 if none does."""
    latest = 0.0
    timeout_s = dialect.heartbeat_timeout_s
    for node in nodes:
        cards = dialect.node_cards(node, -inf)
        if timeout_s is not None and cards.good_until != inf:
            latest = max(latest, cards.good_until - timeout_s)
    for pod in pods:
        decision = dialect.decision(pod, NodeCards())
        times = [condition.last_transition_time for condition in pod.status.conditions or ()]
        told = (_seconds(text) for text in (pod.metadata.creation_timestamp, *times))
        latest = max(latest, decision.decided_at if decision else 0.0, *told)
    return latest


def _seconds(text: str | None) -> float:
    try:
        return seconds_of(text or "")
    except (ValueError, OverflowError):
        return 0.0


def _why_uncounted(
    dialect: Dialect, pod: Pod, held: HeldCards, place: str, *, is_known: bool
) -> str:
    """Why not all of what a pod asks for or was given counts; empty if all of it does."""
    if held.staleness is not None:
        return held.staleness.value
    if held.allocation is not None:
        return held.unread if is_known else f"there is no node {place}"
    try:
        asks = dialect.pod_request(pod) is not None
    except InvalidRequest as problem:
        return str(problem)
    if asks and pod.spec.node_name:
        return "it is bound, and no decision says which cards it has"
    return ""


def _request(dialect: Dialect, pod: Pod) -> PodRequest | None:
    try:
        return dialect.pod_request(pod)
    except InvalidRequest:
        return None


def _owner(
    pod: Pod, held: HeldCards, allocation: Allocation, index: int, use: CardUse
) -> CardOwner:
    shares = [
        share
        for part in (*allocation.init_containers, *allocation.containers)
        for share in part
        if share.card == index and share.mig_profile
    ]
    return CardOwner(
        pod.namespace,
        pod.name,
        use,
        held.phase or Phase.RESERVED,
        tuple((share.mig_profile, share.placement) for share in shares),
    )


def _view_node(
    table: CardTable,
    row: int,
    name: str,
    owners: Mapping[int, Sequence[CardOwner]],
    pieces: Fragmentation,
) -> NodeView:
    node, code = table.nodes[row], int(table.refusal[row])
    books = table.charged[row]
    views = []
    for card in node.cards:
        book = books.get(card.index)
        used = CardUse(book.cores, book.memory, book.slots, book.slices) if book else CardUse()
        views.append(CardView(card, used, tuple(owners.get(card.index, ()))))
    refusal = None if code == NO_REASON else REASONS[code]
    return NodeView(name, tuple(views), pieces, refusal, node.detail)

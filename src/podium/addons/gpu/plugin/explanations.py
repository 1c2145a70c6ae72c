"""Why each card of a node is not taken, for a person who asks."""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from podium.addons.gpu.cards.allocations import NOTHING_CHARGED, Charged
from podium.addons.gpu.cards.card import Card, Reason
from podium.addons.gpu.cards.card_rules import Facts, set_needs
from podium.addons.gpu.cards.card_table import REASONS, CardTable
from podium.addons.gpu.cards.choosing import explain_cards
from podium.addons.gpu.cards.quota import NamespaceUse, QuotaLeft
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest, starting_order
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.golang.arithmetic import parse_int
from podium.kubernetes.kinds.meta import Quantity, ResourceList
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.requests import CPU, MEMORY
from podium.plugin import ChangeKind, ProposedChange, RefusalCause


def explain_row(
    table: CardTable, row: int, request: PodRequest, quota: QuotaLeft | None = None
) -> str:
    """`card 2: InsufficientVGPUMemory (needs 4000, 1200 free)`, cards of one text together; for a
    node whose cards cannot be had at all, why. Empty if the pod fits."""
    code = int(table.refusal[row]) if row < table.rows else REASONS.index(Reason.NO_CARDS)
    if code >= 0:
        detail = table.nodes[row].detail if row < table.rows else ""
        return f"{REASONS[code].code}: {detail or REASONS[code].phrase}"
    starts = starting_order(request)
    only = starts[0].container if len(starts) == 1 else None
    cards = {card.index: card for card in table.nodes[row].cards}
    texts: dict[str, list[int]] = {}
    free = []
    for index, reason in explain_cards(table, row, request, quota):
        if reason is None:
            free.append(index)
            continue
        charged = table.charged[row].get(index, NOTHING_CHARGED)
        text = f"{reason.code}{_figures(reason, cards[index], charged, only)}"
        texts.setdefault(text, []).append(index)
    told = [f"{name_cards(indexes)}: {text}" for text, indexes in texts.items()]
    if free:
        wanted = max((start.container.cards for start in starts), default=1)
        told.append(f"{name_cards(free)}: free, and {wanted} needed together")
    return "; ".join(told)


def name_cards(indexes: Sequence[int]) -> str:
    """`card 2`, `cards 0, 1`"""
    return f"{'card' if len(indexes) == 1 else 'cards'} {', '.join(map(str, indexes))}"


def _figures(
    reason: Reason, card: Card, charged: Charged, container: ContainerRequest | None
) -> str:
    """What the container needs of the card, and what is left of it."""
    if reason is Reason.MODEL_MISMATCH:
        return f" (is {card.model or 'of no known model'})"
    if reason is Reason.INSUFFICIENT_SLOTS:
        return f" ({charged.slots} of {card.slots} in use)"
    if reason is Reason.NOT_IDLE:
        return f" ({charged.cores} cores and {charged.memory} memory in use)"
    if container is None:
        return ""
    facts = Facts()
    facts.cores, facts.memory = card.cores, card.memory
    set_needs(container, facts)
    if reason is Reason.INSUFFICIENT_MEMORY:
        return f" (needs {facts.need_memory}, {max(card.memory - charged.memory, 0)} free)"
    if reason is Reason.INSUFFICIENT_CORES:
        return f" (needs {facts.need_cores}, {max(card.cores - charged.cores, 0)} free)"
    return ""


def quota_cause(namespace: str, use: NamespaceUse) -> RefusalCause:
    cores, memory = use.held(namespace)
    text = f"Pods of namespace {namespace} hold {cores} cores and {memory} memory of GPUs."
    told = {"cores": cores, "memory": memory}
    return RefusalCause(Reason.QUOTA_EXCEEDED.code, namespace, text, told)


def cards_cause(table: CardTable, request: PodRequest) -> RefusalCause | None:
    """A container that asks for more cards than any node has."""
    wanted, most = most_wanted(request), most_of_a_node(table)
    if not most or wanted <= most:
        return None
    text = f"The pod asks for {wanted} GPU cards in one container; the largest node has {most}."
    return RefusalCause("too-many-gpu-cards", "", text, {"wanted": wanted, "largestNode": most})


def propose_fewer_cards(
    pod: Pod, table: CardTable, request_of: Callable[[Pod], PodRequest | None]
) -> Iterator[ProposedChange]:
    """As many cards as the largest node has; what a container says of each card stays."""
    request = request_of(pod)
    most = most_of_a_node(table)
    if request is None or not most or most_wanted(request) <= most:
        return
    containers = list(pod.spec.containers or ())
    for at, asked in enumerate(request.containers):
        if asked is None or asked.cards <= most:
            continue
        for name, limits in _with_fewer(containers[at], asked.cards, most):
            changed = _with_container(pod, at, limits)
            try:
                left = request_of(changed)
            except InvalidRequest:
                continue
            if left is not None and most_wanted(left) <= most:
                text = f"ask for {most} GPU cards in place of {asked.cards} ({name})"
                yield ProposedChange("lower-gpu-cards", text, ChangeKind.LOWER_REQUEST, changed)
                return


def most_wanted(request: PodRequest) -> int:
    return max((start.container.cards for start in starting_order(request)), default=0)


def most_of_a_node(table: CardTable) -> int:
    return max((len(node.cards) for node in table.nodes[: table.rows]), default=0)


def _with_fewer(container: Container, cards: int, most: int) -> Iterator[tuple[str, Container]]:
    """The container with one of its amounts lowered in the proportion of the cards."""
    resources = container.resources
    if resources is None:
        return
    for name in {**(resources.limits or {}), **(resources.requests or {})}:
        amount = parse_int(str((resources.limits or resources.requests or {}).get(name, "")))
        if amount is None or amount < cards or name in (CPU, MEMORY):
            continue
        lowered: Quantity = str(amount * most // cards)
        changed = replace(
            resources,
            limits=_set(resources.limits, name, lowered),
            requests=_set(resources.requests, name, lowered),
        )
        yield name, replace(container, resources=changed)


def _set(amounts: ResourceList | None, name: str, amount: Quantity) -> ResourceList | None:
    return amounts if amounts is None or name not in amounts else {**amounts, name: amount}


def _with_container(pod: Pod, at: int, container: Container) -> Pod:
    containers = list(pod.spec.containers or ())
    containers[at] = container
    return replace(pod, spec=replace(pod.spec, containers=tuple(containers)))

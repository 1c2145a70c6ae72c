"""Why each card of a node is not taken, for a person who asks."""

from collections.abc import Sequence

from podium.gpu.allocations import NOTHING_CHARGED, Charged
from podium.gpu.card_rules import Facts, set_needs
from podium.gpu.card_table import REASONS, CardTable
from podium.gpu.cards import Card
from podium.gpu.choosing import explain_cards
from podium.gpu.namespace_use import NamespaceUse
from podium.gpu.quota import QuotaLeft
from podium.gpu.reasons import Reason
from podium.gpu.requests import ContainerRequest, PodRequest, starting_order
from podium.plugin import RefusalCause


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

"""vgpu-manager's decisions as text: `name[index_uuid_cores_memory,…]`, `;` between containers.

Containers that have no card are not in it. Init containers come first, in the order in which the
kubelet starts them.
"""

from collections.abc import Iterable, Mapping, Sequence

from podium.addons.gpu.cards.allocations import CardShare
from podium.addons.gpu.cards.card import MAX_CARDS, NodeCards
from podium.addons.gpu.dialects.reading import MAX_TEXT, BadText, quote, read_number

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

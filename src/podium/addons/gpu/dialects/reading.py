"""Reading what agents, schedulers and users wrote into metadata and limits.

Anybody may write an annotation. Every text is bounded before it is taken apart, numbers are Go's,
and what is wrong is said in one line that names the key.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import msgspec

from podium.addons.gpu.cards.card import (
    MAX_CARDS,
    MAX_MEMORY,
    UNKNOWN_NUMA,
    Card,
    MigProfile,
    NodeCards,
    Reason,
    find_mistake,
)
from podium.addons.gpu.cards.requests import ContainerRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.golang.arithmetic import INT64_MAX, parse_int
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod
from podium.kubernetes.rules.quantity import QuantityError, value

MAX_TEXT: Final = 256 * 1024
"""Bytes of all annotations of an object together, as Kubernetes limits them."""
MAX_LIST: Final = 1024
"""Entries of a list that a user wrote into an annotation."""
MAX_CONTAINERS: Final = 128
"""Of one pod that ask for cards: each of them is looked at beside all cards of a node."""
_MAX_SHOWN: Final = 80
_NANOSECONDS: Final = 1_000_000_000

IN_MIG_MODE: Final = (MigProfile(name="", memory=0, cores=0, width=1, placements=()),)
"""Profiles of a card in MIG mode whose agent does not say what it can be split into."""

T = TypeVar("T")


class BadText(ValueError):
    """A text that its key's format does not allow; the message says why."""


def quote(text: str) -> str:
    """A text of somebody else's within a message."""
    return repr(text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…")


def read_number(text: str, what: str, largest: int = MAX_MEMORY) -> int:
    """A number from 0 on; BadText otherwise."""
    number = parse_int(text)
    if number is None or not 0 <= number <= largest:
        raise BadText(f"{what} {quote(text)} is not a number from 0 to {largest}")
    return number


def check_number(number: int, what: str, largest: int = MAX_MEMORY) -> int:
    if not 0 <= number <= largest:
        raise BadText(f"{what} {number} is not a number from 0 to {largest}")
    return number


def check_uuid(uuid: str, separators: str) -> str:
    """A uuid that decisions can name: not empty, and without the characters that end it there."""
    if not uuid or any(character in separators for character in uuid):
        raise BadText(f"uuid {quote(uuid)} is empty or has one of {separators}")
    return uuid


def read_numa(number: int) -> int:
    """A NUMA node; all negative ones are unknown."""
    return max(number, UNKNOWN_NUMA)


def read_json(text: str, kind: type[T]) -> T:
    """JSON of a known shape; BadText otherwise. Keys that the shape does not have are skipped."""
    if len(text) > MAX_TEXT:
        raise BadText(f"longer than {MAX_TEXT} characters")
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as problem:
        raise BadText(str(problem)) from None


def split_list(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list, without blank ones."""
    entries = (entry.strip() for entry in text.split(",", MAX_LIST)[:MAX_LIST])
    return tuple(entry for entry in entries if entry)


def nanoseconds(at: float) -> str:
    """A moment as these programs write it."""
    return str(round(at * _NANOSECONDS))


def seconds_of_nanoseconds(text: str) -> float | None:
    """A moment, None for a text that names none; the last that fits an int64 names none either."""
    number = parse_int(text)
    return None if number is None or not 0 < number < INT64_MAX else number / _NANOSECONDS


def limit_of(container: Container, resource: str, *, or_request: bool = False) -> int | None:
    """What a container's limits say, None if nothing; InvalidRequest if it is below 0 or no
    quantity. Extended resources have equal limits and requests."""
    resources = container.resources
    if resources is None:
        return None
    quantity = (resources.limits or {}).get(resource)
    if quantity is None and or_request:
        quantity = (resources.requests or {}).get(resource)
    if quantity is None:
        return None
    try:
        amount = value(quantity)
    except QuantityError as problem:
        raise InvalidRequest(f"container {container.name}: {resource}: {problem}") from None
    if not 0 <= amount <= MAX_MEMORY:
        raise InvalidRequest(
            f"container {container.name}: {resource} {quantity} is not between 0 and {MAX_MEMORY}"
        )
    return amount


def check_asking(*requests: ContainerRequest | None) -> None:
    """InvalidRequest if more containers of a pod ask for cards than are looked at."""
    asking = sum(1 for request in requests if request is not None)
    if asking > MAX_CONTAINERS:
        raise InvalidRequest(
            f"{asking} containers ask for cards, and {MAX_CONTAINERS} of a pod are served at most;"
            " spread them over several pods"
        )


def is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def containers_of(pod: Pod) -> tuple[Container, ...]:
    return pod.spec.containers or ()


def init_containers_of(pod: Pod) -> tuple[Container, ...]:
    return pod.spec.init_containers or ()


def has_sidecars(pod: Pod) -> tuple[bool, ...]:
    """Which of the init containers are sidecars."""
    return tuple(map(is_sidecar, init_containers_of(pod)))


def capacity_of(node: Node, resource: str) -> int:
    """0 if the node has none, or says it in no quantity."""
    return _amount((node.status.capacity or {}).get(resource))


def allocatable_of(node: Node, resource: str) -> int:
    """Nodes that say nothing of what is allocatable have all their capacity to give."""
    allocatable = node.status.allocatable
    if allocatable is None:
        return capacity_of(node, resource)
    return _amount(allocatable.get(resource))


def _amount(quantity: str | int | float | None) -> int:
    if quantity is None:
        return 0
    try:
        return max(value(quantity), 0)
    except QuantityError:
        return 0


def read_cards(key: str, metadata: ObjectMeta, read: Callable[[str], Iterable[Card]]) -> NodeCards:
    """The cards of a registration; a node is refused if it has none, or one that cannot be read."""
    text = metadata.annotation(key)
    if not text:
        return NodeCards(refusal=Reason.NOT_REGISTERED, detail=f"annotation {key} is missing")
    if len(text) > MAX_TEXT:
        return bad_registration(key, f"longer than {MAX_TEXT} characters")
    try:
        cards = sorted(read(text), key=lambda card: card.index)
        _check_cards(cards)
    except BadText as problem:
        return bad_registration(key, str(problem))
    if not cards:
        return NodeCards(refusal=Reason.NO_CARDS, detail=f"annotation {key} names no card")
    return NodeCards(cards=tuple(cards))


def bad_registration(key: str, problem: str) -> NodeCards:
    return NodeCards(refusal=Reason.BAD_REGISTRATION, detail=f"annotation {key}: {problem}")


def _check_cards(cards: Sequence[Card]) -> None:
    mistake = find_mistake(cards)
    if mistake:
        raise BadText(mistake)
    if any(card.index >= MAX_CARDS for card in cards):
        raise BadText(f"an index is above {MAX_CARDS - 1}")
    uuids = [card.uuid for card in cards if card.uuid]
    if len(set(uuids)) < len(uuids):
        raise BadText("two cards have the same uuid")


def equal_cards(count: int, memory: int, resource: str) -> NodeCards:
    """The cards of a node whose agent says no more than how many there are, all alike."""
    if count > MAX_CARDS:  # before they are made
        return NodeCards(
            refusal=Reason.BAD_REGISTRATION,
            detail=f"capacity {resource} makes {count} cards, more than {MAX_CARDS}",
        )
    cards = tuple(Card(index=at, memory=memory) for at in range(count))
    mistake = find_mistake(cards)
    if mistake:
        detail = f"capacity {resource}: {mistake}"
        return NodeCards(refusal=Reason.BAD_REGISTRATION, detail=detail)
    return NodeCards(cards=cards)


def remove_keys(present: Mapping[str, str] | None, keys: Iterable[str]) -> dict[str, str | None]:
    """Removals of those keys that are there."""
    return {key: None for key in keys if key in (present or {})}

"""What an agent on a node does when the kubelet asks it for devices: simulated agents use this.

The kubelet names neither the pod nor the container, only how many devices it wants. The agent has
to guess: it takes the pod that has waited longest. Where it chooses cards itself, a shared card
that is not the one of the decision fails the pod, with the kubelet's `UnexpectedAdmissionError`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest
from podium.addons.gpu.dialects.gpu_manager import WHOLE_CARD
from podium.addons.gpu.dialects.node_lock import read_lock
from podium.addons.gpu.dialects.reading import containers_of, init_containers_of
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod

UNEXPECTED_ADMISSION: Final = "UnexpectedAdmissionError"

ServedContainers = Mapping[str, frozenset[str]]
"""Names of the containers that have their cards, by the uid of their pod."""


class ServedContainer(Struct, frozen=True):
    """The container that a call is taken to be for, and the cards that its decision names: none if
    there is no decision."""

    pod: Pod
    container: str
    devices: int
    cards: tuple[int, ...]


class AllocationFailed(Struct, frozen=True):
    """The kubelet fails the pod with UNEXPECTED_ADMISSION and this message."""

    message: str
    pod: Pod | None = None


class FreeCard(Struct, frozen=True):
    """What is left of a card, and how many processes run on it."""

    index: int
    cores: int
    memory: int
    processes: int = 0


def find_container(
    dialect: Dialect,
    node: Node,
    cards: NodeCards,
    pods: Iterable[Pod],
    devices: int,
    served: ServedContainers,
) -> ServedContainer | AllocationFailed:
    """Whom a call for so many devices serves, of all pods of the cluster."""
    waiting = [
        (pod, unserved)
        for pod in _waiting_pods(dialect, node, pods)
        if (unserved := list(_find_unserved(dialect, pod, served)))
    ]
    unfinished = [entry for entry in waiting if served.get(entry[0].metadata.uid)]
    for pod, unserved in unfinished[:1] or waiting:
        for at, container in unserved:
            planned = _planned_cards(dialect, pod, cards, at)
            by_size = dialect.matches_by_size
            count = _device_count(dialect, container) if by_size else len(planned)
            if count == devices:
                return ServedContainer(pod, container.name, devices, planned)
            if unfinished or not by_size:
                return AllocationFailed(
                    f"allocation request mismatch for container {container.name}: "
                    f"{devices} devices, not {count}",
                    pod,
                )
    return AllocationFailed(f"candidate pod not found for a request of {devices} devices")


def check_cards(
    dialect: Dialect, served: ServedContainer, chosen: Sequence[int]
) -> AllocationFailed | None:
    """Whether the agent may give the cards that it chose. Whole ones replace those of the decision
    (`GPUManager.write_cards`)."""
    if not dialect.chooses_shared_card or not served.cards or served.devices >= WHOLE_CARD:
        return None
    if tuple(chosen) == served.cards:
        return None
    return AllocationFailed(
        f"container {served.container}: chosen card {list(chosen)} is not the predicate card "
        f"{list(served.cards)}",
        served.pod,
    )


def choose_shared_card(cards: Iterable[FreeCard], cores: int, memory: int) -> int | None:
    """The card that an agent shares by itself: the fullest that has room, as it sees them."""
    ordered = sorted(cards, key=lambda card: (card.cores, card.memory, card.processes, card.index))
    fitting = (card.index for card in ordered if card.cores >= cores and card.memory >= memory)
    return next(fitting, None)


def _waiting_pods(dialect: Dialect, node: Node, pods: Iterable[Pod]) -> list[Pod]:
    """Pods on the node that wait for the agent, first come first; only the lock's owner if one of
    them holds it."""
    found: list[tuple[float, str, str, str, Pod]] = []
    for pod in pods:
        if pod.spec.node_name != node.name or pod.metadata.is_terminating:
            continue
        if pod.status.phase not in ("", "Pending") or not _asks(dialect, pod):
            continue
        since = dialect.waiting_since(pod)
        if since is not None:
            created = pod.metadata.creation_timestamp or ""
            found.append((since, created, pod.namespace, pod.name, pod))
    waiting = [entry[-1] for entry in sorted(found, key=lambda entry: entry[:4])]
    holder = read_lock(dialect.lock, node) if dialect.lock is not None else None
    if holder is not None:
        return [pod for pod in waiting if holder.is_pod(pod.metadata)] or waiting
    return waiting


def _asks(dialect: Dialect, pod: Pod) -> bool:
    return any(_device_count(dialect, container) for _, container in _all_containers(pod))


def _device_count(dialect: Dialect, container: Container) -> int:
    try:
        return dialect.device_count(container)
    except InvalidRequest:
        return 0


def _find_unserved(
    dialect: Dialect, pod: Pod, served: ServedContainers
) -> Iterable[tuple[int, Container]]:
    """In the order in which the kubelet starts them, with their place in it."""
    done = served.get(pod.metadata.uid, frozenset())
    for at, container in _all_containers(pod):
        if container.name not in done and _device_count(dialect, container):
            yield at, container


def _all_containers(pod: Pod) -> Iterable[tuple[int, Container]]:
    return enumerate((*init_containers_of(pod), *containers_of(pod)))


def _planned_cards(dialect: Dialect, pod: Pod, cards: NodeCards, at: int) -> tuple[int, ...]:
    decision = dialect.decision(pod, cards)
    if decision is None:
        return ()
    allocation = decision.allocation
    starting = allocation.init_containers or ((),) * len(init_containers_of(pod))
    return tuple(share.card for share in (*starting, *allocation.containers)[at])

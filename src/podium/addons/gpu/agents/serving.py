"""How the kubelet of a node asks the GPU agent for devices, and what the agent does then.

A pod is asked for before it starts, container by container; the agent is not told for which. What
each of them remembers of it is kept apart: the agent may give one pod what was meant for another,
as the real ones do, and both sides then go by what they believe.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from msgspec import Struct

from podium.addons.gpu.agents.registration import Agent
from podium.addons.gpu.cards.allocations import Allocation, CardShare, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.requests import CardTopology, ContainerRequest, PodRequest
from podium.addons.gpu.dialects.agents import (
    UNEXPECTED_ADMISSION,
    AllocationFailed,
    FreeCard,
    ServedContainer,
    check_cards,
    choose_shared_card,
    find_container,
)
from podium.addons.gpu.dialects.dialect import Dialect, InvalidRequest, Phase, PodWrite
from podium.addons.gpu.dialects.gpu_manager import GPUManager
from podium.addons.gpu.dialects.node_lock import may_release_lock, read_lock
from podium.addons.gpu.dialects.reading import allocatable_of, containers_of, init_containers_of
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Container, Pod

_ENDED: Final = ("Succeeded", "Failed")


class DeviceRefusal(NamedTuple):
    """Why the kubelet does not start a pod, as it stands in the pod's status."""

    reason: str
    message: str


@dataclass(slots=True)
class Books:
    """What is known of the pods of one node, by their uids."""

    settled: dict[str, DeviceRefusal | None] = field(default_factory=dict)
    """The kubelet's: pods that were asked for, and why they cannot start."""
    served: dict[str, frozenset[str]] = field(default_factory=dict)
    """The agent's: containers that have cards."""
    given: dict[str, dict[int, tuple[CardShare, ...]]] = field(default_factory=dict)
    """The agent's: the cards that it chose itself, by the place of the container."""
    is_primed: bool = False
    served_since: float = 0.0
    """The agent's: when the last of the pods that it is through with began to wait for it."""

    def forget(self, uid: str) -> None:
        for book in (self.settled, self.served, self.given):
            book.pop(uid, None)


class ServingOutcome(Struct, frozen=True):
    """What is to be written when a pod was asked for: on pods, and whether the lock goes."""

    pod: Pod
    rejection: DeviceRefusal | None
    writes: tuple[tuple[Pod, PodWrite], ...] = ()
    releases_lock: bool = False


def asks_agent(dialect: Dialect, pod: Pod) -> bool:
    return any(_count(dialect, container) for container in _containers(pod))


def serve_next_pod(
    agent: Agent, node: Node, cards: NodeCards, pods: list[Pod], books: Books
) -> ServingOutcome | None:
    """Ask the agent for the next pod on the node that has not started and is not settled; None if
    there is none. The pod is settled when what comes out was written."""
    if not books.is_primed:
        books.is_primed = True
        for pod in pods:
            if _was_served(agent.dialect, pod, cards):
                books.settled[pod.metadata.uid] = None
    waiting = [
        pod
        for pod in pods
        if pod.metadata.uid not in books.settled
        and _is_waiting(pod)
        and asks_agent(agent.dialect, pod)
    ]
    if not waiting:
        return None
    first = min(waiting, key=lambda pod: (pod.metadata.creation_timestamp or "", pod.name))
    return _ask(agent, node, cards, pods, first, books)


def _ask(
    agent: Agent, node: Node, cards: NodeCards, pods: list[Pod], pod: Pod, books: Books
) -> ServingOutcome:
    dialect = agent.dialect
    writes: list[tuple[Pod, PodWrite]] = []
    releases = False
    problem = _shortage(dialect, node, pod, pods)
    if problem:
        return ServingOutcome(pod, _reject(problem))
    for container in _containers(pod):
        devices = _count(dialect, container)
        if not devices:
            continue
        found = find_container(dialect, node, cards, pods, devices, books.served)
        if isinstance(found, ServedContainer):
            found = _give(agent, found, pods, cards, books) or found
        if isinstance(found, AllocationFailed):
            if dialect.starts_without_card:
                continue
            if found.pod is not None:
                writes.append((found.pod, dialect.refuse(found.pod)))
                _note_end(dialect, found.pod, books)
                releases |= _releases(dialect, node, found.pod)
            message = f"rpc error: code = Unknown desc = {found.message}"
            return ServingOutcome(pod, _reject(message), tuple(writes), releases)
        uid = found.pod.metadata.uid
        books.served[uid] = books.served.get(uid, frozenset()) | {found.container}
        if _is_complete(dialect, found.pod, books.served[uid]):
            writes.append((found.pod, _confirm(dialect, found.pod, books)))
            _note_end(dialect, found.pod, books)
            releases |= _releases(dialect, node, found.pod)
    return ServingOutcome(pod, None, tuple(writes), releases)


# --- the kubelet --------------------------------------------------------------------------------


def _is_waiting(pod: Pod) -> bool:
    status = pod.status
    return (
        status.phase in ("", "Pending")
        and not status.start_time
        and not pod.metadata.is_terminating
    )


def _reject(problem: str) -> DeviceRefusal:
    message = f"Pod was rejected: Allocate failed due to {problem}, which is unexpected"
    return DeviceRefusal(UNEXPECTED_ADMISSION, message)


def _shortage(dialect: Dialect, node: Node, pod: Pod, pods: list[Pod]) -> str:
    """The kubelet has to have so many devices that are well and that nobody has."""
    resource = dialect.resources[0]
    needed = _devices(dialect, pod)
    others = (each for each in pods if each is not pod and each.status.start_time)
    used = sum(_devices(dialect, each) for each in others if each.status.phase not in _ENDED)
    available = allocatable_of(node, resource) - used
    if needed <= available:
        return ""
    return (
        f"requested number of devices unavailable for {resource}. "
        f"Requested: {needed}, Available: {max(available, 0)}"
    )


def _devices(dialect: Dialect, pod: Pod) -> int:
    """What the kubelet holds for a pod: init containers that end leave theirs to the others."""
    held = most = 0
    for container in init_containers_of(pod):
        count = _count(dialect, container)
        most = max(most, held + count)
        held += count if container.restart_policy == "Always" else 0
    return max(most, held + sum(_count(dialect, each) for each in containers_of(pod)))


def _count(dialect: Dialect, container: Container) -> int:
    try:
        return dialect.device_count(container)
    except InvalidRequest:
        return 0


def _containers(pod: Pod) -> Iterable[Container]:
    return (*init_containers_of(pod), *containers_of(pod))


# --- the agent ----------------------------------------------------------------------------------


def _was_served(dialect: Dialect, pod: Pod, cards: NodeCards) -> bool:
    decision = dialect.decision(pod, cards)
    return decision is not None and decision.phase is Phase.CONFIRMED


def _is_complete(dialect: Dialect, pod: Pod, served: frozenset[str]) -> bool:
    return all(each.name in served for each in _containers(pod) if _count(dialect, each))


def has_left_lock(dialect: Dialect, node: Node, pods: list[Pod], books: Books) -> bool:
    """Whether the node shows the lock of a pod that the agent is through with: it may hear of the
    pod before it hears of the lock."""
    holder = None if dialect.lock is None else read_lock(dialect.lock, node)
    if holder is None:
        return False
    if not holder.name:
        return holder.locked_at <= books.served_since
    owners = (pod.metadata.uid for pod in pods if holder.is_pod(pod.metadata))
    return any(uid in books.settled for uid in owners)


def _note_end(dialect: Dialect, pod: Pod, books: Books) -> None:
    books.served_since = max(books.served_since, dialect.waiting_since(pod) or 0.0)


def _releases(dialect: Dialect, node: Node, pod: Pod) -> bool:
    return dialect.lock is not None and may_release_lock(dialect.lock, node, pod)


def _confirm(dialect: Dialect, pod: Pod, books: Books) -> PodWrite:
    confirmed = dialect.confirm(pod)
    annotations = dict(confirmed.annotations)
    if isinstance(dialect, GPUManager):
        for at, shares in books.given.get(pod.metadata.uid, {}).items():
            annotations |= dialect.write_cards(at, [share.card for share in shares]).annotations
    return PodWrite(annotations, confirmed.labels)


def _give(
    agent: Agent, served: ServedContainer, pods: list[Pod], registered: NodeCards, books: Books
) -> AllocationFailed | None:
    """Let an agent that chooses cards itself do so."""
    dialect, pod = agent.dialect, served.pod
    if not dialect.chooses_shared_card:
        return None
    names = [container.name for container in containers_of(pod)]
    at = names.index(served.container) if served.container in names else -1
    try:
        request = dialect.pod_request(pod)
    except InvalidRequest as problem:
        return AllocationFailed(str(problem), pod)
    wanted = request.containers[at] if request is not None and at >= 0 else None
    if wanted is None:
        return AllocationFailed(f"container {served.container} asks for no card", pod)
    held = list(_held(dialect, pods, registered, books))
    shares = _choose(agent.cards, wanted, held)
    if not shares:
        return AllocationFailed(f"container {served.container}: no free card is left for it", pod)
    mismatch = check_cards(dialect, served, [share.card for share in shares])
    if mismatch is None:
        books.given.setdefault(pod.metadata.uid, {})[at] = shares
    return mismatch


def _held(
    dialect: Dialect, pods: list[Pod], registered: NodeCards, books: Books
) -> Iterator[Allocation]:
    """What the agent has given: in its memory, or else as its confirmations say."""
    for pod in pods:
        given = books.given.get(pod.metadata.uid)
        if pod.status.phase in _ENDED:
            continue
        if given is not None:
            yield Allocation(containers=tuple(given.values()))
        else:
            decision = dialect.decision(pod, registered)
            if decision is not None and decision.phase is Phase.CONFIRMED:
                yield decision.allocation


def _choose(
    cards: tuple[Card, ...], wanted: ContainerRequest, held: list[Allocation]
) -> tuple[CardShare, ...]:
    uses = [card_uses(allocation) for allocation in held]
    if wanted.whole:
        table = CardTable()
        table.put_node(0, NodeCards(cards=cards))
        for use in uses:
            table.charge(0, use)
        found = allocate(table, 0, PodRequest((wanted,), topology=CardTopology.LINK))
        return found.containers[0] if isinstance(found, Allocation) else ()
    free = [
        FreeCard(
            card.index,
            card.cores - sum(use[card.index].cores for use in uses if card.index in use),
            card.memory - sum(use[card.index].memory for use in uses if card.index in use),
            sum(card.index in use for use in uses),
        )
        for card in cards
    ]
    index = choose_shared_card(free, wanted.cores, wanted.memory)
    return () if index is None else (CardShare(index, wanted.cores, wanted.memory),)

"""What GPUShare knows in one attempt: requests, sums and cards with other pods in place.

GPU cards in a placement problem: what the cards of a node have together. Which shares lie together
on one card is left to GPUShare, which is asked when a placement is checked; what the cards of a
node have free in all bounds what its pods can have. Amounts are in the units of the agents'
dialect. Requests by percent and of MIG instances count nothing here.

What pods ask for, each different request with a number of its own. Pods of one template with the
same annotations ask for the same, and what is remembered for one of them holds for the others: the
number stands for the request wherever that is looked up.

Cards as they would be with other pods on the nodes: for preemption, and for nominated pods. What a
pod holds that is on its node stays what it is, so that whoever takes a pod away frees the cards of
that very pod. A pod that is only nominated holds no card yet; it is taken to have those that it
would be given now, or else when the pods are gone that are on their way out.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.card_table import REASONS, CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.plugin.followed_cards import FollowedCards, Held
from podium.addons.gpu.plugin.quotas import Allowed
from podium.plugin import Ints, Pod, PodInfo, Status, Usage, unresolvable, unschedulable


class GPUAttemptState(Struct, frozen=True):
    """What PreFilter found: the request and its number, what quotas leave, and the row on which the
    pod itself is counted by a decision of an earlier attempt, or -1."""

    request: PodRequest
    number: int
    left: QuotaLeft | None
    allowed: Allowed | None
    own_row: int


CORES: Final = "GPU cores"
MEMORY: Final = "GPU memory"
WHOLE: Final = "whole GPUs"


def count_cards(state: GPUAttemptState, table: CardTable) -> dict[str, int]:
    """What a pod takes of the cards of its node at least; nothing if it asks for none."""
    cores, memory, whole = 0, 0, 0
    least_cores = int(table.cores[table.exists].min()) if table.exists.any() else 0
    least_memory = int(table.memory[table.exists].min()) if table.exists.any() else 0
    for container in _running_containers(state.request):
        if container.wants_mig():
            continue
        if container.whole:
            whole += container.cards
            cores += container.cards * least_cores
            memory += container.cards * least_memory
            continue
        cores += container.cards * container.cores
        if container.memory_percent is None:
            memory += container.cards * container.memory
    found = {CORES: cores, MEMORY: memory, WHOLE: whole}
    return {name: amount for name, amount in found.items() if amount}


def count_free_cards(table: CardTable, rows: Ints) -> list[dict[str, int]]:
    """What is left on the cards of each node."""
    found = []
    for row in rows.tolist():
        usable = table.exists[row] & table.healthy[row] & ~table.cordoned[row]
        cores = (table.cores[row] - table.used_cores[row])[usable].clip(min=0)
        memory = (table.memory[row] - table.used_memory[row])[usable].clip(min=0)
        idle = usable & (table.used_cores[row] == 0) & (table.used_memory[row] == 0)
        found.append({CORES: int(cores.sum()), MEMORY: int(memory.sum()), WHOLE: int(idle.sum())})
    return found


def _running_containers(request: PodRequest) -> Iterable[ContainerRequest]:
    return (each for each in request.containers if each is not None and each.cards > 0)


MAX_REQUESTS: Final = 4096
"""So many different requests are known by number."""


class NumberedRequests:
    def __init__(self, request_of: Callable[[Pod], PodRequest | None]) -> None:
        self._request_of = request_of
        self._requests: dict[Hashable, tuple[PodRequest, int]] = {}
        self._numbers: dict[PodRequest, int] = {}
        self._numbered = 0

    def of(self, info: PodInfo) -> tuple[PodRequest, int] | None:
        """A pod's request and its number; None if it asks for no card. Raises InvalidRequest."""
        annotations = info.pod.metadata.annotations
        key = (info.shape, frozenset(annotations.items()) if annotations else None)
        known = self._requests.get(key)
        if known is None:
            request = self._request_of(info.pod)
            if request is None:
                return None
            if len(self._requests) >= MAX_REQUESTS:
                self._requests.clear()
            known = self._requests[key] = request, self._number(request)
        return known

    def _number(self, request: PodRequest) -> int:
        if len(self._numbers) >= MAX_REQUESTS:
            self._numbers.clear()
        number = self._numbers.get(request)
        if number is None:
            self._numbered += 1
            number = self._numbers[request] = self._numbered
        return number


RequestOf = Callable[[Pod], PodRequest | None]


def imagine_cards(
    cards: FollowedCards,
    usage: Usage,
    rows: Sequence[int],
    request_of: RequestOf,
    without: str = "",
) -> CardTable:
    """Some rows with the pods that this usage has there, numbered from 0; `without` is the uid of a
    pod that is not to be counted."""
    part = cards.table.part(rows)
    for at, row in enumerate(rows):
        held = cards.held(row)
        there = {info.uid: info for info in usage.pods(row)}
        for uid, each in held.items():
            if uid == without or (each.bound and uid not in there):
                part.discharge(at, each.uses)
        for uid, info in there.items():
            if uid not in held and uid != without:
                _place(part, at, info, there, held, request_of)
    return part


def _place(
    part: CardTable,
    at: int,
    info: PodInfo,
    there: dict[str, PodInfo],
    held: Mapping[str, Held],
    request_of: RequestOf,
) -> None:
    try:
        request = request_of(info.pod)
    except InvalidRequest:
        return
    if request is None:
        return
    given = allocate(part, at, request)
    if not isinstance(given, Allocation):
        later = part.part([at])
        for uid, other in there.items():
            if other.terminating and uid in held:
                later.discharge(0, held[uid].uses)
        given = allocate(later, 0, request)
    if isinstance(given, Allocation):
        part.charge(at, card_uses(given))


FITS: Final = 0
HOPELESS: Final = len(REASONS)
"""Added to the number of a reason where the pod would not fit without any pod on the node."""

STATUSES: Final[tuple[Status, ...]] = (
    *(unschedulable(reason.phrase) for reason in REASONS),
    *(unresolvable(reason.phrase) for reason in REASONS),
)
"""A number above 0 stands for the status before it: `STATUSES[number - 1]`."""


def number_of(reason: Reason, *, hopeless: bool) -> int:
    return REASONS.index(reason) + 1 + (HOPELESS if hopeless else 0)

"""Cards as they would be with other pods on the nodes: for preemption, and for nominated pods.

What a pod holds that is on its node stays what it is, so that whoever takes a pod away frees the
cards of that very pod. A pod that is only nominated holds no card yet; it is taken to have those
that it would be given now, or else when the pods are gone that are on their way out.
"""

from collections.abc import Callable, Mapping, Sequence

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest
from podium.addons.gpu.plugin.followed_cards import FollowedCards, Held
from podium.plugin import Pod, PodInfo
from podium.scheduler.cluster.usage import Usage

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

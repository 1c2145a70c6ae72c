"""Which cards a pod gets, card by card and container by container."""

import pytest
from support.addons.gpu.fleets import A100_PROFILES, unused

from podium.addons.gpu.cards.allocations import Allocation, CardUse, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate, explain_cards
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    PodRequest,
    ScoreWeights,
)

HALF = ContainerRequest(cores=50, memory=1)
WHOLE = ContainerRequest(cores=100, exclusive=True, whole=True)


def table_of(*cards: Card, used: dict[int, CardUse] | None = None) -> CardTable:
    table = CardTable()
    table.put_node(0, NodeCards(cards))
    table.charge(0, used or {})
    return table


def allocation_of(table: CardTable, request: PodRequest) -> Allocation:
    answer = allocate(table, 0, request)
    assert isinstance(answer, Allocation), answer
    return answer


def indexes(allocation: Allocation) -> list[tuple[int, ...]]:
    return [tuple(share.card for share in shares) for shares in allocation.containers]


# --- reasons ----------------------------------------------------------------------------------

# Each card breaks one rule and all that come after it, so that the order shows.
FULL = CardUse(100, 4, 1)
BY_ORDER: list[tuple[Reason, Card, CardUse]] = [
    (Reason.UNHEALTHY, Card(0, "bad", "T4", 4, slots=1, healthy=False, cordoned=True), FULL),
    (Reason.CORDONED, Card(0, "bad", "T4", 4, slots=1, cordoned=True), FULL),
    (Reason.MODEL_MISMATCH, Card(0, "bad", "T4", 4, slots=1), FULL),
    (Reason.NUMA_UNSATISFIED, Card(0, "bad", "A100", 4, slots=1), FULL),
    (Reason.UUID_MISMATCH, Card(0, "bad", "A100", 4, slots=1, numa=0), FULL),
    (Reason.INSUFFICIENT_SLOTS, Card(0, "good", "A100", 4, slots=1, numa=0), FULL),
    (Reason.INSUFFICIENT_MEMORY, Card(0, "good", "A100", 4, slots=2, numa=0), FULL),
    (Reason.INSUFFICIENT_CORES, Card(0, "good", "A100", 4, numa=0), CardUse(100, 3, 1)),
    (Reason.NOT_IDLE, Card(0, "good", "A100", 4, numa=0), CardUse(1, 0, 0)),
    (
        Reason.MIG_ENABLED,
        Card(0, "good", "A100", 4, numa=0, profiles=A100_PROFILES),
        CardUse(),
    ),
]


@pytest.mark.parametrize(("reason", "card", "use"), BY_ORDER, ids=[r.name for r, _, _ in BY_ORDER])
def test_a_card_is_refused_for_the_first_rule_that_it_breaks(
    reason: Reason, card: Card, use: CardUse
) -> None:
    request = PodRequest(
        (ContainerRequest(cores=50, memory=1, exclusive=True),),
        selector=CardSelector(models=("a100",), uuids=("good",)),
        topology=CardTopology.NUMA_STRICT,
    )
    assert explain_cards(table_of(card, used={0: use}), 0, request) == [(0, reason)]
    assert allocate(table_of(card, used={0: use}), 0, request) is reason


def test_whoever_asks_for_no_cores_gets_no_card_whose_cores_are_exhausted() -> None:
    request = PodRequest((ContainerRequest(memory=1),))
    table = table_of(Card(0, memory=4), Card(1, memory=4), used={0: CardUse(100, 1, 1)})
    assert explain_cards(table, 0, request) == [(0, Reason.CORES_EXHAUSTED), (1, None)]


def test_a_pod_that_wants_idle_cards_may_leave_room_on_them() -> None:
    request = PodRequest((HALF,), idle_only=True)
    table = table_of(Card(0, memory=4), Card(1, memory=4), used={0: CardUse(1, 0, 1)})
    allocation = allocation_of(table, request)
    assert indexes(allocation) == [(1,)]
    assert card_uses(allocation) == {1: CardUse(50, 1, 1)}


def test_models_match_by_part_of_their_name_in_any_case() -> None:
    cards = (Card(0, model="Tesla T4", memory=4), Card(1, model="NVIDIA A100-SXM", memory=4))
    for selector in (CardSelector(models=("sxm", "H100")), CardSelector(not_models=("tesla",))):
        assert indexes(allocation_of(table_of(*cards), PodRequest((HALF,), selector=selector))) == [
            (1,)
        ]
    nothing = CardSelector(models=("t4",), not_models=("TESLA",))
    answer = allocate(table_of(*cards), 0, PodRequest((HALF,), selector=nothing))
    assert answer is Reason.MODEL_MISMATCH


def test_too_few_cards_on_the_node_are_their_own_reason() -> None:
    table = table_of(*unused(2).cards)
    assert allocate(table, 0, PodRequest((ContainerRequest(cards=3, cores=10),))) is (
        Reason.INSUFFICIENT_CARDS
    )


def test_the_reason_of_a_node_is_the_one_of_most_cards_and_the_first_of_equal_ones() -> None:
    used = {0: CardUse(0, 4, 1), 1: CardUse(60, 0, 1)}
    table = table_of(*unused(2).cards, used=used)
    assert allocate(table, 0, PodRequest((HALF,))) is Reason.INSUFFICIENT_MEMORY
    table = table_of(*unused(3).cards, used={**used, 2: CardUse(60, 0, 1)})
    assert allocate(table, 0, PodRequest((HALF,))) is Reason.INSUFFICIENT_CORES


# --- order ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ((), 0),
        ((CardKey.FREE_CORES, CardKey.FREE_MEMORY), 2),
        ((CardKey.FREE_CORES,), 1),
        ((CardKey.MOST_FREE_CORES,), 0),
        ((CardKey.FREE_MEMORY,), 3),
        ((CardKey.MOST_FREE_MEMORY,), 0),
        ((CardKey.FULLEST,), 2),
        ((CardKey.EMPTIEST,), 0),
    ],
)
def test_cards_are_taken_in_the_order_that_is_asked_for(
    order: tuple[CardKey, ...], first: int
) -> None:
    used = {1: CardUse(40, 1, 1), 2: CardUse(40, 2, 1), 3: CardUse(0, 3, 1)}
    table = table_of(*unused(4).cards, used=used)
    assert indexes(allocation_of(table, PodRequest((HALF,), card_order=order))) == [(first,)]


def test_weights_say_what_counts_as_full() -> None:
    used = {0: CardUse(40, 0, 1), 1: CardUse(0, 1, 1)}
    table = table_of(*unused(2).cards, used=used)
    by_cores = PodRequest((HALF,), card_order=(CardKey.FULLEST,), weights=ScoreWeights(0, 1, 0))
    by_memory = PodRequest((HALF,), card_order=(CardKey.FULLEST,), weights=ScoreWeights(0, 0, 1))
    assert indexes(allocation_of(table, by_cores)) == [(0,)]
    assert indexes(allocation_of(table, by_memory)) == [(1,)]


# --- containers -------------------------------------------------------------------------------


def test_each_container_sees_what_all_earlier_ones_take() -> None:
    table = table_of(*unused(1).cards)
    assert indexes(allocation_of(table, PodRequest((HALF, HALF)))) == [(0,), (0,)]
    assert allocate(table, 0, PodRequest((HALF, HALF, HALF))) is Reason.INSUFFICIENT_CORES


def test_containers_without_a_card_keep_their_place() -> None:
    allocation = allocation_of(table_of(*unused(1).cards), PodRequest((None, HALF, None)))
    assert indexes(allocation) == [(), (0,), ()]
    assert allocation_of(table_of(*unused(1).cards), PodRequest((None,))).cards() == ()


def test_whole_cards_are_charged_with_all_that_they_have() -> None:
    table = table_of(Card(0, memory=4), Card(1, memory=16, cores=200))
    two = ContainerRequest(cards=2, cores=100, exclusive=True, whole=True)
    uses = card_uses(allocation_of(table, PodRequest((two,))))
    assert uses == {0: CardUse(100, 4, 1), 1: CardUse(200, 16, 1)}


def test_a_percentage_is_of_each_cards_own_memory() -> None:
    table = table_of(Card(0, memory=5), Card(1, memory=16))
    request = PodRequest((ContainerRequest(cards=2, cores=10, memory_percent=50),))
    uses = card_uses(allocation_of(table, request))
    assert uses == {0: CardUse(10, 2, 1), 1: CardUse(10, 8, 1)}


def test_of_an_init_container_and_the_others_the_larger_counts_and_cards_are_used_again() -> None:
    table = table_of(*unused(2).cards)
    request = PodRequest((HALF,), (ContainerRequest(cores=90, memory=1),))
    allocation = allocation_of(table, request)
    assert card_uses(allocation) == {0: CardUse(90, 1, 1)}
    table.charge(0, {0: CardUse(20, 1, 1)})
    allocation = allocation_of(table, request)  # the init container does not fit on card 0 now
    assert card_uses(allocation) == {0: CardUse(50, 1, 1), 1: CardUse(90, 1, 1)}


def test_an_init_container_takes_a_card_of_the_pod_rather_than_one_that_is_first_in_order() -> None:
    used = {0: CardUse(60, 0, 1)}  # room for the init container only, and the first in order
    request = PodRequest((HALF,), (ContainerRequest(cores=30, memory=1),))
    allocation = allocation_of(table_of(*unused(2).cards, used=used), request)
    assert card_uses(allocation) == {1: CardUse(50, 1, 1)}


def test_an_init_container_may_be_exclusive_on_the_card_of_an_app() -> None:
    allocation = allocation_of(table_of(*unused(1).cards), PodRequest((HALF, HALF), (WHOLE,)))
    assert card_uses(allocation) == {0: CardUse(100, 4, 2)}


def test_sidecars_count_beside_what_starts_after_them() -> None:
    quarter = ContainerRequest(cores=25, memory=1)
    apps, init = (HALF,), (quarter, ContainerRequest(cores=75, memory=1))
    allocation = allocation_of(
        table_of(*unused(1).cards), PodRequest(apps, init, sidecars=(True, False))
    )
    assert card_uses(allocation) == {0: CardUse(100, 2, 2)}
    allocation = allocation_of(
        table_of(*unused(1).cards), PodRequest(apps, init[::-1], sidecars=(False, True))
    )
    assert card_uses(allocation) == {0: CardUse(75, 2, 2)}
    late = PodRequest(apps, (quarter, ContainerRequest(cores=80)), sidecars=(True, False))
    assert allocate(table_of(*unused(1).cards), 0, late) is Reason.INSUFFICIENT_CORES


# --- quota ------------------------------------------------------------------------------------


def test_what_quota_leaves_counts_for_all_containers_together() -> None:
    table = table_of(*unused(2).cards)
    assert allocate(table, 0, PodRequest((HALF, HALF)), QuotaLeft(cores=99)) is (
        Reason.QUOTA_EXCEEDED
    )
    assert isinstance(allocate(table, 0, PodRequest((HALF, HALF)), QuotaLeft(100, 2)), Allocation)
    assert allocate(table, 0, PodRequest((WHOLE,)), QuotaLeft(memory=3)) is Reason.QUOTA_EXCEEDED


def test_a_quota_of_nothing_blocks_and_none_does_not() -> None:
    table = table_of(*unused(1).cards)
    assert allocate(table, 0, PodRequest((HALF,)), QuotaLeft(cores=0)) is Reason.QUOTA_EXCEEDED
    assert isinstance(allocate(table, 0, PodRequest((HALF,)), QuotaLeft()), Allocation)

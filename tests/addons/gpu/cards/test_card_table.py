"""Cards of nodes and what is charged on them."""

import numpy as np
import pytest
from support.addons.gpu.fleets import A100_PROFILES, unused

from podium.addons.gpu.cards.allocations import Allocation, CardUse
from podium.addons.gpu.cards.card import NO_CARDS, Card, MigProfile, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate, explain_cards
from podium.addons.gpu.cards.fitting import fit, node_values
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardSelector,
    CardTopology,
    ContainerRequest,
    NodePolicy,
    PodRequest,
)

SHARE = PodRequest((ContainerRequest(cores=30, memory=2),))


def table_of(*nodes: NodeCards) -> CardTable:
    table = CardTable()
    for row, node in enumerate(nodes):
        table.put_node(row, node)
    return table


def test_cards_of_a_node_may_differ() -> None:
    table = table_of(NodeCards((Card(0, memory=4), Card(1, memory=16, cores=50))))
    large = PodRequest((ContainerRequest(cores=50, memory=12),))
    allocation = allocate(table, 0, large)
    assert isinstance(allocation, Allocation)
    assert allocation.cards() == (1,)
    assert explain_cards(table, 0, PodRequest((ContainerRequest(cores=60, memory=12),))) == [
        (0, Reason.INSUFFICIENT_MEMORY),
        (1, Reason.INSUFFICIENT_CORES),
    ]


def test_a_card_charged_beyond_what_it_has_is_full_until_all_of_it_is_discharged() -> None:
    table = table_of(unused(1))
    for _ in range(2):
        table.charge(0, {0: CardUse(80, 3, 1)})
    assert allocate(table, 0, SHARE) is Reason.INSUFFICIENT_MEMORY
    table.discharge(0, {0: CardUse(80, 3, 1)})
    assert allocate(table, 0, SHARE) is Reason.INSUFFICIENT_MEMORY
    table.discharge(0, {0: CardUse(80, 3, 1)})
    assert isinstance(allocate(table, 0, SHARE), Allocation)


@pytest.mark.parametrize("index", [-1, 2, 99])
def test_an_index_of_no_card_is_ignored_and_named(index: int) -> None:
    table = table_of(unused(2))
    uses = {index: CardUse(100, 4, 1), 0: CardUse(10, 1, 1)}
    assert table.charge(0, uses) == (index,)
    assert table.used_cores[0].tolist() == [10, 0]
    table.discharge(0, uses)
    assert table.used_cores[0].tolist() == [0, 0]
    assert table.discharge(0, {0: CardUse(10, 1, 1)}) == (0,)


def test_a_card_that_comes_back_is_as_full_as_it_was() -> None:
    table = table_of(unused(1))
    table.charge(0, {0: CardUse(90, 1, 1)})
    table.put_node(0, NodeCards(refusal=Reason.HEARTBEAT_TIMEOUT))
    assert allocate(table, 0, SHARE) is Reason.HEARTBEAT_TIMEOUT
    table.put_node(0, unused(1))
    assert allocate(table, 0, SHARE) is Reason.INSUFFICIENT_CORES


def test_the_node_that_gets_the_row_of_a_dropped_one_is_empty() -> None:
    table = table_of(unused(1))
    table.charge(0, {0: CardUse(90, 1, 1)})
    table.drop_node(0)
    assert allocate(table, 0, SHARE) is Reason.NO_CARDS
    table.put_node(0, unused(1))
    assert isinstance(allocate(table, 0, SHARE), Allocation)


def test_rows_that_nobody_put_have_no_cards() -> None:
    table = table_of(unused(1))
    assert fit(table, np.array([0, 7]), SHARE).reason(1) is Reason.NO_CARDS
    assert fit(table, np.array([0, 0, 0, 0, 0, 40]), SHARE).reason(5) is Reason.NO_CARDS
    assert allocate(table, 1000, SHARE) is Reason.NO_CARDS


def test_a_row_says_when_it_changed_last_and_not_when_the_same_node_came_again() -> None:
    table = table_of(unused(1), unused(1))
    version, generations = table.version, table.generations[:2].tolist()
    table.put_node(0, unused(1))
    assert (table.version, table.generations[:2].tolist()) == (version, generations)
    table.charge(1, {0: CardUse(10, 1, 1)})
    assert table.version > version
    assert table.generations[:2].tolist() == [generations[0], table.version]


def test_a_part_answers_what_would_be_without_a_pod_and_leaves_the_table_alone() -> None:
    table = table_of(NO_CARDS, unused(1))
    victim = {0: CardUse(90, 4, 1)}
    table.charge(1, victim)
    part = table.part([1])
    part.discharge(0, victim)
    assert isinstance(allocate(part, 0, SHARE), Allocation)
    part.put_node(3, unused(4))
    assert isinstance(allocate(table, 1, SHARE), Reason)
    assert table.rows == 2


def test_a_slice_is_free_when_the_last_pod_on_it_is_gone() -> None:
    table = table_of(NodeCards((Card(0, memory=40, profiles=A100_PROFILES),)))
    for _ in range(2):
        table.charge(0, {0: CardUse(14, 5, 1, 0b1)})
    table.discharge(0, {0: CardUse(14, 5, 1, 0b1)})
    assert table.used_slices[0, 0] == 0b1
    table.discharge(0, {0: CardUse(14, 5, 1, 0b1)})
    assert table.used_slices[0, 0] == 0


def test_a_wider_node_leaves_the_others_as_they_were() -> None:
    table = table_of(unused(1), unused(2))
    table.charge(0, {0: CardUse(90, 1, 1)})
    table.put_node(2, unused(9, links=(1,) * 9))
    assert [isinstance(allocate(table, row, SHARE), Allocation) for row in range(3)] == [
        False,
        True,
        True,
    ]
    assert table.exists.sum(axis=1)[:3].tolist() == [1, 2, 9]


def test_uuids_are_those_of_the_cards_that_are_there_now() -> None:
    wanted = PodRequest(SHARE.containers, selector=CardSelector(uuids=("b",)))
    table = table_of(*(NodeCards((Card(0, "a", memory=4),)) for _ in range(6)))
    assert not fit(table, None, wanted).fits.any()
    table.put_node(3, NodeCards((Card(0, "b", memory=4),)))
    assert np.flatnonzero(fit(table, None, wanted).fits).tolist() == [3]
    assert fit(table, None, wanted).reason(0) is Reason.UUID_MISMATCH


# --- what others wrote may be anything --------------------------------------------------------

HUGE = 10**30


@pytest.mark.parametrize(
    ("cards", "mistake"),
    [
        ([Card(0, cores=HUGE)], f"card 0: cores have to be 0 to 65536, not {HUGE}"),
        ([Card(0, memory=-1)], "card 0: memory has to be 0 to 274877906944, not -1"),
        ([Card(0, slots=-1)], "card 0: slots have to be 0 to 1073741824, not -1"),
        ([Card(3, numa=1024)], "card 3: the NUMA node has to be -1 to 1023, not 1024"),
        (
            [Card(0, profiles=(MigProfile("big", 1, 1, 8, (HUGE,)),))],
            "card 0: no instance can be as profile 'big' says",
        ),
        (
            [Card(1), Card(1)],
            "the indexes of cards have to be different, in order and not negative",
        ),
        ([Card(i) for i in range(129)], "129 cards are more than 128"),
    ],
)
def test_a_node_with_cards_that_cannot_be_is_refused(cards: list[Card], mistake: str) -> None:
    table = table_of(unused(1), NodeCards(tuple(cards)))
    assert allocate(table, 1, SHARE) is Reason.BAD_REGISTRATION
    assert table.nodes[1].detail == mistake
    assert isinstance(allocate(table, 0, SHARE), Allocation)


def test_whatever_is_charged_a_full_card_is_full_and_can_be_discharged() -> None:
    table = table_of(*(unused(1) for _ in range(6)))
    for row in range(6):
        table.charge(row, {0: CardUse(HUGE, HUGE, HUGE, 1 << 80)})
    assert not fit(table, None, SHARE).fits.any()
    for policy in NodePolicy:
        assert len(node_values(table, None, PodRequest((), node_policy=policy))) == 6
    table.discharge(2, {0: CardUse(HUGE, HUGE, HUGE, 1 << 80)})
    assert np.flatnonzero(fit(table, None, SHARE).fits).tolist() == [2]


@pytest.mark.parametrize("topology", CardTopology)
@pytest.mark.parametrize(
    "container",
    [
        ContainerRequest(cores=HUGE),
        ContainerRequest(cores=1, memory=(1 << 63) - 1),
        ContainerRequest(cores=1, memory_percent=HUGE),
        ContainerRequest(cores=1, cards=HUGE),
        ContainerRequest(cores=1, cards=HUGE, whole=True),
        ContainerRequest(mig=True, memory=HUGE),
    ],
)
def test_a_request_for_more_than_there_can_be_fits_nowhere(
    container: ContainerRequest, topology: CardTopology
) -> None:
    linked = unused(2, links=(1, 1), numa=0)
    mig = NodeCards((Card(0, memory=40, profiles=A100_PROFILES),))
    table = table_of(linked, linked, linked, mig, mig, mig)
    request = PodRequest((container, container), topology=topology)
    for quota in (None, QuotaLeft(100, 100)):
        found = fit(table, None, request, quota)
        assert not found.fits.any()
        answers = [allocate(table, row, request, quota) for row in range(6)]
        assert answers == [found.reason(row) for row in range(6)]


def test_links_of_any_size_are_compared() -> None:
    table = table_of(unused(3, links=(HUGE, -HUGE, HUGE)))
    request = PodRequest((ContainerRequest(cards=2, cores=10),), topology=CardTopology.LINK)
    allocation = allocate(table, 0, request)
    assert isinstance(allocation, Allocation)
    assert allocation.cards() == (0, 1)


def test_a_node_whose_agent_is_silent_for_too_long_is_refused_until_it_speaks() -> None:
    cards = unused(1).cards
    table = table_of(NodeCards(cards, good_until=60.0), NodeCards(cards))
    table.expire(60.0)
    assert fit(table, None, SHARE).fits.tolist() == [True, True]
    table.expire(60.5)
    assert fit(table, None, SHARE).reason(0) is Reason.HEARTBEAT_TIMEOUT
    assert fit(table, None, SHARE).fits.tolist() == [False, True]
    table.put_node(0, NodeCards(cards, good_until=120.0))
    assert fit(table, None, SHARE).fits.tolist() == [True, True]

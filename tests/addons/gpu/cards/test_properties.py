"""Whatever the cards, the pods and their order: the allocator keeps its promises."""

import numpy as np
from hypothesis import strategies as st
from support.addons.gpu.fleets import nodes, quotas, requests, tables, uses
from support.addons.gpu.slow_allocation import SlowAllocator, used_of
from support.suite.slow_cases import given_examples

from podium.addons.gpu.cards.allocations import Allocation, CardShare, CardUse, card_uses
from podium.addons.gpu.cards.card import NodeCards, Reason
from podium.addons.gpu.cards.card_table import NO_REASON, REASONS, CardTable
from podium.addons.gpu.cards.choosing import allocate, explain_cards
from podium.addons.gpu.cards.fitting import MAX_ROWS_ONE_BY_ONE, fit
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import PodRequest


@given_examples(40, 200, tables(2), requests, quotas)
def test_cards_are_those_that_the_plain_rules_give(
    table: CardTable, request: PodRequest, quota: QuotaLeft | None
) -> None:
    for row in range(table.rows):
        expected = SlowAllocator(table.nodes[row], used_of(table, row), request, quota).allocate()
        assert allocate(table, row, request, quota) == expected


@given_examples(40, 200, tables(8), requests, quotas)
def test_a_pod_fits_where_it_can_be_allocated_and_for_the_same_reason_not(
    table: CardTable, request: PodRequest, quota: QuotaLeft | None
) -> None:
    table.reserve(MAX_ROWS_ONE_BY_ONE + 1)
    expected = [allocate(table, row, request, quota) for row in range(table.rows)]
    found = fit(table, None, request, quota)
    assert [found.reason(row) for row in range(table.rows)] == [
        each if isinstance(each, Reason) else None for each in expected
    ]
    assert (found.fits == (found.codes == NO_REASON)).all()
    backwards = np.arange(table.rows)[::-1]
    assert (fit(table, backwards, request, quota).codes[::-1] == found.codes).all()
    assert fit(table, backwards[:1], request, quota).codes[0] == found.codes[-1]


@given_examples(30, 100, nodes(), st.lists(requests, max_size=8))
def test_no_card_is_ever_given_away_twice(node: NodeCards, pods: list[PodRequest]) -> None:
    table = CardTable()
    table.put_node(0, node)
    for request in pods:
        allocation = allocate(table, 0, request)
        if isinstance(allocation, Reason):
            continue
        taken = card_uses(allocation)
        before = {i: c.slices for i, c in table.charged[0].items()}
        assert all(not use.slices & before.get(i, 0) for i, use in taken.items())
        assert table.charge(0, taken) == ()
        for card in node.cards:
            charged = table.charged[0].get(card.index)
            if charged is not None:
                assert charged.slots <= card.slots
                if not card.profiles:
                    assert charged.cores <= card.cores
                    assert charged.memory <= card.memory
                assert card.healthy
                assert not card.cordoned


@given_examples(30, 100, tables(2), requests)
def test_the_same_question_has_the_same_answer_and_changes_nothing(
    table: CardTable, request: PodRequest
) -> None:
    version = table.version
    first = allocate(table, 0, request)
    assert allocate(table, 0, request) == first
    assert allocate(table.part([0]), 0, request) == first
    assert table.version == version


@given_examples(30, 100, tables(2), requests, quotas)
def test_a_node_is_refused_for_the_reason_that_keeps_most_of_its_cards_away(
    table: CardTable, request: PodRequest, quota: QuotaLeft | None
) -> None:
    answer = allocate(table, 0, request, quota)
    reasons = explain_cards(table, 0, request, quota)
    assert [index for index, _ in reasons] == [card.index for card in table.nodes[0].cards]
    together = (
        Reason.INSUFFICIENT_CARDS,
        Reason.NUMA_UNSATISFIED,
        Reason.LINKS_UNSATISFIED,
    )
    if isinstance(answer, Reason) and reasons and answer not in together:
        found = [reason for _, reason in reasons if reason is not None]
        assert found.count(answer) == max(found.count(reason) for reason in REASONS)


@given_examples(30, 100, nodes(), nodes(), st.lists(uses, max_size=5))
def test_what_is_charged_and_discharged_leaves_no_trace(
    node: NodeCards, later: NodeCards, pods: list[dict[int, CardUse]]
) -> None:
    table, fresh = CardTable(), CardTable()
    for each in (table, fresh):
        each.put_node(0, node)
    for taken in pods:
        table.charge(0, taken)
    table.put_node(0, later)  # cards come and go meanwhile
    table.put_node(0, node)
    for taken in pods:
        table.discharge(0, taken)
    assert columns(table) == columns(fresh)
    assert table.generations[0] == table.version


@given_examples(30, 100, nodes(), st.lists(uses, max_size=5))
def test_the_order_of_nodes_and_pods_does_not_matter(
    node: NodeCards, pods: list[dict[int, CardUse]]
) -> None:
    table, other = CardTable(), CardTable()
    table.put_node(0, node)
    for taken in pods:
        table.charge(0, taken)
    for taken in reversed(pods):
        other.charge(0, taken)
    other.put_node(0, node)
    assert columns(table) == columns(other)


@given_examples(30, 100, tables(3), requests)
def test_an_init_container_counts_only_where_it_is_larger(
    table: CardTable, request: PodRequest
) -> None:
    allocation = allocate(table, 0, request)
    if isinstance(allocation, Reason):
        return
    stages = stages_of(allocation)
    for card, use in card_uses(allocation).items():
        mine = [[share for share in stage if share.card == card] for stage in stages]
        assert use.cores == max(sum(share.cores for share in stage) for stage in mine)
        assert use.memory == max(sum(share.memory for share in stage) for stage in mine)
        assert use.slots == max(len(stage) for stage in mine)


def stages_of(allocation: Allocation) -> list[list[CardShare]]:
    stages: list[list[CardShare]] = []
    beside: list[CardShare] = []
    for i, shares in enumerate(allocation.init_containers):
        if i < len(allocation.sidecars) and allocation.sidecars[i]:
            beside += shares
        else:
            stages.append([*beside, *shares])
    return [*stages, beside + [share for part in allocation.containers for share in part]]


def columns(table: CardTable) -> list[object]:
    names = ("used_cores", "used_memory", "used_slots", "used_slices")
    width = len(table.nodes[0].cards)
    return [getattr(table, name)[0, :width].tolist() for name in names]

"""Cards of one container on one NUMA node, or linked well."""

import pytest

from podium.addons.gpu.cards.allocations import Allocation, CardUse
from podium.addons.gpu.cards.card import NVLINK, Card, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.requests import CardKey, CardTopology, ContainerRequest, PodRequest


def pod(
    cards: int, topology: CardTopology, order: tuple[CardKey, ...] = (CardKey.FREE_CORES,)
) -> PodRequest:
    container = ContainerRequest(cards=cards, cores=50, memory=1)
    return PodRequest((container,), topology=topology, card_order=order)


def table_of(*cards: Card) -> CardTable:
    table = CardTable()
    table.put_node(0, NodeCards(cards))
    return table


def numa_table(*numa: int) -> CardTable:
    return table_of(*(Card(i, memory=4, numa=each) for i, each in enumerate(numa)))


def linked_table(cards: int, links: dict[tuple[int, int], int], unit: int = NVLINK) -> CardTable:
    def line(one: int) -> tuple[int, ...]:
        found = (links.get((one, other), links.get((other, one), 0)) for other in range(cards))
        return tuple(unit * link for link in found)

    return table_of(*(Card(i, memory=4, links=line(i)) for i in range(cards)))


def cards_of(table: CardTable, request: PodRequest) -> tuple[int, ...] | Reason:
    answer = allocate(table, 0, request)
    return answer.cards() if isinstance(answer, Allocation) else answer


@pytest.mark.parametrize("topology", [CardTopology.NUMA, CardTopology.NUMA_STRICT])
def test_several_cards_come_from_one_numa_node(topology: CardTopology) -> None:
    assert cards_of(numa_table(0, 1, 1), pod(2, topology)) == (1, 2)


def test_the_numa_node_that_is_complete_first_in_the_order_of_cards_is_taken() -> None:
    table = numa_table(0, 0, 1, 1)
    table.charge(0, {2: CardUse(20, 0, 1), 3: CardUse(20, 0, 1)})
    assert cards_of(table, pod(2, CardTopology.NUMA_STRICT)) == (2, 3)
    assert cards_of(table, pod(2, CardTopology.NUMA_STRICT, (CardKey.MOST_FREE_CORES,))) == (0, 1)


def test_cards_of_several_numa_nodes_are_taken_unless_it_is_strict() -> None:
    assert cards_of(numa_table(0, 1), pod(2, CardTopology.NUMA)) == (0, 1)
    assert cards_of(numa_table(0, 1), pod(2, CardTopology.NUMA_STRICT)) is Reason.NUMA_UNSATISFIED


def test_one_card_that_is_strict_about_numa_needs_a_known_numa_node() -> None:
    assert cards_of(numa_table(-1, 1), pod(1, CardTopology.NUMA_STRICT)) == (1,)
    assert cards_of(numa_table(-1, 1), pod(1, CardTopology.NUMA)) == (0,)
    assert cards_of(numa_table(-1, -1), pod(1, CardTopology.NUMA_STRICT)) is Reason.NUMA_UNSATISFIED
    assert cards_of(numa_table(-1, -1), pod(2, CardTopology.NUMA_STRICT)) is Reason.NUMA_UNSATISFIED


def test_numa_as_an_order_puts_the_node_with_most_matching_cards_first() -> None:
    assert cards_of(numa_table(0, 1, 1, -1), pod(2, CardTopology.NONE, (CardKey.NUMA,))) == (1, 2)
    assert cards_of(numa_table(-1, 1), pod(1, CardTopology.NONE, (CardKey.NUMA,))) == (1,)


def test_several_cards_are_the_combination_with_the_best_links() -> None:
    table = linked_table(4, {(0, 1): 1, (1, 2): 5, (1, 3): 4, (2, 3): 4})
    assert cards_of(table, pod(2, CardTopology.LINK)) == (1, 2)
    assert cards_of(table, pod(3, CardTopology.LINK)) == (1, 2, 3)


def test_one_card_is_the_one_that_is_connected_worst() -> None:
    table = linked_table(4, {(0, 1): 5, (2, 3): 1, (1, 2): 1})
    assert cards_of(table, pod(1, CardTopology.LINK)) == (3,)
    table.charge(0, {3: CardUse(90, 0, 1)})
    assert cards_of(table, pod(1, CardTopology.LINK)) == (2,)


def test_one_card_that_is_strict_about_links_needs_a_peer() -> None:
    table = linked_table(3, {(1, 2): 1})
    assert cards_of(table, pod(1, CardTopology.LINK)) == (0,)
    assert cards_of(table, pod(1, CardTopology.LINK_STRICT)) == (1,)
    assert (
        cards_of(linked_table(2, {}), pod(1, CardTopology.LINK_STRICT)) is Reason.LINKS_UNSATISFIED
    )


def test_ways_over_pci_are_no_links_to_be_strict_about() -> None:
    table = linked_table(3, {(0, 1): 1, (0, 2): 1, (1, 2): 2}, unit=10)
    assert cards_of(table, pod(2, CardTopology.LINK)) == (1, 2)
    assert cards_of(table, pod(2, CardTopology.LINK_STRICT)) is Reason.LINKS_UNSATISFIED


def test_strictly_linked_cards_lie_in_one_component() -> None:
    table = linked_table(4, {(0, 1): 1, (2, 3): 9})
    assert cards_of(table, pod(2, CardTopology.LINK_STRICT)) == (2, 3)
    assert cards_of(table, pod(3, CardTopology.LINK_STRICT)) is Reason.LINKS_UNSATISFIED
    assert cards_of(table, pod(3, CardTopology.LINK)) == (0, 2, 3)


def test_cards_whose_links_nobody_knows_go_by_their_order() -> None:
    table = table_of(Card(0, memory=4), Card(1, memory=4))
    assert cards_of(table, pod(1, CardTopology.LINK)) == (0,)
    assert cards_of(table, pod(2, CardTopology.LINK)) == (0, 1)


def test_a_node_with_very_many_cards_is_answered_card_by_card() -> None:
    pairs = {(i, j): 9 for i in (3, 7, 20, 30) for j in (3, 7, 20, 30) if i < j}
    table = linked_table(40, pairs | {(0, 1): 5, (1, 2): 5})
    assert cards_of(table, pod(4, CardTopology.LINK)) == (3, 7, 20, 30)
    assert cards_of(table, pod(4, CardTopology.LINK_STRICT)) == (3, 7, 20, 30)
    assert cards_of(table, pod(3, CardTopology.LINK_STRICT)) == (3, 7, 20)
    assert cards_of(table, pod(5, CardTopology.LINK_STRICT)) is Reason.LINKS_UNSATISFIED
    table.charge(0, {20: CardUse(90, 0, 1), 30: CardUse(90, 0, 1)})
    assert cards_of(table, pod(3, CardTopology.LINK_STRICT)) == (0, 1, 2)

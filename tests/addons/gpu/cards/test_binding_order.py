"""Cards as the agent will choose them, whoever is bound first."""

from podium.addons.gpu.cards.allocations import Allocation, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import UntoldDecision, allocate, choose_again
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest


def decided(table: CardTable, *cores: int) -> list[UntoldDecision]:
    """Pods of so many cores, decided and charged one after the other."""
    found = []
    for at, each in enumerate(cores):
        request = PodRequest((ContainerRequest(cores=each, memory=1),))
        given = allocate(table, 0, request)
        assert isinstance(given, Allocation)
        table.charge(0, card_uses(given))
        found.append(UntoldDecision(str(at), request, card_uses(given)))
    return found


def two_cards() -> CardTable:
    table = CardTable(1)
    table.put_node(0, NodeCards(tuple(Card(at, memory=16) for at in range(2))))
    return table


def chosen(table: CardTable, untold: list[UntoldDecision]) -> list[tuple[int, ...]] | None:
    found = choose_again(table, 0, untold)
    return None if found is None else [found[each.uid].cards() for each in untold]


def test_whoever_is_bound_first_gets_what_the_agent_chooses_first() -> None:
    table = two_cards()
    first, second, third = decided(table, 60, 60, 30)
    assert chosen(table, [first, second, third]) == [(0,), (1,), (0,)]
    assert chosen(table, [second, first, third]) == [(0,), (1,), (0,)]
    assert chosen(table, [third, first, second]) == [(0,), (0,), (1,)]


def test_an_order_in_which_not_all_fit_is_not_taken() -> None:
    table = two_cards()
    first, second, third, fourth = decided(table, 60, 60, 40, 40)
    assert chosen(table, [third, fourth, first, second]) is None
    assert chosen(table, [first, second, third, fourth]) == [(0,), (1,), (0,), (1,)]


def test_the_table_stays_as_it_is() -> None:
    table = two_cards()
    untold = decided(table, 60, 60)
    before = table.used_cores.copy()
    chosen(table, untold[::-1])
    assert (table.used_cores == before).all()

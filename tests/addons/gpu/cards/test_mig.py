"""Cards in MIG mode are given away by instances."""

from support.addons.gpu.fleets import A100_PROFILES

from podium.addons.gpu.cards.allocations import Allocation, CardShare, CardUse, card_uses
from podium.addons.gpu.cards.card import Card, NodeCards, Reason
from podium.addons.gpu.cards.card_rules import find_instance
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate, explain_cards
from podium.addons.gpu.cards.fitting import fit
from podium.addons.gpu.cards.requests import ContainerRequest, PodRequest

SMALL = PodRequest((ContainerRequest(mig_profile="1g.5gb"),))


def a100(*more: Card) -> CardTable:
    table = CardTable()
    table.put_node(0, NodeCards((Card(0, memory=40, profiles=A100_PROFILES), *more)))
    return table


def shares_of(table: CardTable, request: PodRequest) -> tuple[CardShare, ...]:
    answer = allocate(table, 0, request)
    assert isinstance(answer, Allocation), answer
    table.charge(0, card_uses(answer))
    return answer.containers[0]


def test_a_card_gives_as_many_instances_as_it_has_placements() -> None:
    table = a100()
    placements = [shares_of(table, SMALL)[0].placement for _ in range(7)]
    assert sorted(placements) == [0, 1, 2, 3, 4, 5, 6]
    assert allocate(table, 0, SMALL) is Reason.NO_MIG_PROFILE


def test_an_instance_goes_where_it_leaves_most_others_possible() -> None:
    # On slice 6 it costs one large placement and no middle one.
    (share,) = shares_of(a100(), SMALL)
    assert (share.placement, share.cores, share.memory, share.width) == (6, 14, 5, 1)
    table = a100()
    table.charge(0, {0: CardUse(14, 5, 1, 0b1)})
    (share,) = shares_of(table, SMALL)
    assert share.placement == 1


def test_amounts_get_the_smallest_profile_that_has_them() -> None:
    table = a100()
    (share,) = shares_of(table, PodRequest((ContainerRequest(mig=True, memory=8, cores=10),)))
    assert share.mig_profile == "2g.10gb"
    (share,) = shares_of(table, PodRequest((ContainerRequest(mig=True, memory=8, cores=40),)))
    assert share.mig_profile == "3g.20gb"
    much = PodRequest((ContainerRequest(mig=True, memory=30),))
    assert explain_cards(table, 0, much) == [(0, Reason.INSUFFICIENT_MEMORY)]


def test_a_larger_profile_is_taken_if_no_smaller_one_has_room() -> None:
    profiles = A100_PROFILES[1:3]
    found = find_instance(profiles, 0b0001_0101, "", 0, 5)
    assert found is None
    found = find_instance(profiles, 0b0000_0101, "", 0, 5)
    assert found is not None
    assert (found.profile.name, found.placement) == ("2g.10gb", 4)
    found = find_instance((A100_PROFILES[2], A100_PROFILES[1]), 0b0000_1111, "3g.20gb", 0, 0)
    assert found is not None
    assert (found.profile.name, found.placement, found.slices) == ("3g.20gb", 4, 0b1111_0000)


def test_cards_in_mig_mode_are_for_those_who_ask_for_instances_only() -> None:
    table = a100(Card(1, memory=40))
    share = PodRequest((ContainerRequest(cores=10, memory=1),))
    whole = PodRequest((ContainerRequest(cards=1, cores=100, exclusive=True, whole=True),))
    assert explain_cards(table, 0, share) == [(0, Reason.MIG_ENABLED), (1, None)]
    assert explain_cards(table, 0, whole) == [(0, Reason.MIG_ENABLED), (1, None)]
    assert explain_cards(table, 0, SMALL) == [(0, None), (1, Reason.NO_MIG_PROFILE)]


def test_containers_of_a_pod_get_different_slices() -> None:
    table = a100()
    two = PodRequest((ContainerRequest(mig_profile="3g.20gb"),) * 2)
    three = PodRequest((ContainerRequest(mig_profile="3g.20gb"),) * 3)
    answer = allocate(table, 0, two)
    assert isinstance(answer, Allocation)
    assert [shares[0].placement for shares in answer.containers] == [4, 0]
    assert card_uses(answer) == {0: CardUse(84, 40, 2, 0b1111_1111)}
    for row in range(1, 6):
        table.put_node(row, table.nodes[0])
    assert fit(table, None, two).fits.all()
    assert not fit(table, None, three).fits.any()

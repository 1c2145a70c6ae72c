"""Cards and requests of any dialect in the terms of packing policies."""

import numpy as np
import pytest

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import Card, MigProfile, NodeCards
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.requests import CardSelector, ContainerRequest, PodRequest
from podium.addons.gpu.packing.card_columns import (
    CardNeed,
    CardSize,
    card_need,
    card_sizes,
    model_mask,
    packing_columns,
    pod_tag,
)
from podium.addons.gpu.packing.node_columns import ANY_MODEL, NodeColumns, Pod
from podium.addons.gpu.packing.policies import POLICIES
from podium.addons.gpu.packing.typical_pods import EqualPods, find_typical

SIZE = CardSize(100, 16_000)
PROFILE = MigProfile("1g", 4000, 14, 1, (0,))


def columns(*nodes: list[Card], uses: dict[int, CardUse] | None = None) -> NodeColumns:
    """Of a table with these nodes, pods being on the first."""
    table = CardTable()
    for row, cards in enumerate(nodes):
        table.put_node(row, NodeCards(tuple(cards)))
    if uses:
        table.charge(0, uses)
    zeros = np.zeros(len(nodes), np.int64)
    return packing_columns(table, np.arange(len(nodes)), zeros, zeros)


def card(index: int, **fields: int | bool | str | tuple[MigProfile, ...]) -> Card:
    return Card(index, **{"memory": 16_000, "slots": 4, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("use", "left"),
    [
        (CardUse(40, 0, 1), 600),
        (CardUse(0, 4000, 1), 750),
        (CardUse(40, 12_000, 1), 250),
        (CardUse(0, 0, 1), 999),  # somebody is there
        (CardUse(10, 10, 4), 0),  # no slot is free
        (CardUse(130, 0, 1), 0),
    ],
)
def test_the_smaller_part_of_cores_and_memory_is_left(use: CardUse, left: int) -> None:
    found = columns([card(0), card(1)], uses={0: use})
    assert found.left.tolist() == [[left, 1000]]


def test_cards_that_cannot_be_had_have_nothing_left() -> None:
    broken = [card(0, healthy=False), card(1, cordoned=True), card(2, profiles=(PROFILE,)), card(3)]
    found = columns(broken, [])
    assert found.left.tolist() == [[0, 0, 0, 1000], [0, 0, 0, 0]]
    assert found.gpus.tolist() == [1, 0]


def test_sizes_and_models_are_those_of_first_cards() -> None:
    table = CardTable()
    for row, (memory, model) in enumerate([(16_000, "T4"), (40_000, "A100"), (16_000, "A10")]):
        table.put_node(row, NodeCards((card(0, memory=memory, model=model),)))
    sizes, numbers = card_sizes(table, np.arange(3))
    assert [sizes[number].memory for number in numbers] == [16_000, 40_000, 16_000]
    assert model_mask(table, CardSelector()) == ANY_MODEL
    assert model_mask(table, CardSelector(models=("A10",))) == 0b110  # parts of names match
    assert model_mask(table, CardSelector(models=("H100",))) == 0


@pytest.mark.parametrize(
    ("container", "milli"),
    [
        (ContainerRequest(cores=25), 250),
        (ContainerRequest(memory=4000), 250),
        (ContainerRequest(memory=4001), 251),
        (ContainerRequest(cores=25, memory_percent=50), 500),
        (ContainerRequest(whole=True), 1000),
        (ContainerRequest(cores=10, exclusive=True), 1000),
        (ContainerRequest(memory=99_000), 1000),
        (ContainerRequest(), 1),
    ],
)
def test_the_largest_part_that_is_asked_for_counts(container: ContainerRequest, milli: int) -> None:
    assert card_need(PodRequest((None, container))).milli(SIZE) == milli


def test_containers_that_run_together_need_their_cards_together() -> None:
    both = (ContainerRequest(cards=1, cores=20), ContainerRequest(cards=2, cores=30))
    first = (ContainerRequest(cards=4, cores=90),)
    need = card_need(PodRequest(both, init_containers=first))
    assert (need.cards, need.milli(SIZE)) == (3, 300)
    assert card_need(PodRequest((None,), init_containers=first)).cards == 4
    assert card_need(None) == CardNeed()
    assert CardNeed().milli(SIZE) == 0


def test_a_pod_has_the_tag_of_what_it_holds() -> None:
    cards = [card(0), card(1)]
    whole = CardUse(100, 16_000, 1)
    assert pod_tag(cards, {}) == 0
    assert pod_tag(cards, {0: CardUse(40, 4000, 1)}) == Pod(0, 400, 1).tag
    assert pod_tag(cards, {0: whole, 1: whole}) == Pod(0, 1000, 2).tag


@pytest.mark.parametrize("policy", POLICIES)
def test_shares_of_several_cards_are_scored(policy: str) -> None:
    nodes = columns([card(0), card(1), card(2)], uses={1: CardUse(40, 0, 1)})
    typical = find_typical({EqualPods(0, 500, 2, ""): 3}, {"": ANY_MODEL}, {})
    scored = POLICIES[policy](nodes, Pod(0, 500, 2), typical)
    assert 0 <= int(scored.scores[0]) <= 100


def test_without_any_pod_nothing_is_typical() -> None:
    nothing = find_typical({}, {}, {})
    assert (len(nothing.gpus), nothing.largest_gpus, nothing.cpu_per_gpu) == (0, 0, 0.0)
    scored = POLICIES["FGD"](columns([card(0)]), Pod(0, 500, 1), nothing)
    assert scored.scores.tolist() == [50]

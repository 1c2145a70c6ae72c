"""The three forms of the rules agree: for one node, for many at once, and as plainly as can be.

Larger nodes and more containers than the other properties have, so that what earlier containers
take, and where, decides often.
"""

import random
from collections import Counter

import pytest
from support.addons.gpu.fleets import A100_PROFILES
from support.addons.gpu.slow_allocation import SlowAllocator, used_of

from podium.addons.gpu.cards.allocations import Allocation, CardUse
from podium.addons.gpu.cards.card import NVLINK, UNLIMITED, Card, NodeCards, Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import allocate
from podium.addons.gpu.cards.fitting import fit
from podium.addons.gpu.cards.quota import QuotaLeft
from podium.addons.gpu.cards.requests import (
    CardKey,
    CardSelector,
    CardTopology,
    ContainerRequest,
    PodRequest,
    ScoreWeights,
)

ROWS = 6
FLEETS = 150


class Fleets:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.mig_share = 0.0

    def next_table(self) -> CardTable:
        pick = self.random.choice
        self.mig_share = pick((0, 0, 0, 0.5, 1))
        linked = self.chance(0.5)
        table = CardTable()
        for row in range(ROWS):
            count = self.random.randrange(9)
            table.put_node(row, NodeCards(tuple(self.card(i, count, linked) for i in range(count))))
            for index in range(count):
                if self.chance(0.4):
                    use = CardUse(
                        pick((0, 10, 50)), pick((0, 1, 3)), pick((0, 1)), pick((0, 1, 12))
                    )
                    table.charge(row, {index: use})
        return table

    def card(self, index: int, count: int, linked: bool) -> Card:
        pick = self.random.choice
        return Card(
            index,
            uuid=pick(("u0", "u1", "u2")),
            model=pick(("A100", "T4")),
            memory=pick((8, 8, 8, 40)),
            cores=pick((100, 100, 100, 50)),
            slots=pick((UNLIMITED, 3, 2, 1)),
            mode=pick(("", "mps")),
            numa=pick((0, 0, 1, 1, -1)),
            healthy=self.chance(0.97),
            cordoned=self.chance(0.03),
            profiles=A100_PROFILES if self.chance(self.mig_share) else (),
            links=tuple(pick((0, 10, NVLINK, 2 * NVLINK)) for _ in range(count)) if linked else (),
        )

    def request(self) -> PodRequest:
        pick, some = self.random.choice, self.random.randrange
        no_models, no_uuids = self.chance(0.9), self.chance(0.9)
        return PodRequest(
            tuple(self.container() for _ in range(some(1, 5))),
            tuple(self.container() for _ in range(pick((0, 0, 1, 2, 3)))),
            tuple(self.chance(0.5) for _ in range(3)),
            CardSelector(
                models=() if no_models else ("a1",),
                not_uuids=() if no_uuids else ("u2",),
                modes=("mps",) if self.chance(0.1) else (),
            ),
            card_order=tuple(pick(tuple(CardKey)) for _ in range(some(4))),
            idle_only=self.chance(0.05),
            topology=pick((CardTopology.NONE, *CardTopology)),
            weights=pick((ScoreWeights(), ScoreWeights(1, 1, 3))),
        )

    def container(self) -> ContainerRequest | None:
        pick = self.random.choice
        if self.chance(0.1):
            return None
        return ContainerRequest(
            cards=pick((1, 1, 1, 2, 3)),
            cores=pick((0, 10, 30, 50)),
            memory=pick((0, 1, 2, 3)),
            memory_percent=pick((None, None, 25)),
            exclusive=self.chance(0.1),
            whole=self.chance(0.1),
            mig=self.chance(self.mig_share),
            mig_profile="1g.5gb" if self.chance(self.mig_share / 2) else "",
        )

    def quota(self) -> QuotaLeft | None:
        pick = self.random.choice
        return QuotaLeft(pick((None, 60, 120)), pick((None, 3, 7))) if self.chance(0.2) else None

    def chance(self, share: float) -> bool:
        return self.random.random() < share


@pytest.mark.parametrize("seed", range(4))
def test_one_node_and_many_and_the_plain_rules_say_the_same(seed: int) -> None:
    fleets, seen = Fleets(seed), Counter[str]()
    for _ in range(FLEETS):
        table, request, quota = fleets.next_table(), fleets.request(), fleets.quota()
        found = fit(table, None, request, quota)
        for row in range(ROWS):
            slow = SlowAllocator(table.nodes[row], used_of(table, row), request, quota)
            answer = allocate(table, row, request, quota)
            assert answer == slow.allocate()
            assert found.reason(row) == (answer if isinstance(answer, Reason) else None)
            seen["fits" if isinstance(answer, Allocation) else answer.name] += 1
    # Otherwise the fleets say nothing.
    assert seen["fits"] > FLEETS
    assert len(seen) > 10

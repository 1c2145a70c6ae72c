"""The account of cards: whatever is said in whatever order, it is what was said last."""

from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from support.addons.gpu.fleets import nodes, uses
from support.suite.slow_cases import given_examples

from podium.addons.gpu.cards.allocations import CardUse
from podium.addons.gpu.cards.card import NodeCards
from podium.addons.gpu.cards.card_account import Adoption, CardAccount, Holding, Uses
from podium.addons.gpu.cards.card_table import CardTable

NODES = ("a", "b", "c")
PODS = ("p", "q", "r")
NAMESPACE_OF = {"p": "one", "q": "one", "r": "two"}
SHARE = {0: CardUse(cores=30, memory=100)}


@dataclass
class PlainAccount:
    """The same by lists: everything is worked out from what was said, each time anew."""

    cards: dict[str, NodeCards] = field(default_factory=dict)
    held: dict[tuple[str, str], Holding] = field(default_factory=dict)

    def put_node(self, name: str, cards: NodeCards) -> None:
        self.cards[name] = cards

    def drop_node(self, name: str) -> None:
        self.cards.pop(name, None)
        self.held = {key: each for key, each in self.held.items() if key[1] != name}

    def hold(self, uid: str, name: str, holding: Holding) -> None:
        there = name in self.cards
        self.held[uid, name] = holding if there else holding._replace(uses={})

    def release(self, uid: str, name: str) -> None:
        self.held.pop((uid, name), None)

    def table(self, rows: dict[str, int], without: str = "") -> CardTable:
        table = CardTable()
        table.reserve(max(rows.values(), default=-1) + 1)
        for name, row in rows.items():
            table.put_node(row, self.cards[name])
        for (uid, name), holding in self.held.items():
            if uid != without and name in rows:
                table.charge(rows[name], holding.uses)
        return table

    def sums(self, namespace: str) -> tuple[int, int]:
        found = [
            use
            for (uid, _), holding in self.held.items()
            if NAMESPACE_OF[uid] == namespace
            for use in holding.uses.values()
        ]
        return sum(use.cores for use in found), sum(use.memory for use in found)


def rows_of(table: CardTable, rows: dict[str, int]) -> list[object]:
    """What can be seen of some rows."""
    return [
        (
            name,
            table.nodes[row].cards,
            {at: (c.cores, c.memory, c.slots) for at, c in table.charged[row].items()},
        )
        for name, row in sorted(rows.items())
    ]


names, uids = st.sampled_from(NODES), st.sampled_from(PODS)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), names, nodes()),
        st.tuples(st.just("drop"), names),
        st.tuples(st.just("hold"), uids, names, uses, st.integers(0, 50)),
        st.tuples(st.just("release"), uids, names),
        st.tuples(st.just("only"), uids, names, uses),
    ),
    max_size=14,
)


@given_examples(15, 300, steps)
def test_the_account_is_what_was_said_last(said: list[tuple[object, ...]]) -> None:
    account, plain = CardAccount(1), PlainAccount()
    for step in said:
        match step:
            case ("put", str(name), NodeCards() as cards):
                account.put_node(name, NODES.index(name), cards)
                plain.put_node(name, cards)
            case ("drop", str(name)):
                account.drop_node(name)
                plain.drop_node(name)
            case ("hold", str(uid), str(name), dict(taken), int(cores)):
                holding = Holding(NAMESPACE_OF[uid], taken, cores)
                for _ in range(2):  # said twice, counted once
                    account.hold(uid, name, holding)
                plain.hold(uid, name, holding)
            case ("release", str(uid), str(name)):
                account.release(uid, name)
                plain.release(uid, name)
            case ("only", str(uid), str(name), dict(taken)):
                account.hold_only(uid, {name: Holding(NAMESPACE_OF[uid], taken)})
                for other in NODES:
                    plain.release(uid, other)
                plain.hold(uid, name, Holding(NAMESPACE_OF[uid], taken))
        expected = plain.table(account.rows)
        assert rows_of(account.table, account.rows) == rows_of(expected, account.rows)
        for namespace in ("one", "two"):
            assert account.use.held(namespace) == plain.sums(namespace)
    for uid in PODS:
        holds: dict[str, Uses] = {
            name: each.uses for (who, name), each in plain.held.items() if who == uid and each.uses
        }
        assert account.uses_of(uid) == holds
        before = rows_of(account.table, account.rows)
        with account.without(uid, uid):
            found = rows_of(account.table, account.rows)
            assert found == rows_of(plain.table(account.rows, without=uid), account.rows)
        assert rows_of(account.table, account.rows) == before


@given_examples(10, 100, nodes(), nodes(), uses)
def test_a_node_that_comes_anew_on_another_row_starts_empty(
    cards: NodeCards, others: NodeCards, taken: dict[int, CardUse]
) -> None:
    account = CardAccount(1)
    account.put_node("a", 0, cards)
    account.hold("p", "a", Holding("one", taken, 5))

    account.put_node("a", 1, others)

    assert account.uses_of("p") == {}
    assert account.table.charged[0] == account.table.charged[1] == {}
    assert account.use.held("one") == (0, 0)
    assert account.use.requested_by_model("one", lambda name: name).get("a", 0) == 0


def test_nobody_holds_cards_of_a_node_that_is_not_there_but_quotas_count_what_is_asked() -> None:
    account = CardAccount(1)

    account.hold("p", "gone", Holding("one", SHARE, 30))

    assert account.uses_of("p") == {}
    assert account.use.held("one") == (0, 0)
    assert account.use.requested_by_model("one", lambda name: name) == {"gone": 30}
    account.release("p", "gone")
    assert sum(account.use.requested_by_model("one", lambda name: name).values()) == 0


def test_in_the_beginning_every_decision_is_believed() -> None:
    adoption = Adoption(60.0)

    assert adoption.believes("p", 1e9)
    assert not adoption.has_ended


@pytest.mark.parametrize(("found_at", "believed"), [(0.0, True), (60.0, True), (60.5, False)])
def test_what_is_found_soon_after_the_beginning_is_the_word_of_the_one_before(
    found_at: float, believed: bool
) -> None:
    adoption = Adoption(60.0)
    adoption.end(0.0)

    adoption.find("p", found_at)

    assert adoption.believes("p", found_at) == believed


def test_a_decision_is_believed_for_a_grace_period_however_often_it_is_found() -> None:
    adoption = Adoption(60.0)
    adoption.end(0.0)
    for now in (10.0, 40.0, 55.0):
        adoption.find("p", now)

    assert adoption.until("p") == 70.0
    assert adoption.believes("p", 70.0)
    assert not adoption.believes("p", 70.5)


def test_a_decision_that_was_made_here_counts_from_then_on() -> None:
    adoption = Adoption(60.0)
    adoption.end(0.0)

    adoption.decide("p", 500.0)

    assert adoption.believes("p", 560.0)
    adoption.expire(560.0)
    assert adoption.believes("p", 560.0)
    adoption.forget("p")
    assert not adoption.believes("p", 560.0)

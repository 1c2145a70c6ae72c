"""Assertions on decisions: what holds passes, what does not is told with the whole decision."""

import re
from collections.abc import Callable

import pytest

from podium.plugin import Cycle as AnyCycle
from podium.plugin import NodeFilterPlugin, NodeScorePlugin, NodeView, Pod, PreFilterPlugin
from podium.testing import (
    FakeCluster,
    assert_fits,
    assert_placed,
    assert_rejected,
    assert_scores,
    assert_unplaced,
    describe_decision,
    make_node,
    make_pod,
    scores_of,
)


class NoHot(NodeFilterPlugin, NodeScorePlugin):
    name = "NoHot"

    def filter_node(self, pod: Pod, node: NodeView) -> str | None:
        return "node(s) were hot" if "hot" in node.labels else None

    def score_node(self, pod: Pod, node: NodeView) -> int:
        return 80 if node.name == "cool" else 20


class Narrows(PreFilterPlugin):
    name = "Narrows"

    def pre_filter(self, cycle: AnyCycle) -> frozenset[str]:
        return frozenset({"cool"})


NODES = make_node("hot", labels={"hot": ""}), make_node("cool"), make_node("warm")


def test_what_holds_passes() -> None:
    decision = FakeCluster(*NODES, plugins=[NoHot]).schedule(make_pod("web"))

    assert_placed(decision)
    assert_placed(decision, on="cool")
    assert_rejected(decision, node="hot", by="NoHot", reason="node(s) were hot")
    assert_fits(decision, "warm")
    assert_scores(decision, "NoHot", {"cool": 80, "warm": 20})
    assert scores_of(decision, "NoHot") == {"cool": 80, "warm": 20}


def test_a_failure_shows_the_decision() -> None:
    decision = FakeCluster(*NODES, plugins=[NoHot]).schedule(make_pod("web"))

    with pytest.raises(AssertionError) as told:
        assert_placed(decision, on="hot")
    first, *lines = str(told.value).splitlines()
    assert first == "pod default/web went to cool, not to hot"
    assert lines[0] == "pod default/web: on cool"
    assert lines[1].split()[:2] == ["cool", "total"]
    assert "NoHot=80" in lines[1]
    assert lines[-1].split() == ["hot", "rejected", "by", "NoHot:", "node(s)", "were", "hot"]


def test_what_does_not_hold_is_named() -> None:
    decision = FakeCluster(*NODES, plugins=[NoHot]).schedule(make_pod("web"))

    cases: list[tuple[Callable[[], None], str]] = [
        (lambda: assert_unplaced(decision), "went to cool and should not have"),
        (lambda: assert_rejected(decision, node="cool"), "cool was not rejected"),
        (lambda: assert_rejected(decision, node="hot", by="X"), "by NoHot, not by X"),
        (lambda: assert_rejected(decision, node="hot", reason="x"), "were hot', not 'x'"),
        (lambda: assert_rejected(decision, node="nowhere"), "there is no node nowhere"),
        (lambda: assert_fits(decision, "hot"), "hot was rejected by NoHot: node"),
        (lambda: assert_scores(decision, "NoHot", {"cool": 1}), "{'cool': 80}, not {'cool': 1}"),
    ]
    for failing, text in cases:
        with pytest.raises(AssertionError, match=re.escape(text)):
            failing()


def test_a_pod_without_a_node_is_told_with_its_message() -> None:
    cluster = FakeCluster(make_node("hot", labels={"hot": ""}), plugins=[NoHot])
    decision = cluster.schedule(make_pod("web"))

    assert_unplaced(decision, message="0/1 nodes are available: 1 node(s) were hot.")
    with pytest.raises(AssertionError, match="got no node, not a either"):
        assert_placed(decision, on="a")
    with pytest.raises(AssertionError, match="the message is not 'enough' but '0/1 nodes"):
        assert_unplaced(decision, message="enough")


def test_nodes_that_a_pre_filter_left_out_are_rejected_by_it() -> None:
    decision = FakeCluster(*NODES, plugins=[Narrows]).schedule(make_pod("web"))

    assert_placed(decision, on="cool")
    assert_rejected(decision, node="warm", by="Narrows")


def test_many_nodes_are_cut() -> None:
    cluster = FakeCluster(*(make_node(f"n{n}") for n in range(30)))
    lines = describe_decision(cluster.schedule(make_pod("web"))).splitlines()

    assert len(lines) == 14
    assert lines[-1] == "  ... and 18 more"


def test_a_pod_that_is_held_back_says_by_whom() -> None:
    decision = FakeCluster().schedule(make_pod("web", schedulingGates=[{"name": "g"}]))

    assert "held back by SchedulingGates" in describe_decision(decision)

"""Extenders that score: what they add to the plugins' totals, and what they cannot spoil."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.scheduler.engine.scripted_extenders import (
    SCORING_PLUGINS,
    Script,
    extender,
    fails,
    filtering,
    leaves,
    scores,
    scoring,
)

from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.asking import PrioritizeAnswer
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

INT64 = st.integers(-(2**63), 2**63 - 1)


def decided(script: Script | None, *extenders: dict[str, Any], names: str = "abc") -> Decision:
    nodes = [make_node(name) for name in names]
    driver = FakeCluster(*nodes, pending("p"), ask=script, extenders=list(extenders))
    attempt = driver.attempt()
    assert attempt is not None
    return attempt.decision


def contribution(decision: Decision) -> dict[str, int]:
    """What extenders added to each node's total."""
    assert decision.total is not None
    total = decision.total.copy()
    for row in decision.scores:
        if not row.plugin.startswith("http"):
            total -= row.normalized * row.weight
    names = [decision.node_names[row] for row in decision.feasible]
    return dict(zip(names, total.tolist(), strict=True))


def test_scores_count_ten_times_and_by_weight() -> None:
    script = Script({"http://1 prioritize": scores(a=2), "http://2 prioritize": scores(a=2, b=5)})
    decision = decided(script, scoring("http://1", weight=3), scoring("http://2", weight=1))
    assert contribution(decision) == {"a": 80, "b": 50, "c": 0}
    assert decision.bound == "a"


def test_all_are_asked_at_once_about_the_nodes_that_are_left() -> None:
    script = Script(filter=leaves("c", "a"))
    decided(script, filtering("http://f"), scoring("http://1"), scoring("http://2"))
    assert [len(batch) for batch in script.batches] == [1, 2]
    assert script.nodes("prioritize") == [("c", "a")] * 2


def test_with_one_node_left_nobody_is_asked_for_scores() -> None:
    script = Script(filter=leaves("b"))
    decision = decided(script, filtering("http://f"), scoring("http://1"))
    assert script.asked == ["http://f filter"]
    assert (decision.bound, decision.total, decision.scores) == ("b", None, [])


def test_missing_hosts_get_nothing_repeated_ones_add_up_and_unknown_ones_go_unheard() -> None:
    answer = PrioritizeAnswer((("a", 1), ("z", 9), ("a", 2), ("", 4)))
    assert contribution(decided(Script(prioritize=answer), scoring())) == {"a": 30, "b": 0, "c": 0}


def test_scores_beyond_the_usual_range_are_used_as_they_are() -> None:
    answer = scores(a=11, b=-3)
    found = contribution(decided(Script(prioritize=answer), scoring(weight=2)))
    assert found == {"a": 220, "b": -60, "c": 0}


def test_errors_cost_nothing_but_the_scores_even_if_they_count_elsewhere() -> None:
    script = Script({"http://1 prioritize": fails(), "http://2 prioritize": scores(b=1)})
    decision = decided(script, scoring("http://1"), scoring("http://2"))
    assert (decision.bound, decision.is_error) == ("b", False)
    assert [row.plugin for row in decision.scores if row.plugin.startswith("http")] == ["http://2"]
    assert [(line.problem, line.ignored) for line in decision.consulted] == [
        ("boom", True),
        ("", False),
    ]


def test_without_a_verb_an_interested_extender_adds_nothing_and_is_not_asked() -> None:
    script = Script()
    decision = decided(script, extender(weight=5))
    assert script.calls == []
    assert set(contribution(decision).values()) == {0}


def test_an_extender_that_is_not_interested_is_not_asked() -> None:
    script = Script()
    decided(script, scoring(managedResources=[{"name": "a.com/x"}]))
    assert script.calls == []


def test_each_extender_has_a_row_of_its_own_in_the_decision() -> None:
    script = Script({"http://1 prioritize": scores(a=2)})
    decision = decided(script, scoring("http://1", weight=3), scoring("http://1", weight=4))
    rows = [row for row in decision.scores if row.plugin.startswith("http")]
    assert [(row.plugin, row.weight, row.raw.tolist()) for row in rows] == [
        ("http://1", 30, [2, 0, 0]),
        ("http://1 (2)", 40, [2, 0, 0]),
    ]
    assert decision.node_scores(0)["http://1"].weighted == 60


def test_ties_are_broken_as_without_extenders() -> None:
    script = Script(prioritize=scores(c=1, b=1))
    decision = decided(script, scoring())
    assert decision.best == ["b", "c"]
    assert decision.bound == "b"


def test_extenders_alone_decide_where_no_plugin_scores() -> None:
    nodes = [make_node(name) for name in "abc"]
    driver = FakeCluster(
        *nodes,
        pending("p"),
        ask=Script(prioritize=scores(b=1)),
        extenders=[scoring()],
        disabled=SCORING_PLUGINS,
    )
    attempt = driver.attempt()
    assert attempt is not None
    assert attempt.decision.total is not None
    assert attempt.decision.total.tolist() == [0, 10, 0]
    assert attempt.decision.bound == "b"


@settings(max_examples=25, deadline=None)
@given(points=st.lists(INT64, min_size=1, max_size=4), weight=st.integers(1, 2**63 - 1))
def test_what_does_not_fit_wraps_as_upstreams_numbers_do(points: list[int], weight: int) -> None:
    """Sums and products are those of 64 bits, whichever way they are made."""
    answer = PrioritizeAnswer(tuple(("a", point) for point in points))
    decision = decided(Script(prioritize=answer), scoring(weight=weight), names="ab")
    expected = sum(point * weight * 10 for point in points) % 2**64
    assert contribution(decision)["a"] % 2**64 == expected

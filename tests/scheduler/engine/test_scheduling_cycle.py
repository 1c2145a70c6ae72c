"""One attempt: from PreFilter to the choice of a node, every way it can end."""

from collections.abc import Iterator

import pytest
from support.scheduler.framework.fake_plugins import (
    crowd_filter,
    filter_by,
    make_engine,
    post_filter,
    pre_filter,
    score_by,
)

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.decision import Decision, NodeScore
from podium.scheduler.engine.scheduler import Attempt, Engine
from podium.scheduler.framework.points import PostFilterResult
from podium.scheduler.framework.status import SKIP, Code, Status, error, unresolvable, unschedulable
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

NAMES = ("a", "b", "c")
FULL = unschedulable("full")


def nodes() -> list[Node]:
    return [make_node(name) for name in NAMES]


def schedule(engine: Engine, pod: Pod | None = None) -> Attempt:
    return engine.schedule(engine.cluster.infos.of(pod or make_pod("p")))


def decide(engine: Engine, pod: Pod | None = None) -> Decision:
    return schedule(engine, pod).decision


def pods_on(engine: Engine, node: str) -> int:
    return len(engine.cluster.usage.pods(engine.cluster.nodes.row(node)))


# no node


def test_a_cluster_without_nodes_ends_the_attempt_before_any_plugin() -> None:
    log: list[str] = []
    result = PostFilterResult(Code.SUCCESS, nominated_node="x")
    engine = make_engine(pre_filter("P", None, log), post_filter("Post", result, log))
    decision = decide(engine)
    assert decision.message == "no nodes available to schedule pods"
    assert (decision.is_error, decision.nominated_node) == (False, "")
    assert (decision.bound, decision.post_filter, decision.rejectors) == (None, None, set())
    assert log == []


def test_rows_that_only_hold_pods_are_no_nodes() -> None:
    engine = make_engine(filter_by("F", {}), pods=[make_pod("q", node="later")])
    assert decide(engine).message == "no nodes available to schedule pods"
    engine.cluster.put_node(make_node("a"))
    assert decide(engine).bound == "a"


def test_without_a_post_filter_plugin_a_nomination_is_cleared() -> None:
    engine = make_engine(filter_by("F", dict.fromkeys(NAMES, FULL)), nodes=nodes())
    decision = decide(engine)
    assert decision.message == "0/3 nodes are available: 3 full."
    assert (decision.nominated_node, decision.rejectors) == ("", {"F"})
    assert not decision.is_error


def test_a_pre_filter_rejection_speaks_for_all_nodes() -> None:
    engine = make_engine(
        pre_filter("P", unschedulable("not today")), filter_by("F", {}), nodes=nodes()
    )
    decision = decide(engine)
    assert decision.message == "0/3 nodes are available: not today."
    assert decision.rejectors == {"P"}
    assert decision.filter_statuses() == {}
    assert decision.diagnosis is not None
    order = engine.cluster.node_order()
    assert len(decision.diagnosis.rows_with(Code.UNSCHEDULABLE, order)) == 3


def test_plugins_that_cannot_agree_on_nodes_are_the_rejectors() -> None:
    engine = make_engine(
        pre_filter("A", frozenset({"a"})), pre_filter("B", frozenset({"b"})), nodes=nodes()
    )
    decision = decide(engine)
    assert decision.message == (
        "0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously."
    )
    assert decision.rejectors == {"A", "B"}


def test_nodes_outside_a_narrowed_search_count_with_the_plugins_that_narrowed() -> None:
    engine = make_engine(
        pre_filter("N", frozenset({"a", "gone"})), filter_by("F", {"a": FULL}), nodes=nodes()
    )
    decision = decide(engine)
    assert decision.message == (
        "0/3 nodes are available: 1 full, 2 node(s) didn't satisfy plugin(s) [N]."
    )
    assert decision.rejectors == {"N", "F"}
    assert decision.filter_statuses() == {"a": FULL.by("F")}


def test_a_search_narrowed_to_nodes_that_are_not_there_finds_none() -> None:
    engine = make_engine(pre_filter("N", frozenset({"gone"})), filter_by("F", {}), nodes=nodes())
    decision = decide(engine)
    assert decision.message == "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [N]."
    assert decision.rejectors == {"N"}


def test_an_error_of_pre_filter_breaks_the_attempt() -> None:
    post = post_filter("Post", PostFilterResult(Code.SUCCESS))
    engine = make_engine(pre_filter("P", error("boom")), post, nodes=nodes())
    decision = decide(engine)
    assert (decision.message, decision.is_error) == ('running PreFilter plugin "P": boom', True)
    assert (decision.post_filter, decision.nominated_node) == (None, "")
    assert decision.rejectors == set()


def test_an_error_of_filter_on_any_node_breaks_the_attempt() -> None:
    engine = make_engine(
        filter_by("F", {"b": error("boom b"), "c": error("boom c")}), nodes=nodes()
    )
    decision = decide(engine)
    assert (decision.message, decision.is_error) == ('running "F" filter plugin: boom b', True)
    assert decision.best == []
    statuses = decision.filter_statuses()
    assert {n: s and s.code for n, s in statuses.items()} == {
        "a": None,
        "b": Code.ERROR,
        "c": Code.ERROR,
    }


def test_only_the_first_failing_plugin_of_each_node_is_a_rejector() -> None:
    engine = make_engine(
        filter_by("A", {"a": FULL}),
        filter_by("B", dict.fromkeys("ab", FULL)),
        filter_by("C", {"a": FULL, "b": FULL}),
        filter_by("D", {"c": FULL}),
        nodes=nodes(),
    )
    assert decide(engine).rejectors == {"A", "B", "D"}


def test_a_rejection_with_nominated_pods_hides_the_one_without() -> None:
    engine = make_engine(
        crowd_filter("Crowd", 1, FULL),
        filter_by("Later", {"a": FULL}),
        nodes=[make_node("a")],
    )
    strong = engine.cluster.infos.of(make_pod("strong", priority=9))
    engine.cluster.nominator.nominate(strong, "a")
    decision = decide(engine)
    assert decision.filter_statuses() == {"a": FULL.by("Crowd")}
    assert decision.rejectors == {"Crowd"}


def test_pending_plugins_are_rejectors_that_wait_for_no_backoff() -> None:
    engine = make_engine(
        filter_by("F", {"a": Status(Code.PENDING, ("soon",)), "b": FULL}),
        filter_by("G", {"c": FULL}),
        nodes=nodes(),
    )
    decision = decide(engine)
    assert (decision.rejectors, decision.pending_plugins) == ({"F", "G"}, {"F"})


# one or more nodes


def test_one_feasible_node_is_taken_without_scoring() -> None:
    log: list[str] = []
    engine = make_engine(
        filter_by("F", {"a": FULL, "c": FULL}), score_by("S", {}, log=log), nodes=nodes()
    )
    attempt = schedule(engine)
    decision = attempt.decision
    assert (decision.bound, decision.best, decision.total, decision.scores) == (
        "b",
        ["b"],
        None,
        [],
    )
    assert log == []
    assert attempt.binding is not None
    assert engine.cluster.is_assumed(decision.pod.uid)


def test_the_highest_total_wins_and_ties_are_for_the_choice() -> None:
    engine = make_engine(
        score_by("S", {"a": 10, "b": 20, "c": 15}),
        score_by("T", {"a": 5, "b": 0, "c": 5}),
        nodes=nodes(),
        weights={"T": 2},
    )
    decision = decide(engine)
    assert decision.total is not None
    assert decision.total.tolist() == [20, 20, 25]
    assert (decision.best, decision.bound) == (["c"], "c")
    assert decision.node_scores(2) == {"S": NodeScore(15, 15, 15), "T": NodeScore(5, 5, 10)}
    tied = make_engine(score_by("S", {"b": 7, "c": 7}), nodes=nodes())
    assert decide(tied).best == ["b", "c"]


def test_without_a_score_plugin_one_feasible_node_is_enough() -> None:
    engine = make_engine(filter_by("F", {"a": FULL}), nodes=nodes())
    assert [decide(engine, make_pod(f"p{i}")).bound for i in range(3)] == ["b", "c", "b"]


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (score_by("S", {}, prepare=error("boom")), 'running PreScore plugin "S": boom'),
        (
            score_by("S", ValueError("boom")),
            'running Score plugins: plugin "S" failed with: boom',
        ),
    ],
)
def test_scoring_that_breaks_ends_the_attempt(plugin: type, text: str) -> None:
    engine = make_engine(plugin, nodes=nodes())
    decision = decide(engine)
    assert (decision.message, decision.is_error, decision.bound) == (text, True, None)
    assert (decision.best, decision.nominated_node, decision.rejectors) == ([], "", set())
    assert [pods_on(engine, name) for name in NAMES] == [0, 0, 0]


def test_plugins_that_skipped_scoring_are_told() -> None:
    engine = make_engine(
        score_by("S", {"a": 5}, prepare=SKIP), score_by("T", {"b": 1}), nodes=nodes()
    )
    decision = decide(engine)
    assert (decision.pre_score_skipped, decision.bound) == (["S"], "b")


# the nominated node


def nominated(node: str, name: str = "p") -> Pod:
    return make_pod(name, status={"nominatedNodeName": node})


def test_a_nominated_node_that_passes_is_taken_without_looking_at_others() -> None:
    log: list[str] = []
    engine = make_engine(
        pre_filter("N", frozenset({"a"})),
        filter_by("F", {}),
        score_by("S", {"a": 100}, log=log),
        nodes=nodes(),
    )
    engine.cluster.nominator.nominate(engine.cluster.infos.of(nominated("c")), "c")
    decision = decide(engine, nominated("c"))
    assert (decision.bound, decision.filter_statuses()) == ("c", {"c": None})
    assert log == []
    assert engine.cluster.nominator.on_node("c") == ()


def test_a_nominated_node_that_fails_is_one_of_the_others() -> None:
    engine = make_engine(filter_by("F", {"c": FULL}), score_by("S", {"b": 9}), nodes=nodes())
    decision = decide(engine, nominated("c"))
    assert decision.bound == "b"
    assert decision.filter_statuses() == {"c": FULL.by("F"), "a": None, "b": None}
    engine = make_engine(filter_by("F", dict.fromkeys(NAMES, FULL)), nodes=nodes())
    assert decide(engine, nominated("c")).message == "0/3 nodes are available: 3 full."


def test_a_nominated_node_that_fails_outside_the_narrowed_search_still_counts() -> None:
    engine = make_engine(
        pre_filter("N", frozenset({"a"})),
        filter_by("F", {"a": FULL, "c": unresolvable("odd")}),
        nodes=nodes(),
    )
    assert decide(engine, nominated("c")).message == (
        "0/3 nodes are available: 1 full, 1 node(s) didn't satisfy plugin(s) [N], 1 odd."
    )


def test_a_nominated_node_that_is_gone_is_not_tried() -> None:
    engine = make_engine(score_by("S", {"b": 9}), nodes=nodes())
    assert decide(engine, nominated("gone")).bound == "b"


def test_an_error_on_the_nominated_node_alone_is_met_again_in_the_search() -> None:
    engine = make_engine(filter_by("F", {"c": error("boom")}), score_by("S", {}), nodes=nodes())
    assert decide(engine, nominated("c")).message == 'running "F" filter plugin: boom'
    narrowed = make_engine(
        pre_filter("N", frozenset({"a"})),
        filter_by("F", {"c": error("boom")}),
        score_by("S", {}),
        nodes=nodes(),
    )
    assert decide(narrowed, nominated("c")).bound == "a"


# the record


def test_durations_are_taken_from_the_clock_that_was_handed_in() -> None:
    ticks: Iterator[int] = iter(range(100))
    engine = make_engine(score_by("S", {}), nodes=nodes(), clock=lambda: float(next(ticks)))
    decision = decide(engine)
    assert set(decision.durations_s) == {"pre_filter", "filter", "score", "total"}
    assert all(duration > 0 for duration in decision.durations_s.values())


def test_a_decision_keeps_its_names_when_the_cluster_changes() -> None:
    engine = make_engine(filter_by("F", dict.fromkeys(NAMES, FULL)), nodes=nodes())
    decision = decide(engine)
    for name in NAMES:
        engine.cluster.remove_node(name)
    engine.cluster.put_node(make_node("z"))
    assert set(decision.filter_statuses()) == set(NAMES)


def test_requests_beyond_int64_wrap_and_so_do_their_sums() -> None:
    # upstream: 1Ei cpu is -2^63 thousandths, which any node has, and two of them are none at all.
    engine = Engine(
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        validate=True,
        gates=FeatureGates(),
    )
    engine.intake.node_put(make_node("n1", allocatable={"cpu": "4", "pods": 110}))
    for name in ("immense", "as-well"):
        engine.intake.pod_put(make_pod(name, node="n1", requests={"cpu": "1Ei"}))
    for name, cpu in (("small", "4"), ("late", "1m")):
        engine.intake.pod_put(make_pod(name, requests={"cpu": cpu}))
    placed = [attempt.decision.bound for _ in range(2) if (attempt := engine.schedule_next())]
    assert placed == ["n1", None]

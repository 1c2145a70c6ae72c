"""Extenders that filter: who is asked, about what, and what becomes of the answers."""

from typing import Any

import pytest
from support.scheduler.engine.scripted_extenders import (
    SCORING_PLUGINS,
    Script,
    extender,
    fails,
    filtering,
    in_turn,
    leaves,
    scoring,
)

from podium.kubernetes.kinds.node import Node
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.asking import FilterAnswer, FilterCall, NobodyToAsk
from podium.scheduler.framework.status import Code
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

NO_ROOM = "no new claims to deallocate, preemption: "
NOT_HELPFUL = "0/3 nodes are available: {} Preemption is not helpful for scheduling."
NO_VICTIMS = "0/3 nodes are available: {} No preemption victims found for incoming pod."


def nodes(names: str = "abc", **fields: Any) -> list[Node]:
    return [make_node(name, **fields) for name in names]


def driver_of(script: Script, *extenders: dict[str, Any], **more: Any) -> FakeCluster:
    objects = more.pop("objects", [*nodes(), pending("p")])
    return FakeCluster(*objects, ask=script, extenders=list(extenders), **more)


def tried(driver: FakeCluster) -> Decision:
    attempt = driver.attempt()
    assert attempt is not None
    return attempt.decision


# who is asked


def test_an_extender_is_asked_about_the_nodes_that_plugins_accept() -> None:
    script = Script()
    cordoned = make_node("b", unschedulable=True)
    driver = driver_of(
        script, filtering(), objects=[make_node("a"), cordoned, make_node("c"), pending("p")]
    )
    assert tried(driver).scheduled
    assert script.nodes("filter") == [("a", "c")]


def test_nobody_is_asked_when_no_node_is_left_to_ask_about() -> None:
    script = Script()
    objects = [*nodes(unschedulable=True), pending("p")]
    decision = tried(driver_of(script, filtering(), scoring("http://b"), objects=objects))
    assert script.calls == []
    assert decision.rejectors == {"NodeUnschedulable"}


def test_an_extender_without_a_filter_verb_is_not_asked_to_filter() -> None:
    script = Script()
    assert tried(driver_of(script, extender())).scheduled
    assert script.calls == []


def test_errors_that_count_come_before_those_that_may_be_ignored() -> None:
    script = Script()
    driver = driver_of(
        script,
        filtering("http://1", ignorable=True),
        filtering("http://2"),
        filtering("http://3", ignorable=True),
        filtering("http://4"),
    )
    tried(driver)
    assert script.asked == [f"http://{n} filter" for n in (2, 4, 1, 3)]


@pytest.mark.parametrize(
    ("where", "asked"),
    [
        ({"containers": [{"name": "c", "resources": {"requests": {"a.com/x": 0}}}]}, True),
        ({"containers": [{"name": "c", "resources": {"limits": {"a.com/x": "1"}}}]}, True),
        (
            {
                "containers": [{"name": "c"}],
                "initContainers": [{"name": "i", "resources": {"limits": {"a.com/x": "1"}}}],
            },
            True,
        ),
        ({"containers": [{"name": "c", "resources": {"requests": {"a.com/y": "1"}}}]}, False),
        ({"containers": [{"name": "c"}], "overhead": {"a.com/x": "1"}}, False),
        ({"containers": [{"name": "c"}], "resources": {"requests": {"a.com/x": "1"}}}, False),
    ],
)
def test_managed_resources_say_which_pods_an_extender_hears_of(
    where: dict[str, Any], asked: bool
) -> None:
    script = Script()
    room = {"cpu": "4", "memory": "8Gi", "pods": 10, "a.com/x": 5, "a.com/y": 5}
    managed = [{"name": "a.com/x"}]
    driver = driver_of(
        script,
        filtering(managedResources=managed),
        objects=[*nodes(allocatable=room), pending("p", **where)],
    )
    assert tried(driver).scheduled
    assert bool(script.calls) == asked


def test_a_pod_is_sent_as_it_is() -> None:
    script = Script()
    driver = driver_of(script, filtering())
    tried(driver)
    (call,) = script.calls
    assert isinstance(call, FilterCall)
    assert call.pod is driver.pod("p")
    assert call.returned == {}


# what an answer leaves


def test_the_answer_replaces_the_list_for_the_next() -> None:
    script = Script({"http://1 filter": leaves("c", "a")})
    decision = tried(driver_of(script, filtering("http://1"), filtering("http://2")))
    assert script.nodes("filter") == [("a", "b", "c"), ("c", "a")]
    assert decision.dropped["b"].code is Code.UNRESOLVABLE
    assert decision.scheduled


def test_nobody_is_asked_after_the_last_node_is_gone() -> None:
    script = Script({"http://1 filter": leaves()})
    tried(driver_of(script, filtering("http://1"), filtering("http://2")))
    assert script.asked == ["http://1 filter"]


def test_a_name_that_was_not_asked_about_is_an_error() -> None:
    script = Script(filter=leaves("a", "z"))
    driver = driver_of(script, filtering())
    decision = tried(driver)
    text = (
        'extender "http://a" claims a filtered node "z" which is not found in the input node list'
    )
    assert (decision.message, decision.is_error) == (text, True)
    assert driver.notes() == [text]
    assert [patch.reason for patch in driver.patches] == ["SchedulerError"]


@pytest.mark.parametrize("capable", [True, False])
def test_an_empty_answer_rejects_every_node(capable: bool) -> None:
    driver = driver_of(Script(filter=FilterAnswer()), filtering(nodeCacheCapable=capable))
    assert tried(driver).message == ("0/3 nodes are available: " + NO_ROOM + NOT_HELPFUL.format(3))


def test_names_from_an_extender_that_was_sent_objects_reject_every_node() -> None:
    driver = driver_of(Script(filter=leaves("a", "b", "c")), filtering(nodeCacheCapable=False))
    assert not tried(driver).scheduled


def test_failed_nodes_are_counted_like_those_of_plugins() -> None:
    failed = {"a": "because a", "c": "because a", "b": "because b"}
    driver = driver_of(Script(filter=leaves(failed=failed)), filtering())
    decision = tried(driver)
    assert decision.message == (
        "0/3 nodes are available: 1 because b, 2 because a. " + NO_ROOM + NO_VICTIMS.format(3)
    )
    assert decision.rejectors == {"Extender"}
    assert decision.filter_statuses()["a"] == decision.dropped["a"]


def test_unresolvable_nodes_are_beyond_preemptions_help_and_win() -> None:
    answer = leaves(failed={"a": "x", "b": "y"}, unresolvable={"b": "z"})
    decision = tried(driver_of(Script(filter=answer), filtering()))
    assert decision.message == (
        "0/3 nodes are available: 1 x, 1 z. " + NO_ROOM + "0/3 nodes are available: 1 No preemption"
        " victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    )


def test_failed_nodes_are_notes_and_take_no_node_away() -> None:
    answer = leaves("a", "b", "c", failed={"a": "I do not like it"})
    decision = tried(driver_of(Script(filter=answer), filtering()))
    assert decision.scheduled
    assert decision.dropped == {}


def test_names_that_no_node_has_are_counted_too() -> None:
    answer = leaves(failed={"ghost": "boo"})
    decision = tried(driver_of(Script(filter=answer), filtering()))
    assert (decision.message or "").startswith("0/3 nodes are available: 1 boo. ")


def test_a_later_word_on_a_node_wins_also_over_a_plugins() -> None:
    script = Script(
        {
            "http://1 filter": leaves("c", failed={"b": "first"}),
            "http://2 filter": leaves(failed={"a": "mine", "b": "second", "c": "too"}),
        }
    )
    objects = [make_node("a", unschedulable=True), *nodes("bc"), pending("p")]
    decision = tried(
        driver_of(script, filtering("http://1"), filtering("http://2"), objects=objects)
    )
    assert (decision.message or "").startswith("0/3 nodes are available: 1 mine, 1 second, 1 too. ")
    assert decision.rejectors == {"Extender", "NodeUnschedulable"}


# errors


def test_an_error_ends_the_attempt_with_its_text_alone() -> None:
    driver = driver_of(Script(filter=fails()), filtering(), filtering("http://b"))
    decision = tried(driver)
    assert (decision.message, decision.is_error) == ("boom", True)
    assert decision.rejectors == set()
    assert driver.where() == {"p": "error backoff"}
    assert (driver.notes(), [p.reason for p in driver.patches]) == (["boom"], ["SchedulerError"])
    assert [line.problem for line in decision.consulted] == ["boom"]


def test_an_error_that_may_be_ignored_leaves_the_list_as_it_is() -> None:
    script = Script({"http://1 filter": fails(), "http://2 filter": leaves("b")})
    driver = driver_of(
        script, filtering("http://1", ignorable=True), filtering("http://2", ignorable=True)
    )
    decision = tried(driver)
    assert script.nodes("filter") == [("a", "b", "c")] * 2
    assert decision.bound == "b"
    assert [(line.problem, line.ignored) for line in decision.consulted] == [
        ("boom", True),
        ("", False),
    ]


def test_an_unknown_node_of_an_extender_that_may_be_ignored_changes_nothing() -> None:
    driver = driver_of(Script(filter=leaves("z")), filtering(ignorable=True))
    assert tried(driver).scheduled


# a nominated node


NOMINATED: dict[str, Any] = {"status": {"nominatedNodeName": "b"}}


def test_a_nominated_node_is_tried_alone() -> None:
    script = Script()
    objects = [*nodes(), pending("p", **NOMINATED)]
    decision = tried(driver_of(script, filtering(), scoring("http://s"), objects=objects))
    assert decision.bound == "b"
    assert script.nodes("filter") == [("b",)]
    assert script.nodes("prioritize") == []


def test_a_nominated_node_that_an_extender_takes_away_leads_to_the_full_search() -> None:
    def but_b(call: FilterCall) -> FilterAnswer:
        kept = tuple(name for name in call.nodes if name != "b")
        return FilterAnswer(kept, failed={"b": "not this one"})

    script = Script(filter=but_b)
    driver = driver_of(script, filtering(), objects=[*nodes(), pending("p", **NOMINATED)])
    decision = tried(driver)
    assert script.nodes("filter") == [("b",), ("a", "b", "c")]
    assert decision.bound in ("a", "c")
    assert set(decision.dropped) == {"b"}


def test_an_error_about_the_nominated_node_leads_to_the_full_search() -> None:
    driver = driver_of(
        Script(filter=in_turn(fails(), leaves("a", "c"))),
        filtering(),
        objects=[*nodes(), pending("p", **NOMINATED)],
    )
    decision = tried(driver)
    assert not decision.is_error
    assert decision.bound in ("a", "c")


def test_what_was_said_of_the_nominated_node_alone_does_not_outlast_the_search() -> None:
    answers = in_turn(leaves(failed={"b": "not now"}), leaves(failed=dict.fromkeys("abc", "no")))
    objects = [*nodes(), pending("p", **NOMINATED)]
    decision = tried(driver_of(Script(filter=answers), filtering(), objects=objects))
    assert (decision.message or "").startswith("0/3 nodes are available: 3 no. ")


# how far the search goes


@pytest.mark.parametrize(
    ("asks", "found"),
    [
        (filtering(), 120),
        (scoring(), 120),
        (extender(bindVerb="bind"), 1),
    ],
)
def test_without_scores_the_first_node_will_do_unless_extenders_choose(
    asks: dict[str, Any], found: int
) -> None:
    objects = [*(make_node(f"n{number:03}") for number in range(120)), pending("p")]
    decision = tried(driver_of(Script(), asks, objects=objects, disabled=SCORING_PLUGINS))
    assert {row.plugin for row in decision.scores} <= {"http://a"}
    assert len(decision.feasible) == found


def test_extenders_are_told_of_nodes_in_the_order_of_the_search() -> None:
    script = Script()
    objects = [make_node(f"n{number:03}") for number in range(150)]
    pods = [pending("p"), pending("q")]
    driver = driver_of(script, filtering(), objects=[*objects, *pods], percentageOfNodesToScore=70)
    driver.run()
    first, second = script.nodes("filter")
    names = [node.metadata.name for node in objects]
    assert list(first) == names[:105]
    assert list(second) == names[105:] + names[:60]


def test_what_was_said_of_the_nominated_node_counts_as_seen() -> None:
    """105 nodes are found, and n120 is known not to do: the next search starts one further."""
    script = Script(filter=in_turn(leaves(failed={"n120": "no"}), leaves("n000"), leaves("n000")))
    objects = [make_node(f"n{number:03}") for number in range(150)]
    first = pending("p", status={"nominatedNodeName": "n120"})
    pods = [first, pending("q")]
    driver = driver_of(script, filtering(), objects=[*objects, *pods], percentageOfNodesToScore=70)
    driver.run()
    assert script.nodes("filter")[2][0] == "n106"


# coming back


def test_a_pod_that_an_extender_rejected_comes_back_after_any_event() -> None:
    driver = driver_of(Script(filter=leaves()), filtering())
    tried(driver)
    assert driver.where() == {"p": "unschedulable"}
    driver.put(make_node("b", labels={"x": "y"}))
    assert driver.where() == {"p": "backoff"}
    lines = driver.engine.state.pod_log.lines("default/p")
    assert lines[-1].plugins == ("Extender",)


def test_a_pod_that_plugins_rejected_does_not_wait_for_extenders() -> None:
    objects = [*nodes(unschedulable=True), pending("p")]
    driver = driver_of(Script(), filtering(), objects=objects)
    tried(driver)
    driver.put(make_node("b", unschedulable=True, labels={"x": "y"}))
    assert driver.where() == {"p": "unschedulable"}


# without anybody to ask


def test_an_engine_with_extenders_and_nobody_to_ask_says_so_and_loses_nothing() -> None:
    driver = driver_of(Script(), filtering())
    with pytest.raises(NobodyToAsk, match="http://a"):
        driver.engine.schedule_next()
    assert driver.where() == {"p": "error backoff"}


def test_pods_that_no_extender_is_interested_in_need_nobody() -> None:
    driver = driver_of(Script(), filtering(managedResources=[{"name": "a.com/x"}]))
    attempt = driver.engine.schedule_next()
    assert attempt is not None
    assert attempt.decision.scheduled

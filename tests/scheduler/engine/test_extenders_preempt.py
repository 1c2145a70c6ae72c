"""Extenders and preemption: they may drop nodes, change victims, and stop it all."""

from collections.abc import Sequence
from typing import Any

from support.scheduler.engine.scripted_extenders import Script, clears, extender, fails, preempting
from support.scheduler.engine.tight_clusters import budget, labelled, running

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.scheduler.engine.decision import Decision
from podium.scheduler.framework.asking import PreemptAnswer, PreemptCall, PreemptMetaVictims
from podium.scheduler.framework.status import Code
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

FULL = "0/2 nodes are available: 2 Insufficient cpu. "


def small(name: str) -> Node:
    return make_node(name, allocatable={"cpu": 2, "memory": "8Gi", "pods": 10})


def crowded() -> list[KubeStruct]:
    """Two nodes, each full of two pods; on b they are the more important."""
    return [
        small("a"),
        small("b"),
        running("a1", "a", priority=1),
        running("a2", "a", priority=2),
        running("b1", "b", priority=3),
        running("b2", "b", priority=4),
    ]


def tried(
    script: Script,
    *extenders: dict[str, Any],
    objects: Sequence[KubeStruct] = (),
    **fields: Any,
) -> tuple[FakeCluster, Decision]:
    pod = pending("p", **{"priority": 10, "requests": {"cpu": 1}, **fields})
    driver = FakeCluster(*(objects or crowded()), pod, ask=script, extenders=list(extenders))
    attempt = driver.attempt()
    assert attempt is not None
    return driver, attempt.decision


def evicted(driver: FakeCluster) -> tuple[str, list[str]]:
    (preemption,) = driver.preemptions
    names = [eviction.victim.pod.metadata.name for eviction in preemption.evict]
    return preemption.node_name, names


def test_extenders_are_told_of_the_candidates_and_their_victims() -> None:
    script = Script()
    driver, decision = tried(script, preempting())
    (call,) = script.calls
    assert isinstance(call, PreemptCall)
    assert call.pod.metadata.name == "p"
    assert {
        node: ([pod.metadata.name for pod in victims.pods], victims.violations)
        for node, victims in call.victims.items()
    } == {"a": (["a1"], 0), "b": (["b1"], 0)}
    assert evicted(driver) == ("a", ["a1"])
    assert [(line.verb, line.asked, line.kept) for line in decision.consulted] == [
        ("preempt", 2, 2)
    ]


def test_victims_are_listed_from_the_most_important_with_the_budgets_they_break() -> None:
    script = Script()
    objects = [
        small("a"),
        labelled("a1", "a", 1),
        labelled("a2", "a", 2),
        budget("pdb", allowed=1),
    ]
    tried(script, preempting(), objects=objects, requests={"cpu": 2})
    (call,) = script.calls
    assert isinstance(call, PreemptCall)
    victims = call.victims["a"]
    assert [pod.metadata.name for pod in victims.pods] == ["a2", "a1"]
    assert victims.violations == 1


def test_nobody_is_asked_without_candidates() -> None:
    script = Script()
    _, decision = tried(script, preempting(), priority=0)
    assert script.calls == []
    assert (decision.message or "").startswith(FULL)


def test_only_interested_extenders_with_a_verb_are_asked_and_in_order() -> None:
    script = Script()
    tried(
        script,
        preempting("http://1", ignorable=True),
        preempting("http://2"),
        extender("http://3"),
        preempting("http://4", managedResources=[{"name": "a.com/x"}]),
    )
    assert script.asked == ["http://2 preempt", "http://1 preempt"]


# what an answer changes


def test_an_extender_may_drop_nodes() -> None:
    driver, _ = tried(Script(preempt=clears(b=("b1",))), preempting())
    assert evicted(driver) == ("b", ["b1"])
    assert driver.nominated() == {"p": "b"}


def test_an_extender_may_change_victims_to_any_pods_of_the_node() -> None:
    driver, _ = tried(Script(preempt=clears(a=("a2", "a1"))), preempting())
    assert evicted(driver) == ("a", ["a2", "a1"])


def test_an_extender_may_bring_in_a_node_that_was_not_offered() -> None:
    strong = [running("b1", "b", 50), running("b2", "b", 50)]
    driver, _ = tried(
        Script(preempt=clears(b=("b2",))), preempting(), objects=[*crowded()[:4], *strong]
    )
    assert evicted(driver) == ("b", ["b2"])


def test_the_number_of_broken_budgets_is_the_answers() -> None:
    answer = PreemptAnswer(
        {
            "a": PreemptMetaVictims(("uid-default-a1",), 3),
            "b": PreemptMetaVictims(("uid-default-b1",), 2),
        }
    )
    driver, _ = tried(Script(preempt=answer), preempting())
    assert evicted(driver) == ("b", ["b1"])


def test_the_answer_is_what_the_next_is_asked_about() -> None:
    script = Script({"http://1 preempt": clears(b=("b2", "b1"))})
    driver, _ = tried(script, preempting("http://1"), preempting("http://2"))
    second = script.calls[1]
    assert isinstance(second, PreemptCall)
    assert {
        node: [pod.metadata.name for pod in victims.pods]
        for node, victims in second.victims.items()
    } == {"b": ["b2", "b1"]}
    assert evicted(driver) == ("b", ["b2", "b1"])


def test_no_node_left_ends_it_without_asking_the_others() -> None:
    script = Script({"http://1 preempt": PreemptAnswer({})})
    driver, decision = tried(
        script,
        preempting("http://1"),
        preempting("http://2"),
        status={"nominatedNodeName": "b"},
    )
    assert script.asked == ["http://1 preempt"]
    assert decision.message == (
        FULL + "no new claims to deallocate, preemption: no candidate node for preemption"
    )
    assert decision.nominated_node is None
    assert driver.nominated() == {"p": "b"}


# answers that cannot be meant


def failed(decision: Decision, text: str) -> bool:
    """Whether preemption failed with a text, and the pod is unschedulable all the same."""
    outcome = decision.post_filter
    assert outcome is not None
    assert outcome.code is Code.ERROR
    assert decision.nominated_node is None
    assert not decision.is_error
    return decision.message == f"{FULL}preemption: {text}"


def test_an_error_fails_the_preemption_and_not_the_attempt() -> None:
    driver, decision = tried(Script(preempt=fails()), preempting(), preempting("http://b"))
    assert failed(decision, "boom")
    assert [patch.reason for patch in driver.patches] == ["Unschedulable"]
    assert driver.preemptions == []
    assert decision.rejectors == {"NodeResourcesFit"}


def test_an_error_that_may_be_ignored_keeps_the_candidates() -> None:
    script = Script({"http://1 preempt": fails()})
    driver, _ = tried(
        script, preempting("http://1", ignorable=True), preempting("http://2", ignorable=True)
    )
    assert len(script.calls) == 2
    assert evicted(driver) == ("a", ["a1"])


def test_an_unknown_node_is_an_error() -> None:
    _, decision = tried(Script(preempt=clears(z=("a1",))), preempting())
    assert failed(decision, 'nodeinfo not found for node name "z"')


def test_a_pod_that_is_not_on_the_node_is_an_error() -> None:
    _, decision = tried(Script(preempt=clears(b=("a1",))), preempting())
    assert failed(
        decision,
        "extender: http://a claims to preempt pod (UID: &{uid-default-a1}) on node: b,"
        " but the pod is not found on that node",
    )


def test_a_node_without_victims_is_an_error() -> None:
    _, decision = tried(Script(preempt=clears(a=("a1",), b=())), preempting())
    assert failed(decision, 'expected at least one victim pod on node "b"')


def test_a_node_without_victims_is_dropped_if_errors_may_be_ignored() -> None:
    driver, _ = tried(Script(preempt=clears(a=(), b=("b1",))), preempting(ignorable=True))
    assert evicted(driver) == ("b", ["b1"])


def test_an_impossible_answer_of_one_that_may_be_ignored_keeps_the_candidates() -> None:
    driver, _ = tried(Script(preempt=clears(b=("a1",))), preempting(ignorable=True))
    assert evicted(driver) == ("a", ["a1"])


def test_the_earliest_start_is_that_of_the_most_important_victims_however_they_are_listed() -> None:
    """Equal in all else; a's important victim started later, so that less work is lost there."""
    objects = [
        *crowded()[:2],
        running("a1", "a", 1, start=1),
        running("a2", "a", 2, start=30),
        running("b1", "b", 1, start=1),
        running("b2", "b", 2, start=20),
    ]
    answer = clears(a=("a1", "a2"), b=("b1", "b2"))
    driver, _ = tried(Script(preempt=answer), preempting(), objects=objects, requests={"cpu": 2})
    assert evicted(driver) == ("a", ["a1", "a2"])

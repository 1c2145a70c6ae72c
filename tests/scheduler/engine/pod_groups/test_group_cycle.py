"""One popped member brings its group: who comes along, in which order, and who cannot."""

from typing import Any

import pytest
from support.scheduler.engine.group_driver import (
    GANGS,
    GENERIC,
    GroupDriver,
    make_group,
    member,
    node,
    running,
)
from support.scheduler.framework.fake_plugins import filter_by

from podium.scheduler.engine.pod_groups.algorithm import GroupAlgorithm
from podium.scheduler.framework.status import unschedulable
from podium.testing import make_pod
from podium.testing import make_pod as pending


def order_of(driver: GroupDriver) -> list[str]:
    """Members in the order they were tried."""
    lines = {
        name: driver.engine.state.pod_log.decision(f"default/{name}") for name in driver.where()
    }
    assert all(lines.values())
    return [
        event.pod.pod.metadata.name for event in driver.events if event.reason == "FailedScheduling"
    ]


def test_with_the_gate_off_members_are_pods_like_others() -> None:
    driver = GroupDriver(node("a", 1), make_group(min_count=3), gates={})
    driver.put(member("p"), member("q"))
    assert driver.run() == ["p", "q"]
    assert driver.where() == {"p": "binding", "q": "unschedulable"}
    assert driver.group_patches == []


def test_a_popped_member_takes_all_others_along() -> None:
    driver = GroupDriver(node("a", 4), make_group(), gates=GENERIC)
    driver.put(member("p"), member("q"), pending("alone"), member("r"))
    attempt = driver.attempt()
    assert attempt is not None
    assert attempt.decision.pod.key == "default/p"
    assert [other.decision.pod.key for other in attempt.others] == ["default/q", "default/r"]
    assert all(a.binding is not None for a in (attempt, *attempt.others))
    assert driver.where() == {"p": "binding", "q": "binding", "r": "binding", "alone": "active"}


def test_groups_of_the_same_name_in_two_namespaces_are_two_groups() -> None:
    driver = GroupDriver(node("a", 4), gates=GENERIC)
    driver.put(member("p"), member("q", namespace="other"))
    attempt = driver.attempt()
    assert attempt is not None
    assert attempt.others == ()


def test_important_members_are_tried_first_then_those_that_were_ready_first() -> None:
    driver = GroupDriver(node("a", 0), make_group(), gates=GENERIC)
    for name, priority in (("p", 0), ("q", 5), ("r", 0), ("s", 5)):
        driver.put(member(name, priority=priority))
        driver.wait(1)
    driver.run()
    assert order_of(driver) == ["q", "s", "p", "r"]


def test_who_was_ready_first_stays_first_after_a_failure() -> None:
    driver = GroupDriver(node("a", 0), make_group(), gates=GENERIC)
    driver.put(member("p"))
    driver.run()
    driver.wait(0.5)
    driver.put(member("q"))
    driver.run()
    assert order_of(driver) == ["p", "p", "q"]


def test_members_come_along_from_every_part_of_the_queue_but_not_past_a_gate() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    held: dict[str, Any] = {"schedulingGates": [{"name": "later"}]}
    driver.put(member("fits"), member("not", cpu=5), member("held", **held))
    driver.run()
    assert driver.where() == {"fits": "binding", "not": "backoff", "held": "gated"}
    driver.put(member("new"))
    attempt = driver.attempt()
    assert attempt is not None
    assert attempt.decision.pod.key == "default/new"
    assert [other.decision.pod.key for other in attempt.others] == ["default/not"]
    assert driver.where()["held"] == "gated"


def test_members_wait_out_their_backoff_even_when_nobody_else_is_there() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p", cpu=5))
    assert driver.run() == ["p"]
    assert driver.run() == []
    driver.wait(2)
    assert driver.run() == ["p"]


def test_others_are_still_popped_early_past_waiting_members() -> None:
    driver = GroupDriver(node("a", 1), gates=GENERIC)
    driver.put(member("p", cpu=5), pending("alone", requests={"cpu": 5}))
    driver.run()
    assert driver.where() == {"p": "backoff", "alone": "unschedulable"}
    driver.put(node("b", 1))
    assert driver.where()["alone"] == "unschedulable"
    driver.put(node("c", 5))
    assert driver.where() == {"p": "backoff", "alone": "backoff"}
    assert driver.run() == ["alone"]


def test_events_do_not_bring_a_failed_group_back() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p", cpu=5))
    driver.run()
    driver.put(node("b", 8))
    assert driver.where() == {"p": "backoff"}


def test_a_group_that_is_not_known_is_retried_without_a_word() -> None:
    driver = GroupDriver(node("a"), gates=GENERIC, validate=False)
    driver.put(member("p"))
    driver.engine.cluster.pod_groups.remove(driver.engine.cluster.infos.of(driver.pod("p")))
    assert driver.run() == []
    assert driver.where() == {"p": "error backoff"}
    assert (driver.events, driver.patches) == ([], [])


def test_members_of_different_schedulers_all_fail() -> None:
    driver = GroupDriver(node("a"), gates=GENERIC, profiles=("one", "two"))
    driver.put(member("p", schedulerName="one"), member("q", schedulerName="two", priority=1))
    assert driver.run() == []
    text = (
        "all pods in a single pod group should have the same .spec.schedulerName set,"
        ' got: "one" and "two"'
    )
    assert driver.told() == {"p": ("SchedulerError", text), "q": ("SchedulerError", text)}
    assert driver.nominations_written() == {"p": "", "q": ""}
    assert driver.where() == {"p": "error backoff", "q": "error backoff"}
    assert driver.group_patches == []


def test_members_of_other_schedulers_than_ours_do_not_come_along() -> None:
    driver = GroupDriver(node("a"), gates=GENERIC)
    driver.put(
        member("p"), make_pod("q", schedulerName="theirs", schedulingGroup={"podGroupName": "g"})
    )
    attempt = driver.attempt()
    assert attempt is not None
    assert attempt.others == ()


def test_members_being_deleted_are_dropped_with_an_event() -> None:
    driver = GroupDriver(node("a"), make_group(), gates=GENERIC)
    driver.put(member("p"), member("q"))
    driver.terminate("q")
    assert driver.run() == ["p"]
    assert driver.notes() == ["skip schedule deleting pod: default/q"]
    assert driver.where() == {"p": "binding"}


def test_a_group_of_which_nobody_is_left_is_not_tried() -> None:
    driver = GroupDriver(node("a"), make_group(), gates=GENERIC)
    driver.put(member("p"))
    driver.terminate("p")
    assert driver.run() == []
    assert driver.group_patches == []


def test_a_gang_waits_before_the_queue_until_it_can_be_complete() -> None:
    driver = GroupDriver(node("a", 4))
    driver.put(member("p"), member("q"))
    assert driver.where() == {"p": "gated", "q": "gated"}
    driver.put(make_group(min_count=3))
    assert driver.where() == {"p": "gated", "q": "gated"}
    driver.put(member("r"))
    assert driver.where() == {"p": "active", "q": "active", "r": "active"}
    driver.run()
    assert driver.where() == {"p": "binding", "q": "binding", "r": "binding"}


def test_a_gang_waits_for_its_group_to_appear() -> None:
    driver = GroupDriver(node("a", 4))
    driver.put(member("p"), member("q"), member("lonely", "other"))
    driver.put(make_group(min_count=2))
    assert driver.where() == {"p": "active", "q": "active", "lonely": "gated"}


def test_members_that_run_already_complete_a_gang() -> None:
    driver = GroupDriver(node("a", 4), make_group(min_count=2))
    driver.put(member("old", node="a"), member("p"))
    driver.run()
    assert driver.where() == {"old": "a", "p": "binding"}


def test_the_gang_is_bound_together_and_the_first_ones_wait_for_the_last() -> None:
    driver = GroupDriver(node("a"), node("b"), make_group(min_count=3))
    driver.put(member("p"), member("q"), member("r"))
    driver.run()
    assert {n.pod.pod.metadata.name for n in driver.nominations} == {"r", "p"}
    assert set(driver.bindings) == {"p", "q", "r"}
    for name in tuple(driver.bindings):
        driver.bound(name)
    assert sorted(driver.where().values()) == ["a", "a", "b"]


def test_a_decision_is_kept_for_every_member() -> None:
    driver = GroupDriver(node("a", 1), make_group(), gates=GENERIC)
    driver.put(member("p"), member("q"))
    driver.run()
    pod_log = driver.engine.state.pod_log
    fits, fails = pod_log.decision("default/p"), pod_log.decision("default/q")
    assert fits is not None
    assert fails is not None
    assert (fits.bound, fits.attempt, fits.message) == ("a", 1, None)
    assert (fails.bound, fails.chosen) == (None, None)
    assert driver.story("q")[:2] == ["queued", "tried"]


def test_an_attempt_that_breaks_is_the_groups_failure_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    driver = GroupDriver(node("a", 4), make_group(), gates=GENERIC, validate=False)
    driver.put(member("p"), member("q"))
    with monkeypatch.context() as patch:
        patch.setattr(GroupAlgorithm, "_give_back", broken)
        attempt = driver.attempt()
    assert attempt is not None
    assert "RuntimeError: a bug" in attempt.crash
    text = "Podium failed while it looked for a node: a bug"
    assert driver.told() == {"p": ("SchedulerError", text), "q": ("SchedulerError", text)}
    assert driver.where() == {"p": "error backoff", "q": "error backoff"}
    assert driver.condition() == ("False", "SchedulerError", text)
    driver.wait(2)
    driver.run()
    assert driver.where() == {"p": "binding", "q": "binding"}


def test_nothing_is_held_while_a_group_does_not_fit() -> None:
    driver = GroupDriver(node("a", 2), node("b", 2), running("old", "a"), make_group(min_count=4))
    driver.put(*(member(f"m{i}") for i in range(4)))
    usage = driver.engine.cluster.usage
    before = usage.requested.tolist()
    driver.run()
    assert usage.requested.tolist() == before
    assert driver.bindings == {}
    assert [p.key for p in usage.pods(0)] == ["default/old"]


def test_members_see_each_other_while_they_are_tried() -> None:
    spread: dict[str, Any] = {
        "labels": {"app": "x"},
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "labelSelector": {"matchLabels": {"app": "x"}},
                        "topologyKey": "kubernetes.io/hostname",
                    }
                ]
            }
        },
    }
    nodes = [node(n, 8, labels={"kubernetes.io/hostname": n}) for n in "abc"]
    driver = GroupDriver(*nodes, make_group(min_count=3))
    driver.put(*(member(n, **spread) for n in "pqr"))
    driver.run()
    assert {b.node_name for b in driver.bindings.values()} == {"a", "b", "c"}


def test_a_group_whose_members_no_plugin_holds_back_needs_no_gang_gate() -> None:
    refuses = filter_by("Refuses", {"a": unschedulable("no")})
    driver = GroupDriver(node("a"), node("b"), gates=GANGS, plugins=[refuses])
    driver.put(make_group(), member("p"), member("q"))
    driver.run()
    assert {b.node_name for b in driver.bindings.values()} == {"b"}

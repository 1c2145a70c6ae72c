"""Pods that plugins hold back before they may be tried."""

import pytest
from support.scheduler.engine.queues import (
    NODE_ADDED,
    NODES,
    POD_DELETED,
    PODS_GONE,
    QueueUnderTest,
    info,
)

from podium.scheduler.framework.events import Action, Registration, Resource

FIT = ("Fit", NODES)
GATES = ("Gates", Registration(Resource.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED))
LEAVING = ("Preemption", PODS_GONE)


def test_a_pod_that_is_held_back_is_not_tried() -> None:
    queue = QueueUnderTest()
    queue.doorman.held["p"] = "Gates"
    queue.put("p")
    assert queue.where() == {"p": "gated"}
    queued = queue.get("default/p")
    assert queued is not None
    assert (queued.gating_plugin, queued.rejectors) == ("Gates", {"Gates"})
    assert queue.pop() is None
    assert queued.initial_attempt_timestamp is None


def test_time_to_schedule_counts_from_when_a_pod_was_let_in() -> None:
    queue = QueueUnderTest([("Gates", PODS_GONE)])
    queue.doorman.held["p"] = "Gates"
    queue.put("p")
    queue.clock.advance(60)
    queue.doorman.held.clear()
    assert queue.is_told(POD_DELETED) == ["p"]
    queued = queue.get("default/p")
    assert queued is not None
    assert queued.initial_attempt_timestamp == 60
    queue.fail(queue.pop(), "Fit")
    queue.clock.advance(500)
    queue.flush_unschedulable()
    assert queued.initial_attempt_timestamp == 60


def test_events_that_do_not_concern_the_gating_plugin_do_not_even_ask_it() -> None:
    queue = QueueUnderTest([FIT, LEAVING])
    queue.doorman.held["p"] = "Preemption"
    queue.put("p")
    queue.doorman.asked.clear()
    assert queue.is_told(NODE_ADDED) == []
    assert queue.doorman.asked == []


def test_an_event_of_the_gating_plugin_asks_again() -> None:
    queue = QueueUnderTest([FIT, LEAVING])
    queue.doorman.held["p"] = "Preemption"
    queue.put("p")
    assert queue.is_told(POD_DELETED) == []
    assert queue.where() == {"p": "gated"}
    queue.doorman.held.clear()
    assert queue.is_told(POD_DELETED) == ["p"]
    assert queue.where() == {"p": "active"}


def test_a_hint_of_the_gating_plugin_is_respected() -> None:
    never = Registration(Resource.POD, Action.DELETE, lambda *_: False)
    queue = QueueUnderTest([("Preemption", never)])
    queue.doorman.held["p"] = "Preemption"
    queue.put("p")
    queue.doorman.held.clear()
    assert queue.is_told(POD_DELETED) == []


def test_whoever_held_the_pod_back_stays_one_of_its_rejectors() -> None:
    queue = QueueUnderTest([FIT, LEAVING])
    queue.doorman.held["p"] = "Preemption"
    queue.put("p")
    queue.doorman.held.clear()
    queue.is_told(POD_DELETED)
    queued = queue.get("default/p")
    assert queued is not None
    assert (queued.gating_plugin, queued.rejectors) == ("", {"Preemption"})


def test_a_rejected_pod_may_be_held_back_when_an_event_would_wake_it() -> None:
    queue = QueueUnderTest([("Fit", PODS_GONE), LEAVING])
    queued = queue.rejected("p", "Fit")
    queue.doorman.held["p"] = "Preemption"
    assert queue.is_told(POD_DELETED) == []
    assert queue.where() == {"p": "gated"}
    assert queued.rejectors == {"Fit", "Preemption"}


def test_plugins_are_asked_on_the_way_into_backoff_and_not_on_the_way_out() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("p", "Fit")
    queue.doorman.asked.clear()
    queue.is_told(NODE_ADDED)
    assert (queue.where(), queue.doorman.asked) == ({"p": "backoff"}, ["p"])
    queue.doorman.held["p"] = "Preemption"
    queue.clock.advance(5)
    queue.flush_backoff()
    assert (queue.where(), queue.doorman.asked) == ({"p": "active"}, ["p"])


def test_a_pod_may_be_held_back_on_the_way_into_backoff() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("p", "Fit")
    queue.doorman.held["p"] = "Preemption"
    queue.is_told(NODE_ADDED)
    assert queue.where() == {"p": "gated"}


def test_without_popping_early_plugins_are_asked_on_the_way_out_of_backoff() -> None:
    queue = QueueUnderTest([FIT], pop_from_backoff=False)
    queue.rejected("p", "Fit")
    queue.doorman.held["p"] = "Preemption"
    queue.doorman.asked.clear()
    queue.is_told(NODE_ADDED)
    assert (queue.where(), queue.doorman.asked) == ({"p": "backoff"}, [])
    queue.clock.advance(5)
    assert queue.flush_backoff() == []
    assert (queue.where(), queue.doorman.asked) == ({"p": "gated"}, ["p"])


def test_a_failed_pod_may_be_held_back_at_once() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queued = queue.pop()
    queue.move_on_event(NODE_ADDED, None, None)
    queue.doorman.held["p"] = "Preemption"
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "gated"}
    assert queue.pods_in_flight() == []


def test_a_rejected_pod_that_nothing_wakes_is_not_asked_about() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queue.doorman.asked.clear()
    queue.fail(queue.pop(), "Fit")
    assert queue.doorman.asked == []


@pytest.mark.parametrize("held", [True, False])
def test_a_nominated_node_is_reserved_only_for_a_pod_that_was_let_in(held: bool) -> None:
    queue = QueueUnderTest()
    if held:
        queue.doorman.held["p"] = "Gates"
    queue.put("p", status={"nominatedNodeName": "n"})
    assert queue.nominations() == ({} if held else {"p": "n"})


def test_any_change_of_a_held_pod_lets_its_nomination_count() -> None:
    queue = QueueUnderTest()
    queue.doorman.held["p"] = "Gates"
    old, new = (info("p", labels={"v": v}, status={"nominatedNodeName": "n"}) for v in "12")
    queue.add(old)
    queue.update(old, new, [])
    assert (queue.where(), queue.nominations()) == ({"p": "gated"}, {"p": "n"})

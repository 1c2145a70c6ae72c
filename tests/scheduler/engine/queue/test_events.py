"""What cluster events and time do to waiting pods."""

import pytest
from support.scheduler.engine.queues import (
    NODE_ADDED,
    NODE_TAINT,
    NODES,
    POD_DELETED,
    PODS_GONE,
    QueueUnderTest,
    info,
    saying,
)

from podium.scheduler.framework.events import Action, Registration, Resource

FIT = ("Fit", NODES)


def test_an_event_moves_the_pods_it_may_help() -> None:
    queue = QueueUnderTest([FIT, ("Ports", PODS_GONE)])
    queue.rejected("fit", "Fit")
    queue.rejected("ports", "Ports")
    assert queue.is_told(NODE_ADDED) == ["fit"]
    assert queue.where() == {"fit": "backoff", "ports": "unschedulable"}


def test_a_hint_that_says_no_leaves_the_pod_where_it_is() -> None:
    queue = QueueUnderTest([("Fit", Registration(Resource.NODE, Action.ADD, saying(False)))])
    queue.rejected("p", "Fit")
    assert queue.is_told(NODE_ADDED) == []


def test_a_pod_whose_plugin_made_progress_skips_its_backoff() -> None:
    queue = QueueUnderTest([("Devices", NODES)])
    queue.put("p")
    queue.fail(queue.pop(), pending=["Devices"])
    assert queue.where() == {"p": "unschedulable"}
    queue.is_told(NODE_ADDED)
    assert queue.where() == {"p": "active"}


def test_only_pods_the_caller_means_are_looked_at() -> None:
    queue = QueueUnderTest([("Fit", PODS_GONE)])
    queue.rejected("a", "Fit")
    queue.rejected("b", "Fit")
    moved = queue.move_on_event(POD_DELETED, None, None, lambda pod: pod.info.key == "default/b")
    assert [queued.info.key for queued in moved] == ["default/b"]


def test_pods_that_are_queued_already_are_not_touched() -> None:
    queue = QueueUnderTest([FIT])
    broken = queue.rejected("broken")
    end = broken.backoff_expiry
    queue.put("active")
    queue.is_told(NODE_ADDED)
    assert queue.where() == {"active": "active", "broken": "error backoff"}
    assert broken.backoff_expiry == end


# events while a pod is being tried


def test_an_event_during_an_attempt_sends_the_failed_pod_to_backoff() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "backoff"}


def test_an_event_of_no_interest_during_an_attempt_is_not_even_remembered() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_TAINT)
    assert queue.events_in_flight == 0
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "unschedulable"}


def test_an_event_for_others_only_still_counts_for_a_pod_in_flight() -> None:
    queue = QueueUnderTest([("Fit", PODS_GONE)])
    queue.put("p")
    queued = queue.pop()
    queue.move_on_event(POD_DELETED, None, None, lambda _: False)
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "backoff"}


def test_an_event_before_the_attempt_does_not_count() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queue.is_told(NODE_ADDED)
    queue.fail(queue.pop(), "Fit")
    assert queue.where() == {"p": "unschedulable"}


def test_events_are_forgotten_when_their_pods_are_done() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("a", "b")
    first, second = queue.pop(), queue.pop()
    assert second is not None
    queue.is_told(NODE_ADDED)
    queue.fail(first, "Fit")
    assert queue.events_in_flight == 1
    queue.done(second.info.uid)
    assert queue.events_in_flight == 0


def test_progress_during_the_attempt_skips_backoff_altogether() -> None:
    queue = QueueUnderTest([("Devices", NODES)])
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.fail(queued, pending=["Devices"])
    assert queue.where() == {"p": "active"}


# pods that wait for too long


def flushed(queue: QueueUnderTest, now: float) -> list[str]:
    queue.clock.now = now
    return [queued.info.pod.metadata.name for queued in queue.flush_unschedulable()]


def test_a_pod_is_retried_after_more_than_five_minutes() -> None:
    queue = QueueUnderTest()
    queue.rejected("p", "Fit")
    assert flushed(queue, 300) == []
    assert flushed(queue, 330) == ["p"]
    assert queue.where() == {"p": "active"}


def test_long_waits_are_looked_for_every_thirty_seconds_only() -> None:
    queue = QueueUnderTest(now=5)
    queue.flush_unschedulable()
    queue.clock.now = 6
    queue.rejected("p", "Fit")
    assert flushed(queue, 307) == []  # the looks are at 305 and 335
    assert flushed(queue, 334.9) == []
    assert flushed(queue, 335) == ["p"]
    assert queue.next_flush() is None


@pytest.mark.parametrize(
    ("failed_at", "told"), [(0, 330), (0.5, 330), (29, 330), (30, 360), (31, 360)]
)
def test_a_driver_that_jumps_is_told_when_the_next_wait_is_too_long(
    failed_at: float, told: float
) -> None:
    queue = QueueUnderTest()
    queue.clock.now = failed_at
    queue.rejected("p", "Fit")
    assert queue.next_flush() == told
    assert flushed(queue, told - 0.001) == []
    assert flushed(queue, told) == ["p"]


def test_a_late_look_is_not_made_up_for_twice() -> None:
    queue = QueueUnderTest()
    queue.rejected("p", "Fit")
    assert queue.next_flush() == 330
    assert flushed(queue, 1000) == ["p"]
    queue.fail(queue.pop(), "Fit")
    assert queue.next_flush() == 1320
    assert flushed(queue, 1319) == []
    assert flushed(queue, 1349) == ["p"]


def test_being_retried_for_waiting_too_long_is_remembered_until_the_next_failure() -> None:
    queue = QueueUnderTest()
    queued = queue.rejected("p", "Fit")
    flushed(queue, 330)
    assert (queued.flushed, queued.flushed_at) == (True, 330)
    queue.fail(queue.pop(), "Fit")
    assert (queued.flushed, queued.flushed_at) == (False, None)


def test_a_held_pod_is_asked_again_every_five_minutes() -> None:
    queue = QueueUnderTest()
    queue.doorman.held["p"] = "Gates"
    queue.put("p")
    queue.doorman.asked.clear()
    asked_at = []
    for now in range(0, 1000, 10):
        before = len(queue.doorman.asked)
        assert flushed(queue, now) == []
        if len(queue.doorman.asked) > before:
            asked_at.append(now)
    assert asked_at == [330, 660, 990]
    queued = queue.get("default/p")
    assert queued is not None
    assert not queued.flushed
    queue.doorman.held.clear()
    assert flushed(queue, 1320) == ["p"]


def test_a_flush_counts_as_an_event_for_pods_in_flight() -> None:
    queue = QueueUnderTest()
    queue.rejected("old", "Fit")
    queue.put("tried")
    queue.clock.now = 330
    tried = queue.pop()
    queue.flush_unschedulable()
    queue.fail(tried, "Fit")
    assert queue.where() == {"old": "active", "tried": "backoff"}


def test_a_flush_that_finds_nobody_is_no_event() -> None:
    queue = QueueUnderTest()
    queue.put("tried")
    queue.clock.now = 330
    tried = queue.pop()
    queue.flush_unschedulable()
    queue.fail(tried, "Fit")
    assert queue.where() == {"tried": "unschedulable"}


# activation


@pytest.mark.parametrize("part", ["backoff", "error backoff", "unschedulable"])
def test_a_plugin_may_bring_a_pod_forward(part: str) -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queued = queue.pop()
    if part == "backoff":
        queue.is_told(NODE_ADDED)
    queue.fail(queued, *([] if part == "error backoff" else ["Fit"]))
    assert queue.where() == {"p": part}
    queue.activate([info("p")])
    assert queue.where() == {"p": "active"}


def test_bringing_a_pod_forward_asks_the_gates_unless_they_were_asked_for_backoff() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("waits", "Fit")
    queue.rejected("broken")
    queue.doorman.held.update(waits="Gates", broken="Gates")
    queue.activate([info("waits"), info("broken")])
    assert queue.where() == {"waits": "gated", "broken": "active"}


def test_without_popping_early_bringing_a_pod_forward_always_asks_the_gates() -> None:
    queue = QueueUnderTest(pop_from_backoff=False)
    queue.rejected("p")
    queue.doorman.held["p"] = "Gates"
    queue.activate([info("p")])
    assert queue.where() == {"p": "gated"}


def test_a_pod_in_flight_is_brought_forward_when_it_comes_back() -> None:
    queue = QueueUnderTest()
    queue.put("p", "other")
    first, second = queue.pop(), queue.pop()
    queue.activate([info("p")])
    queue.fail(first, "Fit")
    queue.fail(second, "Fit")
    assert queue.where() == {"p": "backoff", "other": "unschedulable"}


def test_unknown_and_active_pods_are_not_brought_forward() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    queue.activate([info("p"), info("nobody")])
    assert queue.where() == {"p": "active"}
    assert queue.events_in_flight == 0

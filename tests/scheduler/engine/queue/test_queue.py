"""Where pods are in the queue, and the order in which they are tried."""

import pytest
from support.scheduler.engine.queues import NODE_ADDED, NODES, QueueUnderTest, info, pod_of

from podium.scheduler.framework.events import Action, Registration, Resource

FIT = ("Fit", NODES)


# order


def test_more_important_pods_first_then_those_that_have_waited_longer() -> None:
    queue = QueueUnderTest()
    queue.put("first")
    queue.clock.advance(1)
    queue.put("second")
    queue.put("important", priority=10)
    assert queue.take_all() == ["important", "first", "second"]


def test_pods_of_one_moment_are_tried_in_order_of_arrival() -> None:
    queue = QueueUnderTest()
    queue.put(*"zyx")
    assert queue.take_all() == ["z", "y", "x"]


def test_a_failed_pod_goes_behind_those_that_came_before_its_failure() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("early")
    queue.clock.advance(1)
    early = queue.pop()
    queue.put("late")
    queue.clock.advance(1)
    queue.fail(early, "Fit")
    queue.clock.advance(100)
    assert queue.is_told(NODE_ADDED) == ["early"]
    assert queue.take_all() == ["late", "early"]


def test_an_event_does_not_cost_a_pod_its_place() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("waits", "Fit")
    queue.clock.advance(50)
    queue.put("newer")
    queue.is_told(NODE_ADDED)
    assert queue.take_all() == ["waits", "newer"]


def test_each_attempt_and_each_pop_is_counted() -> None:
    queue = QueueUnderTest([FIT])
    queued = queue.rejected("p", "Fit")
    queue.put("q")
    queue.pop()
    assert (queued.attempts, queue.cycle) == (1, 2)
    queue.clock.advance(20)
    queue.is_told(NODE_ADDED)
    assert queue.pop() is queued
    assert (queued.attempts, queue.cycle) == (2, 3)


def test_nothing_to_pop_is_no_error() -> None:
    assert QueueUnderTest().pop() is None


def test_a_pod_that_is_in_flight_already_is_dropped() -> None:
    queue = QueueUnderTest()
    queue.put("twice")
    assert queue.take() == "twice"
    queue.put("twice")
    queue.put("next")
    assert queue.take_all() == ["next"]


# failures


def test_a_rejected_pod_waits_for_an_event() -> None:
    queue = QueueUnderTest([FIT])
    queued = queue.rejected("p", "Fit")
    assert queue.where() == {"p": "unschedulable"}
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (1, 0)
    assert queue.pods_in_flight() == []


def test_a_pod_that_met_an_error_waits_for_time_alone() -> None:
    queue = QueueUnderTest([FIT])
    queued = queue.rejected("p")
    assert queue.where() == {"p": "error backoff"}
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (0, 1)
    assert queue.is_told(NODE_ADDED) == []


def test_a_rejection_ends_a_row_of_errors() -> None:
    queue = QueueUnderTest([FIT])
    queued = queue.rejected("p")
    for count in (2, 3):
        queue.clock.advance(20)
        queue.flush_backoff()
        assert queue.fail(queue.pop()).consecutive_errors_count == count
    queue.clock.advance(20)
    queue.flush_backoff()
    queue.fail(queue.pop(), "Fit")
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (1, 0)


def test_the_time_of_failure_is_the_time_a_pod_is_sorted_by() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    queued = queue.pop()
    queue.clock.advance(7)
    assert queue.fail(queued, "Fit").timestamp == 7


def test_a_pod_that_came_back_otherwise_is_not_put_back_twice() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    queued = queue.pop()
    assert queued is not None
    queue.put("p")
    assert queue.put_back(queued) is None
    assert queue.where() == {"p": "active"}
    assert queue.pods_in_flight() == []
    assert queued.consecutive_errors_count == 0


def test_a_pod_that_is_done_does_not_come_back() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    queued = queue.pop()
    assert queued is not None
    queue.done(queued.info.uid)
    assert (len(queue), queue.pods_in_flight()) == (0, [])


# backoff


def test_backoffs_grow_with_every_rejection_and_end_on_the_flush() -> None:
    queue = QueueUnderTest([FIT], pop_from_backoff=True)
    queue.put("p")
    for wait in (1, 2, 4, 8, 10, 10):
        queued = queue.pop()
        queue.move_on_event(NODE_ADDED, None, None)
        queue.fail(queued, "Fit")
        assert queue.where() == {"p": "backoff"}
        queue.clock.advance(wait)
        assert queue.flush_backoff() == []
        queue.clock.advance(1)
        assert queue.flush_backoff() == [queued]
        assert queue.where() == {"p": "active"}


def test_the_flush_lets_rejections_in_before_errors() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("rejected", "broken")
    first, second = queue.pop(), queue.pop()
    queue.move_on_event(NODE_ADDED, None, None)
    queue.fail(second)
    queue.fail(first, "Fit")
    queue.clock.advance(3)
    assert [pod_of(queued).metadata.name for queued in queue.flush_backoff()] == [
        "rejected",
        "broken",
    ]


def test_an_idle_queue_tries_a_pod_before_its_backoff_is_over() -> None:
    queue = QueueUnderTest([FIT])
    queue.put("waits")
    waits = queue.pop()
    queue.move_on_event(NODE_ADDED, None, None)
    queue.fail(waits, "Fit")
    queue.put("ready")
    assert queue.where() == {"waits": "backoff", "ready": "active"}
    assert queue.take_all() == ["ready", "waits"]


def test_who_is_popped_early_is_who_may_run_first_and_is_more_important() -> None:
    queue = QueueUnderTest([FIT])
    names = ["low", "high", "often"]
    for name in names:
        queue.put(name, priority={"high": 5}.get(name, 0))
    pods = {pod_of(q).metadata.name: q for q in iter(queue.pop, None)}
    pods["often"].unschedulable_count = 3
    queue.move_on_event(NODE_ADDED, None, None)
    for name in ("often", "low", "high"):
        queue.fail(pods[name], "Fit")
    assert queue.take_all() == ["high", "low", "often"]


def test_errors_are_never_tried_early() -> None:
    queue = QueueUnderTest()
    queue.rejected("p")
    assert queue.pop() is None


def test_without_the_gate_nobody_is_tried_early() -> None:
    queue = QueueUnderTest([FIT], pop_from_backoff=False)
    queue.put("p")
    queued = queue.pop()
    queue.move_on_event(NODE_ADDED, None, None)
    queue.fail(queued, "Fit")
    assert queue.pop() is None
    queue.clock.advance(1.5)
    queue.flush_backoff()
    assert queue.take() == "p"


def test_backoff_that_is_over_is_not_waited_for_again() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("p", "Fit")
    queue.clock.advance(2)
    queue.is_told(NODE_ADDED)
    assert queue.where() == {"p": "active"}


def test_a_driver_that_jumps_is_told_when_the_next_backoff_ends() -> None:
    queue = QueueUnderTest([FIT], now=100.4)
    assert queue.next_wake() is None
    queue.rejected("p")
    assert queue.next_wake() == 102
    queue.clock.now = 101.99
    assert queue.flush_backoff() == []
    queue.clock.now = 102
    assert len(queue.flush_backoff()) == 1


# looking


def test_the_summary_counts_pods_by_part() -> None:
    queue = QueueUnderTest([FIT])
    queue.rejected("a", "Fit")
    queue.rejected("b")
    queue.doorman.held["c"] = "Gates"
    queue.put("c", "d")
    assert queue.parts().summary() == "activeQ:1; backoffQ:1; unschedulablePods:2"
    assert queue.where() == {
        "a": "unschedulable",
        "b": "error backoff",
        "c": "gated",
        "d": "active",
    }
    assert len(queue) == 4
    assert sorted(pod_of(queued).metadata.name for queued in queue) == ["a", "b", "c", "d"]
    assert "default/c" in queue
    assert queue.get("default/x") is None


@pytest.mark.parametrize("part", ["active", "backoff", "error backoff", "unschedulable", "gated"])
def test_a_deleted_pod_leaves_whatever_part_it_is_in(part: str) -> None:
    queue = QueueUnderTest([("Fit", Registration(Resource.NODE, Action.ADD))])
    queue.put("p", status={"nominatedNodeName": "n"})
    if part == "gated":
        queue.delete(info("p"))
        queue.doorman.held["p"] = "Gates"
        queue.put("p")
    elif part != "active":
        queued = queue.pop()
        if part == "backoff":
            queue.move_on_event(NODE_ADDED, None, None)
        queue.fail(queued, *([] if part == "error backoff" else ["Fit"]))
    assert queue.where() == {"p": part}
    queue.delete(info("p"))
    assert (queue.where(), queue.nominations()) == ({}, {})
    assert queue.pop() is None


def test_deleting_a_pod_in_flight_leaves_it_to_its_attempt() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    queued = queue.pop()
    assert queued is not None
    queue.delete(queued.info)
    assert queue.in_flight(queued.info.uid)

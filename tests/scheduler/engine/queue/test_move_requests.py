"""The queue while the gate SchedulerQueueingHints is off."""

from support.scheduler.engine.queues import (
    NODE_ADDED,
    NODES,
    POD_DELETED,
    POD_UPDATE,
    QueueUnderTest,
    info,
)

FIT = ("Fit", NODES)


def test_a_failed_pod_waits_when_nothing_happened_meanwhile() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.is_told(NODE_ADDED)
    queue.rejected("p", "Fit")
    assert queue.where() == {"p": "unschedulable"}


def test_whatever_happened_during_an_attempt_lets_any_failed_pod_try_again() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.fail(queued, "Ports")  # a plugin that registered for nothing
    assert queue.where() == {"p": "backoff"}


def test_an_event_that_nobody_registered_for_did_not_happen() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.put("p")
    queued = queue.pop()
    queue.is_told(POD_DELETED)
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "unschedulable"}


def test_what_happened_before_the_last_pod_was_taken_is_forgotten() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.put("binding", "other")
    first = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.pop()
    queue.fail(first, "Fit")
    assert queue.where()["binding"] == "unschedulable"


def test_an_error_is_always_tried_again() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.put("p")
    queue.fail(queue.pop())
    assert queue.where() == {"p": "error backoff"}


def test_a_failed_pod_passes_through_backoff_even_without_a_wait() -> None:
    queue = QueueUnderTest([FIT], hints=False, initial_s=0, most_s=0)
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.fail(queued, "Fit")
    assert queue.where() == {"p": "backoff"}


def test_an_update_of_its_own_lets_a_pod_try_again_whoever_rejected_it() -> None:
    queue = QueueUnderTest(hints=False)
    queue.rejected("p", "Fit")
    queue.update(info("p"), info("p", labels={"v": "2"}), [])
    assert queue.where() == {"p": "unschedulable"}
    queue.update(info("p"), info("p", labels={"v": "2"}), [POD_UPDATE])
    assert queue.where() == {"p": "backoff"}


def test_no_events_are_kept_for_pods_in_flight() -> None:
    queue = QueueUnderTest([FIT], hints=False)
    queue.put("p")
    queue.pop()
    queue.is_told(NODE_ADDED)
    assert queue.events_in_flight == 0
    assert queue.entries_in_flight() == {"PodPopped": 1}

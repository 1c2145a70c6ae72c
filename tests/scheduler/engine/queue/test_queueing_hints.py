"""Whether an event is worth another attempt."""

from typing import Any

import pytest
from support.scheduler.engine.queues import (
    NODE_ADDED,
    NODE_TAINT,
    POD_DELETED,
    PROFILE,
    info,
    saying,
)

from podium.scheduler.engine.queue.queueing_hints import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    Interest,
    Interests,
    QueueingStrategy,
    in_flight_strategy,
)
from podium.scheduler.framework.events import Action, ClusterEvent, Registration, Resource
from podium.scheduler.framework.queued import QueuedPod
from podium.testing import make_pod

ADD, TAINT = Action.ADD, Action.UPDATE_NODE_TAINT


def pod(*rejectors: str, pending: tuple[str, ...] = (), **fields: Any) -> QueuedPod:
    return QueuedPod(info("p", **fields), 0.0, rejectors=set(rejectors), pending=set(pending))


def interests(*registered: tuple[str, Action, Any]) -> Interests:
    listed = [Interest(name, Registration(Resource.NODE, a, hint)) for name, a, hint in registered]
    return Interests({PROFILE: listed})


def worth(queued: QueuedPod, *registered: tuple[str, Action, Any]) -> QueueingStrategy:
    return interests(*registered).requeue_strategy(queued, NODE_ADDED, None, None)


def test_a_pod_that_no_plugin_rejected_is_retried_after_its_backoff() -> None:
    assert worth(pod()) is QueueingStrategy.AFTER_BACKOFF


def test_only_plugins_that_rejected_the_pod_are_asked() -> None:
    assert worth(pod("Fit"), ("Ports", ADD, None)) is QueueingStrategy.SKIP
    assert worth(pod("Fit"), ("Fit", ADD, None)) is QueueingStrategy.AFTER_BACKOFF


def test_registrations_for_other_events_do_not_count() -> None:
    assert worth(pod("Fit"), ("Fit", TAINT, None)) is QueueingStrategy.SKIP


def test_a_hint_may_say_no_and_another_yes() -> None:
    no, yes = ("Fit", ADD, saying(False)), ("Ports", ADD, saying(True))
    assert worth(pod("Fit"), no) is QueueingStrategy.SKIP
    assert worth(pod("Fit", "Ports"), no, yes) is QueueingStrategy.AFTER_BACKOFF


def test_a_hint_that_breaks_counts_as_yes() -> None:
    broken = ("Fit", ADD, saying(ValueError("boom")))
    assert worth(pod("Fit"), broken) is QueueingStrategy.AFTER_BACKOFF


def test_a_plugin_that_made_progress_lets_its_pod_go_on_at_once() -> None:
    both = pod("Fit", "Devices", pending=("Devices",))
    assert worth(both, ("Devices", ADD, None)) is QueueingStrategy.IMMEDIATE
    assert worth(both, ("Fit", ADD, None)) is QueueingStrategy.AFTER_BACKOFF
    assert worth(both, ("Fit", ADD, None), ("Devices", ADD, None)) is QueueingStrategy.IMMEDIATE
    assert (
        worth(both, ("Fit", ADD, None), ("Devices", ADD, saying(False)))
        is QueueingStrategy.AFTER_BACKOFF
    )


def test_a_pending_plugin_counts_as_a_rejector_too() -> None:
    assert worth(pod(pending=("Devices",)), ("Devices", ADD, None)) is QueueingStrategy.IMMEDIATE
    assert worth(pod(pending=("Devices",))) is QueueingStrategy.SKIP


def test_hints_are_not_asked_beyond_the_first_yes_when_nobody_is_pending() -> None:
    asked: list[str] = []

    def hint(*_: Any) -> bool:
        asked.append("x")
        return True

    worth(pod("Fit", "Ports"), ("Fit", ADD, hint), ("Ports", ADD, hint))
    assert asked == ["x"]


def test_a_hint_gets_the_pod_and_both_objects() -> None:
    got: list[Any] = []

    def hint(*given: Any) -> bool:
        got.extend(given)
        return False

    queued = pod("Fit")
    interests(("Fit", ADD, hint)).requeue_strategy(queued, NODE_ADDED, "old", "new")
    assert got == [queued.info, "old", "new"]


def test_a_timeout_concerns_everybody() -> None:
    assert interests().requeue_strategy(pod("Fit"), UNSCHEDULABLE_TIMEOUT, None, None) is (
        QueueingStrategy.AFTER_BACKOFF
    )


@pytest.mark.parametrize("uids", [("one", "two"), ("", "")])
def test_a_forced_activation_concerns_only_the_pod_it_names(uids: tuple[str, str]) -> None:
    queued = pod("Fit", metadata={"uid": uids[0]})
    itself = queued.info.pod
    other = make_pod("other", metadata={"uid": uids[1]})
    answer = interests().requeue_strategy
    assert answer(queued, FORCE_ACTIVATE, None, itself) is QueueingStrategy.AFTER_BACKOFF
    assert answer(queued, FORCE_ACTIVATE, None, other) is QueueingStrategy.SKIP


def test_profiles_have_interests_of_their_own() -> None:
    listed = Interest("Fit", Registration(Resource.NODE, ADD))
    known = Interests({"other": [listed], PROFILE: []})
    assert known.requeue_strategy(pod("Fit"), NODE_ADDED, None, None) is QueueingStrategy.SKIP
    assert known.anyone(NODE_ADDED)
    assert not known.anyone(NODE_TAINT)
    assert known.anyone(UNSCHEDULABLE_TIMEOUT)
    assert known.concerns_plugin("other", "Fit", NODE_ADDED)
    assert not known.concerns_plugin("other", "Ports", NODE_ADDED)
    assert not known.concerns_plugin("nobody", "Fit", NODE_ADDED)


def test_a_pod_registration_hears_of_assigned_and_pending_pods() -> None:
    listed = Interest("Fit", Registration(Resource.POD, Action.DELETE))
    known = Interests({PROFILE: [listed]})
    assert known.anyone(POD_DELETED)
    assert known.anyone(ClusterEvent(Resource.UNSCHEDULABLE_POD, Action.DELETE))
    assert not known.anyone(ClusterEvent(Resource.ASSIGNED_POD, ADD))


# events during an attempt


def happened(*events: ClusterEvent) -> list[tuple[ClusterEvent, Any, Any]]:
    return [(event, None, None) for event in events]


KNOWN = interests(("Fit", ADD, None), ("Devices", TAINT, None))


def test_without_events_the_pod_waits_for_one() -> None:
    assert in_flight_strategy(pod("Fit"), happened(), KNOWN) is QueueingStrategy.SKIP


def test_an_event_during_the_attempt_counts_as_one_after_it() -> None:
    events = happened(NODE_TAINT, NODE_ADDED)
    assert in_flight_strategy(pod("Fit"), events, KNOWN) is QueueingStrategy.AFTER_BACKOFF
    assert in_flight_strategy(pod("Ports"), events, KNOWN) is QueueingStrategy.SKIP


def test_the_strongest_answer_of_all_events_counts() -> None:
    queued = pod("Fit", "Devices", pending=("Devices",))
    events = happened(NODE_ADDED, NODE_TAINT)
    assert in_flight_strategy(queued, events, KNOWN) is QueueingStrategy.IMMEDIATE
    assert in_flight_strategy(queued, happened(NODE_ADDED), KNOWN) is QueueingStrategy.AFTER_BACKOFF


def test_errors_and_lost_markers_are_retried_after_backoff() -> None:
    assert in_flight_strategy(pod(), happened(), KNOWN) is QueueingStrategy.AFTER_BACKOFF
    assert in_flight_strategy(pod("Fit"), None, KNOWN) is QueueingStrategy.AFTER_BACKOFF

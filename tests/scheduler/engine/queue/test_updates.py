"""Objects of queued pods that change, and the nominations that follow them."""

import pytest
from support.scheduler.engine.queues import (
    NODE_ADDED,
    NODES,
    POD_LABEL,
    POD_UPDATE,
    QueueUnderTest,
    info,
    saying,
)

from podium.scheduler.framework.events import Action, Registration, Resource

FIT = ("Fit", NODES)
LABELS = ("Spread", Registration(Resource.POD, Action.UPDATE_POD_LABEL))


def test_an_update_replaces_the_object_of_a_pod_that_may_run() -> None:
    queue = QueueUnderTest()
    queue.put("p")
    new = info("p", labels={"v": "2"})
    queue.update(info("p"), new, [POD_LABEL])
    queued = queue.pop()
    assert queued is not None
    assert queued.info is new


def test_an_update_does_not_cost_a_pod_its_place() -> None:
    queue = QueueUnderTest()
    queue.put("first", "second")
    queue.update(info("first"), info("first", labels={"v": "2"}), [POD_LABEL])
    assert queue.take_all() == ["first", "second"]


def test_an_update_that_changes_the_order_moves_the_pod() -> None:
    queue = QueueUnderTest()
    queue.put("first", "second")
    queue.update(info("second"), info("second", priority=3), [POD_UPDATE])
    assert queue.take_all() == ["second", "first"]


@pytest.mark.parametrize("rejectors", [["Fit"], []])
def test_an_update_of_a_pod_in_backoff_leaves_it_there(rejectors: list[str]) -> None:
    queue = QueueUnderTest([FIT])
    queue.put("p")
    queued = queue.pop()
    queue.is_told(NODE_ADDED)
    queue.fail(queued, *rejectors)
    before = queue.where()
    new = info("p", labels={"v": "2"})
    queue.update(info("p"), new, [POD_LABEL])
    assert queue.where() == before
    queued = queue.get("default/p")
    assert queued is not None
    assert queued.info is new


def test_an_update_wakes_a_rejected_pod_if_its_plugin_says_so() -> None:
    queue = QueueUnderTest([LABELS])
    queued = queue.rejected("p", "Spread")
    queue.update(info("p"), info("p"), [POD_UPDATE])
    assert queue.where() == {"p": "unschedulable"}
    new = info("p", labels={"v": "2"})
    queue.update(info("p"), new, [POD_LABEL])
    assert queue.where() == {"p": "backoff"}
    assert queued.info is new


def test_the_first_change_that_moves_the_pod_is_enough() -> None:
    asked: list[str] = []

    def hint(*_: object) -> bool:
        asked.append("x")
        return True

    queue = QueueUnderTest([("Spread", Registration(Resource.POD, Action.ALL, hint))])
    queue.rejected("p", "Spread")
    queue.update(info("p"), info("p"), [POD_LABEL, POD_UPDATE])
    assert asked == ["x"]


def test_a_change_that_does_not_help_leaves_the_next_its_chance() -> None:
    queue = QueueUnderTest(
        [("Spread", Registration(Resource.POD, Action.UPDATE_POD_LABEL, saying(False))), LABELS]
    )
    queue.rejected("p", "Spread")
    queue.update(info("p"), info("p"), [POD_UPDATE, POD_LABEL])
    assert queue.where() == {"p": "backoff"}


def test_a_held_pod_is_asked_again_when_it_changes_as_its_gate_wants() -> None:
    gone = Registration(Resource.POD, Action.UPDATE_POD_LABEL)
    queue = QueueUnderTest([("Gates", gone)])
    queue.doorman.held["p"] = "Gates"
    queue.put("p")
    queue.update(info("p"), info("p"), [POD_LABEL])
    assert queue.where() == {"p": "gated"}
    queue.doorman.held.clear()
    queue.update(info("p"), info("p"), [POD_UPDATE])
    assert queue.where() == {"p": "gated"}
    queue.update(info("p"), info("p"), [POD_LABEL])
    assert queue.where() == {"p": "active"}


def test_a_change_of_a_pod_in_flight_counts_when_it_comes_back() -> None:
    queue = QueueUnderTest([LABELS])
    queue.put("p")
    queued = queue.pop()
    assert queued is not None
    old = queued.info
    queue.update(old, info("p", labels={"v": "2"}), [POD_LABEL])
    assert (queue.where(), queued.info) == ({}, old)
    queue.fail(queued, "Spread")
    assert queue.where() == {"p": "backoff"}


def test_an_update_of_an_unknown_pod_is_its_arrival() -> None:
    queue = QueueUnderTest()
    queue.update(info("p"), info("p"), [POD_UPDATE])
    assert queue.where() == {"p": "active"}


# nominations


def test_nominations_follow_the_objects() -> None:
    queue = QueueUnderTest()
    one, two, none = (info("p", status={"nominatedNodeName": n}) for n in ("a", "b", ""))
    queue.add(one)
    assert queue.nominations() == {"p": "a"}
    queue.update(one, two, [POD_UPDATE])
    assert queue.nominations() == {"p": "b"}
    queue.update(two, none, [POD_UPDATE])
    assert queue.nominations() == {}


@pytest.mark.parametrize("waits", [True, False])
def test_a_nomination_in_memory_survives_updates_that_know_nothing_of_it(waits: bool) -> None:
    queue = QueueUnderTest()
    if waits:
        queue.rejected("p", "Fit")
    else:
        queue.put("p")
    old, new = info("p"), info("p", labels={"v": "2"})
    queue.nominator.nominate(old, "n")
    queue.update(old, new, [POD_LABEL])
    assert list(queue.nominator) == [(new, "n")]


def test_an_object_that_lost_its_nomination_takes_the_one_in_memory_with_it() -> None:
    queue = QueueUnderTest()
    old = info("p", status={"nominatedNodeName": "a"})
    queue.add(old)
    queue.nominator.nominate(old, "b")
    queue.update(old, info("p"), [POD_UPDATE])
    assert queue.nominations() == {}


def test_the_nomination_of_a_pod_in_flight_does_not_change_with_its_object() -> None:
    queue = QueueUnderTest()
    queue.put("p", status={"nominatedNodeName": "a"})
    queued = queue.pop()
    assert queued is not None
    queue.update(queued.info, info("p", status={"nominatedNodeName": "b"}), [POD_UPDATE])
    assert queue.nominations() == {"p": "a"}

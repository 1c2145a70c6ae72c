"""What a failed attempt leaves behind: the queue, the nomination, an event, a condition."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from support.scheduler.framework.fake_plugins import filter_by, permit, post_filter, reserve

from podium.kubernetes.kinds.pod import PodCondition
from podium.scheduler.engine import Decision
from podium.scheduler.engine.observer import Observer
from podium.scheduler.engine.requests import NOTE_LIMIT, shorten_note
from podium.scheduler.framework.points import PermitResult, PostFilterResult
from podium.scheduler.framework.status import Code, Status, error, unschedulable
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

NO_ROOM = (
    "0/1 nodes are available: 1 no. no new claims to deallocate, preemption: 0/1 nodes are"
    " available: 1 No preemption victims found for incoming pod."
)
REJECTS = filter_by("Says", {"n": unschedulable("no")})
BREAKS = filter_by("Says", ValueError("boom"))


# text


@pytest.mark.parametrize("length", [0, 1, NOTE_LIMIT - 1, NOTE_LIMIT])
def test_a_note_up_to_the_limit_is_left_alone(length: int) -> None:
    assert shorten_note("x" * length) == "x" * length


def test_a_longer_note_is_cut_to_the_limit_with_dots() -> None:
    assert shorten_note("x" * (NOTE_LIMIT + 1)) == "x" * 1020 + " ..."


def test_the_limit_is_in_bytes_and_no_character_is_cut_in_half() -> None:
    note = shorten_note("é" * 600)
    assert note == "é" * 510 + " ..."
    assert len(note.encode()) == NOTE_LIMIT
    assert len(shorten_note("x" + "é" * 600).encode()) <= NOTE_LIMIT


def test_the_event_is_cut_and_the_condition_is_not() -> None:
    text = "x" * 2000
    driver = FakeCluster(
        make_node("n"), pending("p"), plugins=[filter_by("Says", {"n": unschedulable(text)})]
    )
    driver.run()
    assert len(driver.events[0].note.encode()) == NOTE_LIMIT
    assert driver.events[0].note.endswith(" ...")
    assert text in driver.patches[0].message


# what is written


def test_a_rejected_pod_gets_an_event_and_a_condition() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    driver.run()
    (event,) = driver.events
    assert (event.type, event.reason, event.action) == ("Warning", "FailedScheduling", "Scheduling")
    assert (event.pod.key, event.note, event.related) == ("default/p", NO_ROOM, None)
    (patch,) = driver.patches
    assert (patch.reason, patch.message, patch.nominated_node) == ("Unschedulable", NO_ROOM, "")
    assert driver.where() == {"p": "unschedulable"}


def test_an_error_gets_a_reason_of_its_own_and_waits_for_time() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[BREAKS])
    driver.run()
    text = 'running "Says" filter plugin: boom'
    assert driver.notes() == [text]
    assert (driver.patches[0].reason, driver.patches[0].message) == ("SchedulerError", text)
    assert driver.where() == {"p": "error backoff"}


def test_without_nodes_a_pod_is_unschedulable_and_yet_waits_for_time() -> None:
    driver = FakeCluster(pending("p"))
    driver.run()
    assert driver.notes() == ["no nodes available to schedule pods"]
    assert driver.patches[0].reason == "Unschedulable"
    assert driver.where() == {"p": "error backoff"}


def condition(reason: str = "Unschedulable", message: str = NO_ROOM) -> PodCondition:
    return PodCondition(type="PodScheduled", status="False", reason=reason, message=message)


@pytest.mark.parametrize(
    ("held", "written"),
    [
        (condition(), 0),
        (condition(message="other"), 1),
        (condition(reason="SchedulerError"), 1),
        (replace(condition(), status="True"), 1),
        (replace(condition(), observed_generation=7), 0),
        (replace(condition(), type="Ready"), 1),
    ],
)
def test_a_condition_that_says_it_already_is_not_written_again(
    held: PodCondition, written: int
) -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    driver.change("p", conditions=(held,))
    driver.run()
    assert len(driver.patches) == written
    assert len(driver.events) == 1


def test_a_nomination_that_has_to_go_is_written_even_if_the_condition_is_right() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    driver.change("p", conditions=(condition(),), nominated_node_name="gone")
    driver.run()
    assert [patch.nominated_node for patch in driver.patches] == [""]


# the pod has moved on meanwhile


class Meanwhile(Observer):
    """Lets something happen between the pop and the end of the attempt."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = [happens]

    def search_ended(self, decision: Decision) -> None:
        if self._happens:
            self._happens.pop()()


def while_it_is_tried(driver: FakeCluster, happens: Callable[[], None]) -> None:
    driver.engine.observers.add(Meanwhile(happens))
    driver.attempt()


def test_a_pod_that_is_gone_is_told_all_the_same_and_not_queued() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    while_it_is_tried(driver, lambda: driver.delete("p"))
    assert driver.where() == {}
    assert (len(driver.events), len(driver.patches)) == (1, 1)


def test_a_pod_that_somebody_else_bound_is_not_queued() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    while_it_is_tried(driver, lambda: driver.confirm("p", "n"))
    assert driver.where() == {"p": "n"}
    assert len(driver.events) == 1


def test_a_pod_that_was_made_again_is_not_blamed_for_the_old_one() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    while_it_is_tried(driver, lambda: driver.put(pending("p", metadata={"uid": "another"})))
    assert driver.where() == {"p": "active"}
    assert (driver.events, driver.patches) == ([], [])


def test_a_pod_that_changed_is_queued_with_its_new_object() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[REJECTS])
    while_it_is_tried(driver, lambda: driver.put(pending("p", labels={"v": "2"})))
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert queued.info.pod is driver.pod("p")


# rejectors


def test_rejectors_of_an_earlier_attempt_are_forgotten() -> None:
    driver = FakeCluster(make_node("n", taints=[("k", "v", "NoSchedule")]), pending("p"))
    driver.run()
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert queued.rejectors == {"TaintToleration"}
    driver.put(make_node("n", allocatable={"cpu": "1", "pods": 0}))
    driver.wait(2)
    driver.run()
    assert queued.rejectors == {"NodeResourcesFit"}


@pytest.mark.parametrize(
    "refusal",
    [
        reserve("Says", unschedulable("no"), []),
        permit("Says", PermitResult(unschedulable("no"))),
        reserve("Says", Status(Code.UNRESOLVABLE, ("no",)), []),
    ],
)
def test_a_refusal_of_the_chosen_node_is_a_fit_error_over_one_node(refusal: type) -> None:
    driver = FakeCluster(make_node("n"), make_node("m"), pending("p"), plugins=[refusal])
    driver.run()
    assert driver.notes() == ["0/1 nodes are available: 1 no."]
    assert (driver.patches[0].reason, driver.patches[0].nominated_node) == ("Unschedulable", "")
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert (queued.rejectors, driver.where()) == ({"Says"}, {"p": "unschedulable"})


def test_a_refusal_that_made_progress_is_pending() -> None:
    refusal = reserve("Says", Status(Code.PENDING, ("soon",)), [])
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[refusal])
    driver.run()
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert (queued.rejectors, queued.pending) == ({"Says"}, {"Says"})
    driver.put(make_node("m"))
    assert driver.where() == {"p": "active"}


def test_a_failed_reservation_wakes_nobody() -> None:
    driver = FakeCluster(
        make_node("n", allocatable={"cpu": "1", "pods": 5}),
        pending("big", requests={"cpu": "2"}, priority=1),
        pending("p"),
        plugins=[reserve("Says", error("boom"), [])],
    )
    driver.run()
    assert driver.where() == {"big": "unschedulable", "p": "error backoff"}


# nominations


def test_what_post_filter_nominates_counts_before_it_is_written() -> None:
    found = post_filter("Finds", PostFilterResult(Code.SUCCESS, nominated_node="n"))
    driver = FakeCluster(
        make_node("n"), pending("p"), plugins=[REJECTS, found], disabled=["DefaultPreemption"]
    )
    driver.run()
    assert driver.nominated() == {"p": "n"}
    assert driver.patches[0].nominated_node == "n"
    assert driver.patches[0].message == "0/1 nodes are available: 1 no."


@pytest.mark.parametrize("node", ["n", ""])
def test_keeping_a_nomination_means_what_the_object_says(node: str) -> None:
    keeps = post_filter("Keeps", PostFilterResult(Code.UNRESOLVABLE, ("not now",)))
    driver = FakeCluster(
        make_node("n"),
        pending("p", status={"nominatedNodeName": node}),
        plugins=[REJECTS, keeps],
        disabled=["DefaultPreemption"],
    )
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    driver.engine.cluster.nominator.nominate(queued.info, "elsewhere")
    driver.run()
    assert driver.nominated() == ({"p": "n"} if node else {})
    assert driver.patches[0].nominated_node is None


def test_an_error_clears_the_nomination() -> None:
    driver = FakeCluster(
        make_node("n"), pending("p", status={"nominatedNodeName": "n"}), plugins=[BREAKS]
    )
    driver.run()
    assert driver.nominated() == {}
    assert driver.patches[0].nominated_node == ""


# bugs


def test_an_attempt_that_breaks_is_that_pods_failure_and_stops_nobody() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), pending("q"), validate=False)
    driver.engine._cycle.find_node, real = None, driver.engine._cycle.find_node  # type: ignore[assignment, method-assign]
    attempt = driver.attempt()
    driver.engine._cycle.find_node = real  # type: ignore[method-assign]
    assert attempt is not None
    assert "TypeError" in attempt.crash
    assert driver.notes()[0].startswith("Podium failed while it looked for a node: ")
    assert driver.where() == {"p": "error backoff", "q": "active"}
    driver.run()
    assert driver.where()["q"] == "binding"


def test_while_validating_a_bug_is_not_swallowed() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    driver.engine._cycle.find_node = None  # type: ignore[assignment, method-assign]
    with pytest.raises(TypeError):
        driver.attempt()

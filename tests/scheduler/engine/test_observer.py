"""Who observes hears what happens to pods and in the queue, as it happens."""

from support.scheduler.framework.fake_plugins import permit

from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.events import ClusterEvent
from podium.scheduler.framework.points import PermitResult
from podium.scheduler.framework.queued import QueuedPod, WaitingPod
from podium.scheduler.framework.status import Code, Status, error, unschedulable
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending


class Scribe(Observer):
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def entered_queue(self, part: str, event: ClusterEvent, queued: QueuedPod) -> None:
        self.heard.append(f"{part}: {event}")

    def pod_failed(self, queued: QueuedPod, *, rejected: bool, message: str) -> None:
        kind = "rejected" if rejected else "broken"
        assert message
        self.heard.append(f"{kind} after {queued.attempts}")

    def binding_ended(
        self,
        queued: QueuedPod,
        binding: Binding,
        problem: Status | None,
    ) -> None:
        if problem is None:
            self.heard.append(f"bound after {queued.attempts}, popped at {queued.popped_at:g}")

    def wait_ended(self, waiting: WaitingPod, seconds: float) -> None:
        code = waiting.outcome.code if waiting.outcome is not None else Code.WAIT
        self.heard.append(f"waited {seconds:g} s: {code.label}")


def watched(driver: FakeCluster) -> Scribe:
    scribe = Scribe()
    driver.engine.observers.add(scribe)
    return scribe


def test_the_way_of_a_pod_that_fits() -> None:
    driver = FakeCluster(make_node("a"))
    scribe = watched(driver)
    driver.clock.advance(3)
    driver.put(pending("p"))
    driver.run()
    driver.bound("p")
    assert scribe.heard == ["active: UnschedulablePodAdd", "bound after 1, popped at 3"]


def test_the_way_of_a_pod_that_is_rejected_and_woken() -> None:
    driver = FakeCluster(make_node("a", allocatable={"cpu": "1", "pods": 10}))
    scribe = watched(driver)
    driver.put(pending("p", requests={"cpu": "2"}))
    driver.run()
    driver.wait(2)
    driver.put(make_node("b"))
    driver.run()
    assert scribe.heard == [
        "active: UnschedulablePodAdd",
        "rejected after 1",
        "unschedulable: ScheduleAttemptFailure",
        "active: NodeAdd",
    ]


def test_a_pod_that_stays_where_it_is_does_not_come_in_again() -> None:
    driver = FakeCluster(pending("p", schedulingGates=[{"name": "later"}]))
    scribe = watched(driver)
    driver.wait(400)
    assert scribe.heard == []


def test_a_pod_without_backoff_queue_shortcut_waits_its_backoff_out() -> None:
    driver = FakeCluster(make_node("a"), gates={"SchedulerPopFromBackoffQ": False})
    scribe = watched(driver)
    driver.put(pending("p"))
    driver.run()
    driver.finish("p", error("no answer"))
    driver.wait(5)
    assert scribe.heard[1:] == [
        "broken after 1",
        "backoff: ScheduleAttemptFailure",
        "active: BackoffComplete",
    ]


def test_a_wait_at_permit_ends_with_its_outcome() -> None:
    waits = permit("Waits", PermitResult(Status(Code.WAIT), 10.0))
    driver = FakeCluster(make_node("a"), plugins=[waits])
    scribe = watched(driver)
    driver.put(pending("p"))
    driver.run()
    driver.wait(12)
    assert "waited 12 s: Unschedulable" in scribe.heard
    assert "rejected after 1" in scribe.heard


def test_a_binding_that_is_rejected_is_no_error() -> None:
    driver = FakeCluster(make_node("a"), pending("p"))
    scribe = watched(driver)
    driver.run()
    driver.finish("p", unschedulable("changed my mind"))
    assert "rejected after 1" in scribe.heard


def test_a_pod_that_is_asked_for_comes_by_force() -> None:
    driver = FakeCluster(make_node("a", allocatable={"cpu": "1", "pods": 10}))
    driver.put(pending("p", requests={"cpu": "2"}))
    driver.run()
    scribe = watched(driver)
    driver.engine.state.activate([driver.engine.cluster.infos.of(driver.pod("p"))])
    assert scribe.heard == ["active: ForceActivate"]


def test_sizes_and_entries_are_there_for_looking() -> None:
    driver = FakeCluster(pending("p"), pending("g", schedulingGates=[{"name": "later"}]))
    assert driver.engine.queue.sizes() == (1, 0, 0, 1)
    assert driver.engine.queue.entries_in_flight() == {"PodPopped": 0}

"""From a held node to a bound pod: waiting, binding, and every way back."""

from collections.abc import Iterable
from typing import Any

import pytest
from support.scheduler.framework.fake_plugins import binder, permit, pre_bind, reserve

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.points import (
    PermitPlugin,
    PermitResult,
    Plugin,
    PreFlight,
    ReservePlugin,
)
from podium.scheduler.framework.status import SKIP, Code, Status, error, unschedulable
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

ONE_POD = {"cpu": "4", "pods": 1}
WORK = PreFlight()
IDLE = PreFlight(SKIP)


def waits(title: str, timeout_s: float = 60.0) -> type[PermitPlugin]:
    return permit(title, PermitResult(Status(Code.WAIT), timeout_s))


def tried(*plugins: type[Plugin], rivals: Iterable[str] = (), **options: Any) -> FakeCluster:
    """A node with room for one pod; p was placed on it, the rivals lack room."""
    driver = FakeCluster(make_node("n", allocatable=ONE_POD), plugins=plugins, **options)
    driver.put(pending("p"))
    driver.run()
    driver.put(*(pending(name) for name in rivals))
    driver.run()
    return driver


def waiting(driver: FakeCluster, name: str = "p") -> Any:
    found = driver.engine.state.waiting.get(f"uid-default-{name}")
    assert found is not None
    return found


# going well


def test_a_placed_pod_is_bound() -> None:
    driver = tried()
    assert driver.where() == {"p": "binding"}
    assert driver.engine.queue.pods_in_flight() == []
    driver.bound("p")
    assert driver.where() == {"p": "n"}
    (event,) = driver.events
    assert (event.type, event.reason, event.action) == ("Normal", "Scheduled", "Binding")
    assert event.note == "Successfully assigned default/p to n"
    assert driver.story("p") == ["queued", "tried", "bound"]


def test_what_breaks_after_binding_is_noted_and_changes_nothing() -> None:
    driver = tried()
    driver.bindings["p"].problems.append('running PostBind plugin "Clumsy": boom')
    driver.bound("p")
    assert driver.where() == {"p": "n"}
    assert driver.story("p")[-1] == "trouble after binding"


def test_the_confirmation_may_come_before_the_report() -> None:
    driver = tried()
    driver.confirm("p", "n")
    driver.finish("p")
    assert driver.where() == {"p": "n"}


def test_the_end_of_a_binding_can_be_reported_once() -> None:
    driver = tried()
    binding = driver.bindings["p"]
    driver.finish("p")
    with pytest.raises(LookupError, match="no binding of default/p is under way"):
        driver.engine.bindings.finish_binding(binding, None)


def test_pods_that_plugins_want_forward_are_activated_twice() -> None:
    wanted: list[PodInfo] = []

    class Friend(ReservePlugin):
        name = "Friend"

        def reserve(self, cycle: Cycle, node_name: str) -> None:
            cycle.to_activate.update({info.key: info for info in wanted})

        def unreserve(self, cycle: Cycle, node_name: str) -> None:
            pass

    driver = FakeCluster(make_node("n", allocatable=ONE_POD), plugins=[Friend])
    driver.put(pending("friend", nodeSelector={"no": "where"}))
    driver.run()
    wanted.append(driver.engine.cluster.infos.of(driver.pod("friend")))
    driver.put(pending("p"))
    driver.attempt()
    assert driver.where() == {"friend": "active", "p": "binding"}
    driver.run()
    assert driver.where() == {"friend": "unschedulable", "p": "binding"}
    driver.bindings["p"].cycle.to_activate["default/friend"] = wanted[0]
    driver.finish("p")
    assert driver.where()["friend"] == "active"


# where a pod goes, said before it gets there


def test_a_pod_whose_binding_takes_time_is_announced() -> None:
    driver = tried(pre_bind("Slow", WORK))
    assert [(n.pod.key, n.node_name) for n in driver.nominations] == [("default/p", "n")]
    driver = tried(waits("Hold"))
    assert [n.node_name for n in driver.nominations] == ["n"]


def test_a_pod_that_is_bound_at_once_is_not_announced() -> None:
    assert tried().nominations == []
    assert tried(pre_bind("Slow", IDLE)).nominations == []


def test_what_the_object_says_already_is_not_said_again() -> None:
    driver = FakeCluster(make_node("n"), plugins=[pre_bind("Slow", WORK)])
    driver.put(pending("p", status={"nominatedNodeName": "n"}))
    driver.run()
    assert driver.nominations == []


def test_without_the_gate_nothing_is_announced_and_every_pre_bind_runs() -> None:
    log: list[str] = []
    plugins = [pre_bind("A", IDLE, log=log), pre_bind("B", WORK, log=log)]
    driver = tried(*plugins, gates={"NominatedNodeNameForExpectation": False})
    assert driver.nominations == []
    assert driver.run_binding("p") is None
    assert log == ["prebind A", "prebind B"]


def test_without_the_gate_every_pod_can_be_stopped_until_bind() -> None:
    driver = tried(gates={"NominatedNodeNameForExpectation": False})
    assert driver.bindings["p"].cancel("preempted")
    assert driver.run_binding("p") == error("preempted")


# waiting at Permit


def test_a_waiting_pod_holds_its_node_and_stays_in_flight() -> None:
    driver = tried(waits("Hold"), rivals=["q"])
    assert driver.where() == {"p": "permit", "q": "unschedulable"}
    assert driver.bindings == {}
    assert driver.engine.queue.pods_in_flight() == ["uid-default-p"]


def test_a_pod_goes_on_when_the_last_plugin_allows_it() -> None:
    driver = tried(waits("A"), waits("B"))
    assert waiting(driver).allow("A")
    driver.run()
    assert driver.where() == {"p": "permit"}
    assert waiting(driver).allow("B")
    driver.run()
    assert driver.where() == {"p": "binding"}
    assert driver.engine.queue.pods_in_flight() == []
    assert len(driver.engine.state.waiting) == 0
    driver.bound("p")


def test_a_plugin_may_reject_a_waiting_pod() -> None:
    driver = tried(waits("Hold"), rivals=["q"])
    waiting(driver).reject("Hold", "not today")
    driver.engine.tick()
    driver.collect()
    assert driver.where() == {"p": "unschedulable", "q": "backoff"}
    assert driver.notes()[-1] == "0/1 nodes are available: 1 not today."
    assert driver.patches[-1].reason == "Unschedulable"
    assert driver.patches[-1].nominated_node == ""
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert queued.rejectors == {"Hold"}


@pytest.mark.parametrize(
    ("timeouts", "after_s", "text"),
    [
        ({"A": 300.0}, 300.0, "5m0s at plugin A"),
        ({"A": 0.25}, 0.25, "250ms at plugin A"),
        ({"A": 90.0, "B": 30.0}, 30.0, "30s at plugin B"),
        ({"A": 3600.0}, 900.0, "15m0s at plugin A"),
    ],
)
def test_the_first_timeout_rejects_and_none_is_longer_than_a_quarter_of_an_hour(
    timeouts: dict[str, float], after_s: float, text: str
) -> None:
    driver = tried(*(waits(plugin, timeout_s) for plugin, timeout_s in timeouts.items()))
    driver.wait(after_s - 0.01)
    assert driver.where() == {"p": "permit"}
    driver.wait(0.01)
    assert driver.where() == {"p": "unschedulable"}
    expected = f"rejected due to timeout after waiting {text}"
    assert driver.notes() == [f"0/1 nodes are available: 1 {expected}."]


def test_the_first_signal_wins() -> None:
    driver = tried(waits("Hold"))
    pod = waiting(driver)
    assert pod.reject("Hold", "no")
    assert not pod.reject("Hold", "again")
    assert not pod.preempt("Other", "too late")
    pod.allow("Hold")
    driver.run()
    assert driver.where() == {"p": "unschedulable"}


def test_a_preempted_wait_is_an_error_that_is_retried() -> None:
    driver = tried(waits("Hold"), rivals=["q"])
    waiting(driver).preempt("Preemption", "preempted")
    driver.engine.tick()
    driver.collect()
    assert driver.where() == {"p": "error backoff", "q": "backoff"}
    assert driver.notes()[-1] == "waiting on permit for pod: preempted"
    assert driver.patches[-1].reason == "SchedulerError"


def test_a_rejection_does_not_wake_the_pod_it_rejects() -> None:
    class Touchy(PermitPlugin):
        """Holds a pod back and wants to hear of everything that happens."""

        name = "Touchy"

        def permit(self, cycle: Cycle, node_name: str) -> PermitResult:
            return PermitResult(Status(Code.WAIT), 60.0)

    driver = tried(Touchy, rivals=["q"])
    waiting(driver).reject("Touchy", "no")
    driver.engine.tick()
    assert driver.where() == {"p": "unschedulable", "q": "backoff"}


def test_an_event_while_a_pod_waits_counts_if_it_is_rejected() -> None:
    driver = tried(waits("Hold"))
    driver.put(make_node("other"))
    waiting(driver).reject("Hold", "no")
    driver.engine.tick()
    assert driver.where() == {"p": "backoff"}


def test_a_plugin_may_let_others_go_in_the_cycle_of_one() -> None:
    class Pair(PermitPlugin):
        """Lets pods go two by two."""

        name = "Pair"

        def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
            others = list(self.handle.waiting)
            for other in others:
                other.allow(self.name)
            return None if others else PermitResult(Status(Code.WAIT), 60.0)

    driver = FakeCluster(make_node("n"), pending("a"), pending("b"), plugins=[Pair])
    driver.attempt()
    assert driver.where() == {"a": "permit", "b": "active"}
    driver.attempt()
    assert driver.where() == {"a": "binding", "b": "binding"}


# failing


def test_a_failed_binding_is_undone_in_order_and_wakes_everybody() -> None:
    log: list[str] = []
    driver = tried(reserve("A", None, log), reserve("B", None, log), rivals=["q"])
    log.clear()
    driver.finish("p", error("running Bind plugin: boom"))
    assert log == ["unreserve B n", "unreserve A n"]
    assert driver.where() == {"p": "error backoff", "q": "backoff"}
    assert driver.notes()[-1] == "running Bind plugin: boom"
    assert (driver.patches[-1].reason, driver.patches[-1].nominated_node) == ("SchedulerError", "")
    queued = driver.engine.queue.get("default/p")
    assert queued is not None
    assert (queued.rejectors, queued.consecutive_errors_count) == (set(), 1)
    assert driver.story("p")[-1] == "binding failed"


def test_a_rejection_by_pre_bind_says_unschedulable_and_is_retried_as_an_error() -> None:
    driver = tried(pre_bind("Volumes", WORK, unschedulable("no disk")), rivals=["q"])
    driver.finish("p", driver.run_binding("p"))
    assert driver.where() == {"p": "error backoff", "q": "backoff"}
    assert driver.notes()[-1] == "no disk"
    assert driver.patches[-1].reason == "Unschedulable"


def test_a_failed_pre_flight_is_undone_before_anything_is_bound() -> None:
    log: list[str] = []
    broken = pre_bind("Volumes", PreFlight(error("boom")))
    driver = tried(reserve("A", None, log), broken, waits("Hold"))
    assert log == ["reserve A n", "unreserve A n"]
    assert driver.where() == {"p": "error backoff"}
    assert driver.notes() == ['running PreBindPreFlight "Volumes": boom']
    assert (driver.bindings, driver.nominations) == ({}, [])
    assert len(driver.engine.state.waiting) == 0
    assert driver.engine.queue.pods_in_flight() == []


def test_when_every_binder_skips_the_pod_is_retried_without_a_word() -> None:
    log: list[str] = []
    driver = tried(binder("Picky", SKIP, log), disabled=["DefaultBinder"])
    driver.finish("p", driver.run_binding("p"))
    assert driver.where() == {"p": "error backoff"}
    assert (driver.events, driver.patches) == ([], [])


def test_a_binding_that_failed_and_yet_happened_leaves_the_pod_where_it_is() -> None:
    driver = tried(rivals=["q"])
    driver.confirm("p", "n")
    driver.finish("p", error("timeout"))
    assert driver.where() == {"p": "n", "q": "unschedulable"}
    assert "undoing failed" in driver.story("p")
    assert driver.notes()[-1] == "timeout"


@pytest.mark.parametrize("problem", [None, error("not found")])
def test_a_pod_deleted_while_it_is_bound_ends_its_binding_whatever_comes(
    problem: Status | None,
) -> None:
    driver = tried(rivals=["q"])
    driver.delete("p")
    driver.run()
    assert driver.where() == {"q": "binding"}
    driver.finish("p", problem)
    assert driver.where() == {"q": "binding"}


def test_a_pod_made_again_while_the_old_one_is_bound_is_a_pod_of_its_own() -> None:
    driver = tried()
    driver.put(pending("p", metadata={"uid": "another"}))
    old = driver.bindings["p"]
    driver.run()
    assert driver.where() == {"p": "binding"}
    driver.engine.bindings.finish_binding(old, error("conflict"))
    driver.collect()
    assert driver.events == []
    driver.bound("p")
    assert driver.where() == {"p": "n"}


def test_a_plugin_that_breaks_while_undoing_is_noted_and_stops_nothing() -> None:
    log: list[str] = []
    driver = tried(reserve("A", None, log, ValueError("boom")), rivals=["q"])
    driver.finish("p", error("no"))
    assert driver.where() == {"p": "error backoff", "q": "backoff"}
    assert "undoing failed" in driver.story("p")


def test_errors_in_a_row_wait_longer_and_longer() -> None:
    driver = tried()
    for wait in (1, 2, 4, 8, 10, 10):
        driver.finish("p", error("no"))
        driver.wait(wait)
        assert driver.run() == []
        driver.wait(1)
        assert driver.run() == ["p"]

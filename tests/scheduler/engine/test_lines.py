"""What the pod log says about each thing that happens to a pod, and which writes come with it."""

from msgspec.structs import astuple, replace
from support.scheduler.framework.fake_plugins import filter_by, permit, post_filter, reserve

from podium.kubernetes.kinds.pod import Toleration
from podium.scheduler.engine.observer import Line
from podium.scheduler.engine.requests import PluginWrite
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Diagnosis
from podium.scheduler.framework.points import (
    PermitResult,
    PostFilterPlugin,
    PostFilterResult,
    ReservePlugin,
)
from podium.scheduler.framework.status import Code, Status, error, unschedulable
from podium.testing import FakeCluster, make_node
from podium.testing import make_pod as pending

WAIT = permit("Hold", PermitResult(Status(Code.WAIT), 60.0))
TAINT = [("k", "v", "NoSchedule")]


def life(driver: FakeCluster, name: str = "p") -> list[tuple[str, str, tuple[str, ...], str]]:
    lines = driver.engine.state.pod_log.lines(f"default/{name}")
    return [astuple(line)[1:] for line in lines]


def last(driver: FakeCluster, what: str, name: str = "p") -> Line:
    lines = driver.engine.state.pod_log.lines(f"default/{name}")
    return next(line for line in reversed(lines) if line.what == what)


def test_an_attempt_that_fits_says_where() -> None:
    driver = FakeCluster(make_node("n"), pending("p"))
    driver.run()
    driver.bound("p")
    assert life(driver) == [
        ("queued", "", (), ""),
        ("tried", "", (), "n"),
        ("bound", "", (), "n"),
    ]


def test_an_attempt_that_fails_says_who_rejected_the_pod_and_its_message() -> None:
    driver = FakeCluster(
        make_node("a", taints=TAINT),
        make_node("b", allocatable={"cpu": "1", "pods": 9}),
        pending("p", requests={"cpu": "2"}),
    )
    attempt = driver.attempt()
    assert attempt is not None
    line = last(driver, "tried")
    assert line.plugins == ("NodeResourcesFit", "TaintToleration")
    assert line.detail == attempt.decision.message
    assert line.about == ""


def test_an_event_is_told_with_its_object_and_the_plugin_that_waited_for_it() -> None:
    driver = FakeCluster(make_node("a", taints=TAINT), pending("p"))
    driver.run()
    driver.put(make_node("b"))
    assert astuple(last(driver, "woken"))[2:] == ("NodeAdd", ("TaintToleration",), "Node b")


def test_a_pod_that_helps_itself_is_the_object_of_the_event() -> None:
    driver = FakeCluster(make_node("n", taints=TAINT), pending("p"))
    driver.run()
    pod = driver.pod("p")
    tolerant = replace(pod.spec, tolerations=(Toleration(operator="Exists"),))
    driver.put(replace(pod, spec=tolerant))
    woken = last(driver, "woken")
    assert woken.detail == "UnschedulablePodUpdatePodToleration"
    assert (woken.plugins, woken.about) == (("TaintToleration",), "Pod default/p")


def test_a_pod_that_is_held_back_says_by_whom() -> None:
    driver = FakeCluster(make_node("n"), pending("p", schedulingGates=[{"name": "g"}]))
    assert life(driver) == [("held back", "", ("SchedulingGates",), "")]


def test_waiting_at_permit_names_the_node_and_who_asked_for_it() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[WAIT])
    driver.run()
    assert astuple(last(driver, "waiting"))[2:] == ("", ("Hold",), "n")
    driver.wait(61)
    failed = last(driver, "binding failed")
    assert failed.detail == "rejected due to timeout after waiting 1m0s at plugin Hold"
    assert (failed.plugins, failed.about) == (("Hold",), "n")


def test_preemptor_and_victim_both_have_it_in_their_stories() -> None:
    driver = FakeCluster(
        make_node("n", allocatable={"cpu": "1", "pods": 9}),
        pending("weak", node="n", requests={"cpu": "1"}),
        pending("p", requests={"cpu": "1"}, priority=9),
    )
    driver.run()
    assert astuple(last(driver, "preempting"))[2:] == ("default/weak", (), "n")
    assert astuple(last(driver, "preempted", "weak"))[2:] == ("", (), "default/p")


def test_a_pod_that_is_rejected_while_help_arrives_backs_off() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[WAIT])
    driver.run()
    driver.put(make_node("other"))
    driver.wait(61)
    assert [line[0] for line in life(driver)][-2:] == ["binding failed", "backing off"]


def test_errors_are_retried_after_their_backoff() -> None:
    broken = filter_by("Broken", ValueError("boom"))
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[broken])
    driver.run()
    driver.wait(3)
    assert life(driver)[1:3] == [
        ("tried", 'running "Broken" filter plugin: boom', (), ""),
        ("woken", "BackoffComplete", (), ""),
    ]


# writes that plugins leave behind


class Tidy(PostFilterPlugin):
    """Asks for a write when no node fits."""

    name = "Tidy"

    def post_filter(self, cycle: Cycle, diagnosis: Diagnosis) -> PostFilterResult:
        cycle.writes.append("tidied")
        return PostFilterResult(Code.UNSCHEDULABLE, ("tidied up",))


class Careful(ReservePlugin):
    """Asks for a write when a node is given back."""

    name = "Careful"

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        cycle.writes.append(f"gave {node_name} back")


def writes(driver: FakeCluster) -> list[tuple[str, object]]:
    """What plugins ask for, taken from the engine before the driver sorts it."""
    requests = driver.engine.take_requests()
    return [(r.pod.key, r.write) for r in requests if isinstance(r, PluginWrite)]


def test_a_failed_attempt_asks_for_what_plugins_want_written() -> None:
    driver = FakeCluster(make_node("n", taints=TAINT), pending("p"), plugins=[Tidy])
    attempt = driver.engine.schedule_next()
    assert writes(driver) == [("default/p", "tidied")]
    assert attempt is not None
    assert attempt.writes == []


def test_single_attempts_hand_the_writes_to_their_caller() -> None:
    driver = FakeCluster(make_node("n", taints=TAINT), plugins=[Tidy])
    info = driver.engine.cluster.infos.of(pending("p"))
    assert driver.engine.schedule(info).writes == ["tidied"]


def test_a_node_that_is_given_back_at_once_asks_too() -> None:
    log: list[str] = []
    refuses = reserve("Refuses", unschedulable("no"), log)
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[Careful, refuses])
    driver.engine.schedule_next()
    assert writes(driver) == [("default/p", "gave n back")]


def test_a_binding_that_fails_asks_for_them_once() -> None:
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[Careful])
    driver.attempt()
    driver.engine.bindings.finish_binding(driver.bindings.pop("p"), error("api down"))
    assert writes(driver) == [("default/p", "gave n back")]
    assert writes(driver) == []


def test_a_placed_pod_asks_for_nothing() -> None:
    quiet = post_filter("Quiet", PostFilterResult(Code.UNSCHEDULABLE))
    driver = FakeCluster(make_node("n"), pending("p"), plugins=[Careful, quiet])
    driver.engine.schedule_next()
    assert writes(driver) == []

"""What the engine asks for is done on its own cluster, every kind of request."""

from typing import Any

from support.scheduler.engine.group_driver import PREEMPTING, make_group, member, running

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.offline.driver.driver import OfflineDriver
from podium.offline.driver.in_memory_api import InMemoryApi
from podium.plugin import (
    ApiHandle,
    Code,
    Cycle,
    PermitPlugin,
    PermitResult,
    PreBindPlugin,
    PreFlight,
    Status,
)
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import Preemptor
from podium.scheduler.engine.scheduler import Engine
from podium.testing import FakeCluster, make_node, make_pod

ROOM = {"cpu": "2", "memory": "8Gi", "pods": 110}


class NotedDriver(OfflineDriver):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine, InMemoryApi(engine))
        self.ended: dict[str, str] = {}
        self.evicted: list[tuple[str, str]] = []

    def binding_ended(self, binding: Binding, problem: Status | None) -> None:
        self.ended[binding.cycle.pod.pod.metadata.name] = problem.message if problem else ""

    def victim_evicted(self, preemptor: Preemptor, victim: PodInfo, node_name: str) -> None:
        self.evicted.append((victim.pod.metadata.name, node_name))

    def work(self) -> None:
        while self.engine.schedule_next() is not None:
            self.carry_out_requests()


def driver_of(*objects: Any, **configured: Any) -> NotedDriver:
    cluster = FakeCluster(make_node("n", allocatable=ROOM), *objects, **configured)
    return NotedDriver(cluster.engine)


def pod_of(driver: OfflineDriver, name: str) -> Pod:
    return driver.engine.state.pods[f"default/{name}"]


def test_a_pod_that_fits_is_bound_and_the_engine_hears_of_it() -> None:
    driver = driver_of(make_pod("p", requests={"cpu": "1"}))
    driver.work()
    assert pod_of(driver, "p").spec.node_name == "n"
    assert driver.ended == {"p": ""}
    assert not driver.engine.state.flights


def test_a_failure_is_written_beside_other_conditions() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "False"}]}
    driver = driver_of(make_pod("p", requests={"cpu": "5"}, status=ready))
    driver.work()
    held = {each.type: each.reason for each in pod_of(driver, "p").status.conditions or ()}
    assert held == {"Ready": "", "PodScheduled": "Unschedulable"}


def test_victims_leave_and_the_preemptor_is_nominated() -> None:
    driver = driver_of(
        make_pod("low", node="n", requests={"cpu": "2"}, priority=1),
        make_pod("high", requests={"cpu": "2"}, priority=9),
    )
    driver.work()
    assert driver.evicted == [("low", "n")]
    assert "default/low" not in driver.engine.state.pods
    assert pod_of(driver, "high").status.nominated_node_name == "n"


class Hold(PermitPlugin):
    name = "Hold"

    def permit(self, cycle: Cycle, node_name: str) -> PermitResult | None:
        return PermitResult(Status(Code.WAIT), 60.0)


def test_where_a_pod_goes_is_written_while_it_waits() -> None:
    driver = driver_of(make_pod("p", requests={"cpu": "1"}), plugins=[Hold])
    driver.work()
    pod = pod_of(driver, "p")
    assert (pod.spec.node_name, pod.status.nominated_node_name) == ("", "n")


class Breaks(PreBindPlugin):
    name = "Breaks"

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:
        return PreFlight()

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        return Status(Code.ERROR, ("no luck",))


def test_a_binding_that_fails_gives_its_node_back() -> None:
    driver = driver_of(make_pod("p", requests={"cpu": "1"}), plugins=[Breaks])
    driver.engine.schedule_next()
    driver.carry_out_requests()
    assert driver.ended == {"p": 'running PreBind plugin "Breaks": no luck'}
    assert not driver.engine.cluster.placements
    assert pod_of(driver, "p").status.conditions


def test_a_group_makes_room_and_its_condition_is_written() -> None:
    driver = driver_of(
        running("x", "n", cpu=2),
        make_group(min_count=2, priority=10),
        member("p", priority=10),
        member("q", priority=10),
        gates=PREEMPTING,
    )
    driver.work()
    assert driver.evicted == [("x", "n")]
    group = driver.engine.cluster.catalog.get(PodGroup, "g", "default")
    assert group is not None
    assert group.status.conditions


def test_a_pod_is_tried_out_of_turn_unless_it_is_held_back() -> None:
    driver = driver_of(
        make_pod("first", requests={"cpu": "1"}, priority=9),
        make_pod("second", requests={"cpu": "1"}),
        make_pod("gated", schedulingGates=[{"name": "wait"}]),
    )
    engine = driver.engine
    attempt = engine.schedule_pod(engine.cluster.infos.of(pod_of(driver, "second")))
    assert attempt is not None
    driver.carry_out_requests()
    assert list(driver.ended) == ["second"]
    assert engine.schedule_pod(engine.cluster.infos.of(pod_of(driver, "gated"))) is None

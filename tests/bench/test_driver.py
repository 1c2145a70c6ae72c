"""The driver that measurements use: time, churn and everything the engine asks for."""

from podium.bench.cases import CASES
from podium.bench.engine_run import ATTEMPT_S, Driver
from podium.bench.templates import (
    BenchmarkPlan,
    Churn,
    Scene,
    Turn,
    arrivals,
    make_node,
    make_nodes,
    make_pod,
    on_node,
)
from podium.kubernetes.kinds.devices import ResourceClaim


def finish(driver: Driver) -> None:
    for _ in range(10_000):
        if driver.finished or not driver.step():
            return
    raise AssertionError("the driver does not come to an end")


def test_pods_without_room_end_the_run_unbound() -> None:
    driver = Driver()
    driver.load(Scene(nodes=make_nodes(1), measured=()))
    driver.arrive(arrivals(make_pod(f"p{i}", requests={"cpu": "3"}) for i in range(2)))
    finish(driver)
    assert driver.bound == 1
    assert not driver.finished
    conditions = driver.engine.state.pods["default/p1"].status.conditions
    assert conditions is not None
    assert conditions[0].reason == "Unschedulable"


def test_victims_are_evicted_and_their_room_is_taken() -> None:
    driver = Driver()
    scene = CASES["PreemptionBasic"].build(BenchmarkPlan(3, 12, 3))
    driver.load(scene)
    driver.arrive(scene.measured)
    finish(driver)
    assert (driver.bound, driver.evicted) == (3, 9)
    assert driver.attempts == 6


def test_churn_happens_as_often_as_virtual_time_says() -> None:
    put: list[int] = []

    def turn(number: int) -> Turn:
        put.append(number)
        return Turn(put=(make_pod(f"churn-{number}"),))

    driver = Driver()
    driver.load(Scene(nodes=make_nodes(3), measured=(), churn=(Churn(10 * ATTEMPT_S, turn),)))
    driver.arrive(arrivals(make_pod(f"p{i}") for i in range(25)))
    finish(driver)
    assert driver.bound == 25
    assert put == [0, 1, 2]


def test_churn_puts_and_deletes_nodes_pods_and_other_objects() -> None:
    driver = Driver()
    scene = CASES["SchedulingWithMixedChurn"].build(BenchmarkPlan(3, 0, 4))
    for obj in scene.churn[0].turn(0).put:
        driver.put(obj)
    assert driver.engine.cluster.nodes.is_present("churn-0")
    assert "default/large-0" in driver.engine.state.pods
    for obj in scene.churn[0].turn(1).delete:
        driver.delete(obj)
    assert not driver.engine.cluster.nodes.is_present("churn-0")
    assert "default/large-0" not in driver.engine.state.pods


def test_a_pod_that_waits_for_its_backoff_is_tried_again() -> None:
    driver = Driver()
    driver.load(Scene(nodes=(make_node("small", allocatable={"cpu": "1"}),), measured=()))
    driver.arrive(arrivals((make_pod("p", requests={"cpu": "3"}),)))
    assert driver.step()
    driver.put(make_node("large"))
    finish(driver)
    assert driver.bound == 1


def test_claims_are_written_before_their_pods_are_bound() -> None:
    driver = Driver()
    scene = CASES["SchedulingWithResourceClaimTemplate"].build(BenchmarkPlan(2, 2, 4))
    driver.load(scene)
    driver.arrive(scene.measured)
    finish(driver)
    assert driver.bound == 4
    catalog = driver.engine.cluster.catalog
    claims = [catalog.get(ResourceClaim, f"claim-pod-{i}", "default") for i in range(4)]
    assert all(claim and claim.status.allocation and claim.status.reserved_for for claim in claims)


def test_pods_on_nodes_are_loaded_where_they_are() -> None:
    driver = Driver()
    driver.load(Scene(nodes=make_nodes(2), init=(make_pod("p", **on_node(1)),), measured=()))
    (held,) = driver.engine.cluster.placements.values()
    assert driver.engine.cluster.nodes.names[held.row] == "node-000001"
    assert driver.finished

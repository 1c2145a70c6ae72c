"""Preemptions that take time, step by step: what happens to whom between the steps.

The steps are those of upstream's integration tests of asynchronous preemption and of
`status.nominatedNodeName`, which hold calls back inside of the scheduler's process.
"""

import numpy as np
import pytest
from msgspec.structs import replace
from support.scheduler.engine.stepwise_cluster import StepwiseCluster

from podium.scheduler.cluster.growth import Mask, Rows, count_of, indices
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, rejecting
from podium.scheduler.framework.events import Action, Registration, Resource
from podium.scheduler.framework.points import (
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    ReservePlugin,
)
from podium.scheduler.framework.status import Status, unschedulable


def victims(cluster: StepwiseCluster, count: int, cpu: str, node: str = "node") -> None:
    for number in range(count):
        cluster.create(f"{node}-victim-{number}", cpu, 1, node)


@pytest.mark.parametrize(("count", "cpu"), [(2, "2"), (1, "1")])
def test_a_preemptor_is_held_back_until_the_calls_are_done(count: int, cpu: str) -> None:
    cluster = StepwiseCluster()
    victims(cluster, count, cpu)
    cluster.create("preemptor", "4", 100)
    assert cluster.schedule("preemptor") == "unschedulable"
    assert cluster.is_held_back("preemptor")
    assert cluster.is_preempting("preemptor")
    cluster.complete_preemption("preemptor")
    assert cluster.schedule("preemptor") == "node"


def test_a_weaker_pod_does_not_take_the_place() -> None:
    cluster = StepwiseCluster()
    victims(cluster, 2, "2")
    cluster.create("high", "4", 100)
    assert cluster.schedule("high") == "unschedulable"
    assert cluster.is_held_back("high")
    cluster.create("mid", "4", 50)
    assert cluster.schedule("mid") == "unschedulable"
    assert not cluster.is_preempting("mid")
    cluster.complete_preemption("high")
    assert cluster.schedule("high") == "node"
    assert cluster.schedule("mid") == "unschedulable"


def test_a_stronger_pod_takes_the_place_over() -> None:
    cluster = StepwiseCluster()
    victims(cluster, 4, "1")
    cluster.create("high", "4", 100)
    assert cluster.schedule("high") == "unschedulable"
    assert cluster.is_held_back("high")
    cluster.create("higher", "4", 200)
    assert cluster.schedule("higher") == "unschedulable"
    assert cluster.is_preempting("higher")
    assert cluster.is_held_back("higher")
    cluster.complete_preemption("higher")
    cluster.complete_preemption("high")
    assert cluster.schedule("higher") == "node"
    assert cluster.schedule("high") == "unschedulable"


def test_two_preemptors_share_a_node_that_is_big_enough() -> None:
    cluster = StepwiseCluster()
    victims(cluster, 4, "1")
    cluster.create("high", "2", 100)
    assert cluster.schedule("high") == "unschedulable"
    assert cluster.is_held_back("high")
    cluster.create("mid", "2", 50)
    assert cluster.schedule("mid") == "unschedulable"
    assert cluster.is_held_back("mid")
    assert cluster.is_preempting("mid")
    cluster.complete_preemption("mid")
    cluster.complete_preemption("high")
    assert cluster.schedule("high") == "node"
    assert cluster.schedule("mid") == "node"


@pytest.mark.parametrize("graceful", [(), ("victim",)], ids=["at once", "graceful"])
def test_a_victim_whose_binding_is_held_up_makes_room_when_it_goes(
    graceful: tuple[str, ...],
) -> None:
    cluster = StepwiseCluster()
    cluster.create("victim", "2", 1)
    assert cluster.attempt("victim") == "binding"
    cluster.create("preemptor", "4", 100)
    assert cluster.schedule("preemptor") == "unschedulable"
    cluster.complete_preemption("preemptor", graceful=graceful)
    assert cluster.schedule("preemptor") == "node"
    cluster.fail_binding("victim")
    assert cluster.driver.where()["preemptor"] == "node"


class Reserving(PreFilterPlugin, PreFilterExtensions, FilterPlugin, ReservePlugin):
    """One of a kind, which the pod named `victim` has while it is reserved."""

    name = "Reserving"
    is_reserved = False

    def pre_filter(self, cycle: Cycle) -> None:
        cycle.write(self.name, self.is_reserved)

    def add_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        if pod.pod.metadata.name == "victim":
            cycle.write(self.name, True)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, row: int) -> None:
        if pod.pod.metadata.name == "victim":
            cycle.write(self.name, False)

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if not cycle.read(self.name, bool):
            return None
        everywhere: Mask = np.ones(count_of(rows), dtype=np.bool_)
        return rejecting(everywhere, unschedulable("it is reserved"))

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        if cycle.pod.pod.metadata.name == "victim":
            self.is_reserved = True
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        if cycle.pod.pod.metadata.name == "victim":
            self.is_reserved = False

    def events(self) -> tuple[Registration, ...]:
        return (Registration(Resource.POD, Action.DELETE),)


@pytest.mark.parametrize("graceful", [(), ("victim",)], ids=["at once", "graceful"])
def test_what_a_victim_has_reserved_is_free_when_its_binding_has_failed(
    graceful: tuple[str, ...],
) -> None:
    cluster = StepwiseCluster(Reserving)
    cluster.create("victim", "2", 1)
    assert cluster.attempt("victim") == "binding"
    cluster.create("preemptor", "4", 100)
    assert cluster.schedule("preemptor") == "unschedulable"
    cluster.complete_preemption("preemptor", graceful=graceful)
    assert cluster.schedule("preemptor") == "unschedulable"
    cluster.fail_binding("victim")
    assert cluster.schedule("preemptor") == "node"


class Deaf(FilterPlugin):
    """Rejects nodes with a victim on them, and hears of nothing."""

    name = "Deaf"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        taken = [
            any("victim" in pod.pod.metadata.name for pod in cycle.usage.pods(row))
            for row in indices(rows).tolist()
        ]
        return rejecting(np.array(taken, dtype=np.bool_), unschedulable("a victim is there"))

    def events(self) -> tuple[Registration, ...]:
        return (Registration(Resource.POD, Action.DELETE, lambda *_: False),)


def test_a_preemptor_that_no_hint_wakes_is_brought_forward_when_its_victims_are_gone() -> None:
    # upstream: only when pods that have waited for five minutes are tried again
    cluster = StepwiseCluster(Deaf)
    victims(cluster, 2, "0")
    cluster.create("preemptor", "0", 100)
    assert cluster.schedule("preemptor") == "unschedulable"
    assert cluster.is_preempting("preemptor")
    assert cluster.is_held_back("preemptor")
    cluster.complete_preemption("preemptor")
    assert cluster.schedule("preemptor") == "node"


def test_a_preemptor_whose_place_was_taken_meanwhile_finds_another() -> None:
    cluster = StepwiseCluster()
    victims(cluster, 3, "1")
    cluster.create("victim", "1", 1)
    assert cluster.attempt("victim") == "binding"
    cluster.create("mid", "4", 50)
    assert cluster.schedule("mid") == "unschedulable"
    cluster.complete_preemption("mid", without=["victim"])
    assert cluster.is_held_back("mid")
    cluster.put_node("node2")
    victims(cluster, 4, "1", "node2")
    cluster.create("high", "2", 100)
    assert cluster.schedule("high") == "node"
    cluster.complete_preemption("mid")
    cluster.fail_binding("victim")
    assert cluster.schedule("mid") == "unschedulable"
    cluster.complete_preemption("mid")
    assert cluster.schedule("mid") == "node2"


# nominations

BOTH = [{"NominatedNodeNameForExpectation": on} for on in (True, False)]


def nominated(cluster: StepwiseCluster, name: str) -> str:
    """The nomination as it would be written."""
    patches = [p for p in cluster.driver.patches if p.pod.key == f"default/{name}"]
    told = patches[-1].nominated_node if patches else None
    return told if told is not None else cluster.driver.pod(name).status.nominated_node_name


@pytest.mark.parametrize("gates", BOTH, ids=["expectation", "no expectation"])
def test_a_preemption_sets_and_overwrites_the_nomination(gates: dict[str, bool]) -> None:
    cluster = StepwiseCluster(**gates)
    cluster.put_node("node2")
    victims(cluster, 2, "2")
    victims(cluster, 1, "3", "node2")
    cluster.create("preemptor", "4", 100, status={"nominatedNodeName": "node"})
    assert cluster.driver.nominated() == {"preemptor": "node"}
    assert cluster.schedule("preemptor") == "unschedulable"
    assert nominated(cluster, "preemptor") == "node2"
    cluster.complete_preemption("preemptor")
    assert cluster.schedule("preemptor") == "node2"


@pytest.mark.parametrize("gates", BOTH, ids=["expectation", "no expectation"])
def test_the_nomination_of_a_pod_that_can_not_fit_is_ignored_and_cleared(
    gates: dict[str, bool],
) -> None:
    cluster = StepwiseCluster(**gates)
    cluster.create("too-large", "5", 1, status={"nominatedNodeName": "node"})
    cluster.create("fits", "3", 1)
    assert cluster.schedule("too-large") == "unschedulable"
    assert nominated(cluster, "too-large") == ""
    assert cluster.schedule("fits") == "node"


@pytest.mark.parametrize("gates", BOTH, ids=["expectation", "no expectation"])
def test_the_nomination_of_a_weaker_pod_is_ignored_and_cleared(gates: dict[str, bool]) -> None:
    cluster = StepwiseCluster(**gates)
    cluster.create("low", "4", 1, status={"nominatedNodeName": "node"})
    cluster.create("high", "4", 100)
    assert cluster.schedule("high") == "node"
    assert cluster.schedule("low") == "unschedulable"
    assert nominated(cluster, "low") == ""


def test_a_pod_is_placed_where_it_is_nominated() -> None:
    cluster = StepwiseCluster()
    cluster.create("pod", "4", 1, status={"nominatedNodeName": "node"})
    assert cluster.schedule("pod") == "node"
    pod = cluster.driver.pod("pod")
    cluster.driver.put(replace(pod, status=replace(pod.status, nominated_node_name="")))
    assert cluster.driver.nominated() == {}

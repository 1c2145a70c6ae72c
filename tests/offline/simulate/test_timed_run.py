"""Timed runs: pods, nodes and objects that come and go on the virtual clock."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeStruct, ObjectMeta, OwnerReference
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace, PodDisruptionBudget
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario
from podium.offline.simulate.timed_events import (
    NodePut,
    NodeRemoval,
    ObjectPut,
    PodArrival,
    PodRemoval,
    TimedEvent,
)
from podium.offline.simulate.timed_report import MAX_SAMPLES, TimedPod, TimedPodState, TimedReport
from podium.offline.simulate.timed_run import Reactor, TimedRun
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

ONE_CPU = {"cpu": "1", "memory": "1Gi", "pods": 10}


def node(name: str = "n1") -> Node:
    return make_node(name, allocatable=ONE_CPU)


def pod(name: str, cpu: str = "600m", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **more)


def owned(name: str, kind: str = "ReplicaSet", **more: Any) -> Pod:
    made = pod(name, **more)
    owner = OwnerReference(api_version="apps/v1", kind=kind, name="web", uid="u", controller=True)
    metadata = replace(made.metadata, owner_references=(owner,))
    return replace(made, metadata=metadata)


def timed(
    nodes: Iterable[Node] = (),
    running: Iterable[Pod] = (),
    pending: Iterable[Pod] = (),
    objects: Iterable[KubeStruct] = (),
    **more: Any,
) -> TimedRun:
    raw = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending), tuple(objects))
    gates = FeatureGates()
    configuration = load_configuration(raw, gates=gates)
    return TimedRun(scenario, configuration, in_tree_registry(), gates=gates, **more)


def by_name(report: TimedReport) -> dict[str, TimedPod]:
    return {life.key.rpartition("/")[2]: life for life in report.pods}


def test_a_pod_that_has_run_for_its_time_makes_room_for_the_next() -> None:
    events = [PodArrival(10.0, pod("a"), 100.0), PodArrival(20.0, pod("b"), 50.0)]
    lives = by_name(timed([node()]).run(events))
    first, second = lives["a"], lives["b"]
    assert first.state is second.state is TimedPodState.FINISHED
    assert first.arrived_s == 10.0
    assert first.bound_s == pytest.approx(10.0, abs=0.01)
    assert first.ended_s == pytest.approx(110.0, abs=0.01)
    assert second.bound_s == pytest.approx(110.0, abs=2.0)
    assert second.waited_s == pytest.approx(90.0, abs=2.0)
    assert second.first_attempt_s == pytest.approx(20.0, abs=0.01)


def test_the_run_ends_when_asked_and_tells_why_pods_wait() -> None:
    events = [PodArrival(0.0, pod("a")), PodArrival(1.0, pod("b")), PodArrival(500.0, pod("c"))]
    report = timed([node()]).run(events, until_s=100.0)
    assert report.duration_s == 100.0
    assert [life.key for life in report.pods] == ["default/a", "default/b"]
    waiting = by_name(report)["b"]
    assert waiting.state is TimedPodState.PENDING
    assert waiting.reason.startswith("0/1 nodes are available: 1 Insufficient cpu")
    assert waiting.waited_s == pytest.approx(99.0, abs=0.01)
    assert report.pending_reasons == {waiting.reason: 1}
    assert (report.totals.running, report.totals.pending) == (1, 1)


def test_pods_that_wait_for_days_are_tried_again_and_never_given_up() -> None:
    day = 86_400.0
    events: list[TimedEvent] = [PodArrival(0.0, pod("a"), 3 * day), PodArrival(1.0, pod("b"), 1.0)]
    lives = by_name(timed([node()]).run(events))
    assert lives["b"].state is TimedPodState.FINISHED
    assert lives["b"].waited_s == pytest.approx(3 * day, rel=0.001)


def test_pods_of_a_lost_node_come_back_if_a_controller_makes_them() -> None:
    events: list[TimedEvent] = [
        PodArrival(0.0, owned("web-0", cpu="400m"), 100.0),
        PodArrival(0.0, pod("bare", "400m")),
        NodeRemoval(50.0, "n1"),
        NodePut(200.0, node("n2")),
    ]
    report = timed([node()]).run(events)
    lives = by_name(report)
    assert lives["bare"].state is TimedPodState.GONE
    assert lives["bare"].ended_s == 50.0
    web = lives["web-0"]
    assert web.state is TimedPodState.FINISHED
    assert (web.node, web.node_losses) == ("n2", 1)
    assert web.waited_s == pytest.approx(150.0, abs=2.0)
    # It begins anew: the 50 seconds on the lost node do not count.
    assert web.ended_s == pytest.approx(300.0, abs=2.0)
    assert report.totals.node_losses == 2
    assert [(each.node.metadata.name, each.until_s) for each in report.nodes] == [
        ("n1", 50.0),
        ("n2", None),
    ]


def test_a_victim_of_preemption_comes_back_and_is_counted() -> None:
    events: list[TimedEvent] = [
        PodArrival(0.0, owned("low"), 1000.0),
        PodArrival(10.0, pod("high", priority=10), 20.0),
    ]
    lives = by_name(timed([node()]).run(events))
    assert lives["high"].bound_s == pytest.approx(10.0, abs=2.0)
    assert lives["low"].evictions == 1
    assert lives["low"].state is TimedPodState.FINISHED
    assert lives["low"].ended_s == pytest.approx(1030.0, abs=5.0)


def test_without_controllers_lost_pods_are_gone() -> None:
    events: list[TimedEvent] = [
        PodArrival(0.0, owned("web-0")),
        NodeRemoval(5.0, "n1"),
        NodePut(6.0, node()),
    ]
    report = timed([node()], runs_controllers=False).run(events)
    assert by_name(report)["web-0"].state is TimedPodState.GONE


def test_a_removed_pod_leaves_and_a_removal_of_nobody_changes_nothing() -> None:
    events: list[TimedEvent] = [
        PodArrival(0.0, pod("a")),
        PodRemoval(5.0, "default/a"),
        PodRemoval(6.0, "x/y"),
    ]
    report = timed([node()]).run(events)
    assert by_name(report)["a"].state is TimedPodState.REMOVED
    assert by_name(report)["a"].ended_s == 5.0
    assert report.totals.removed == 1


def test_pods_of_the_beginning_run_wait_and_can_be_lost() -> None:
    running = replace(owned("web-0"), spec=replace(owned("web-0").spec, node_name="n1"))
    start = timed([node(), node("n2")], running=[running], pending=[pod("late")])
    report = start.run([NodeRemoval(5.0, "n1")], until_s=10.0)
    lives = by_name(report)
    assert lives["web-0"].node_losses == 1
    assert lives["late"].node == "n2"
    assert lives["web-0"].state is TimedPodState.PENDING


def test_daemon_sets_make_pods_for_new_nodes_which_are_not_counted() -> None:
    daemon = owned("agent-n1", kind="DaemonSet", cpu="500m")
    daemon = replace(daemon, spec=replace(daemon.spec, node_name="n1"))
    run = timed([node()], running=[daemon])
    report = run.run([NodePut(5.0, node("n2")), PodArrival(9.0, pod("a", "600m"))], until_s=20.0)
    assert by_name(report)["a"].state is TimedPodState.PENDING
    assert report.totals.arrived == 1
    assert sorted(run.engine.state.pods) == ["default/a", "default/agent-n1", "default/agent-n1-n2"]


class AddsANode:
    """Adds a node, a minute after somebody has waited for one."""

    def __init__(self) -> None:
        self._next: float | None = 10.0

    def next_s(self) -> float | None:
        return self._next

    def react(self, now_s: float, engine: Engine) -> Iterable[TimedEvent]:
        if engine.queue.sizes().unschedulable:
            self._next = None
            return [NodePut(now_s + 60.0, node("more"))]
        self._next = now_s + 10.0
        return []


def test_a_reactor_sees_the_cluster_and_answers_with_events() -> None:
    reactor: Reactor = AddsANode()
    events = [PodArrival(0.0, pod("a")), PodArrival(25.0, pod("b"))]
    report = timed([node()]).run(events, until_s=200.0, reactors=[reactor])
    second = by_name(report)["b"]
    assert second.node == "more"
    assert second.bound_s == pytest.approx(90.0, abs=2.0)
    assert report.totals.nodes_added == 1


def test_reactors_need_an_end() -> None:
    with pytest.raises(ValueError, match="until when"):
        timed([node()]).run([], reactors=[AddsANode()])


def test_events_out_of_order_are_refused() -> None:
    events = [PodArrival(5.0, pod("a")), PodArrival(1.0, pod("b"))]
    with pytest.raises(ValueError, match="not in order"):
        timed([node()]).run(events)


def test_objects_come_during_the_run() -> None:

    run = timed([node()])
    run.run([ObjectPut(3.0, Namespace(metadata=ObjectMeta(name="late")))], until_s=5.0)
    assert run.engine.cluster.catalog.get(Namespace, "late") is not None


def many(count: int) -> Iterator[TimedEvent]:
    for number in range(count):
        yield PodArrival(number * 7.0, pod(f"p{number}", "300m"), 20.0 + number % 5)


def test_finished_pods_leave_the_engine_and_samples_are_bounded() -> None:
    run = timed([node()])
    heard: list[TimedPod] = []
    report = run.run(many(400), on_end=heard.append)
    assert report.totals.finished == len(heard) == 400
    assert report.pods == ()
    assert not run.engine.state.pods
    assert not run.engine.cluster.placements
    assert len(run.engine.queue) == 0
    assert MAX_SAMPLES / 3 < len(report.samples) <= MAX_SAMPLES
    busy = report.samples[len(report.samples) // 2]
    assert busy.utilisation["cpu"] == pytest.approx(0.9, abs=0.31)
    assert busy.nodes == 1


def test_the_same_input_gives_the_same_report() -> None:
    def one() -> dict[str, Any]:
        report = timed([node("n1"), node("n2"), node("n3")], seed=7).run(many(60), until_s=300.0)
        return dataclasses.asdict(report)

    assert one() == one()


def test_a_pod_placed_by_somebody_else_runs_from_its_arrival() -> None:
    placed = replace(pod("a"), spec=replace(pod("a").spec, node_name="n1"))
    report = timed([node()]).run([PodArrival(4.0, placed, 6.0)])
    life = by_name(report)["a"]
    assert life.bound_s == pytest.approx(4.0, abs=0.01)
    assert life.state is TimedPodState.FINISHED
    assert object_key(placed.metadata) == life.key


def test_disruption_budgets_follow_pods_that_come_and_go() -> None:
    budget = msgspec.convert(
        {
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        },
        PodDisruptionBudget,
    )
    labels = {"app": "web"}
    events: list[TimedEvent] = [
        PodArrival(0.0, pod("a", labels=labels), 100.0),
        PodArrival(1.0, pod("b", labels=labels), 10.0),
        PodArrival(2.0, pod("c", labels=labels)),
        PodArrival(50.0, pod("other")),
    ]

    def allowed(until_s: float) -> int:
        run = timed([node(), node("n2"), node("n3")], objects=[budget])
        run.run(events, until_s=until_s)
        found = run.engine.cluster.catalog.get(PodDisruptionBudget, "web", "default")
        assert found is not None
        return found.status.disruptions_allowed

    assert [allowed(at) for at in (5.0, 60.0, 200.0)] == [2, 1, 0]
    tighter = replace(budget, spec=replace(budget.spec, min_available=2))
    events.insert(3, ObjectPut(30.0, tighter))
    assert allowed(60.0) == 0


def test_a_budget_that_a_cluster_has_counted_follows_what_happens_to_its_pods() -> None:
    raw = {
        "metadata": {"name": "web", "namespace": "default", "resourceVersion": "7"},
        "spec": {"maxUnavailable": 2, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1, "expectedPods": 4, "currentHealthy": 3},
    }
    budget = msgspec.convert(raw, PodDisruptionBudget)
    names = ("n1", "n2", "n3")
    running = [owned(f"web-{at}", node=at, labels={"app": "web"}) for at in names]

    def allowed(until_s: float) -> int:
        run = timed([node(name) for name in names], running, objects=[budget])
        run.run([NodeRemoval(10.0, "n1"), NodePut(20.0, node("n4"))], until_s=until_s)
        found = run.engine.cluster.catalog.get(PodDisruptionBudget, "web", "default")
        assert found is not None
        return found.status.disruptions_allowed

    # One pod more is missing there than here.
    assert [allowed(at) for at in (5.0, 15.0, 30.0)] == [1, 0, 1]

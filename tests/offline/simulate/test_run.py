"""Running scenarios: order, preemption, retries, failures."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import (
    PodOutcome,
    Scenario,
    Simulation,
    SimulationReport,
)
from podium.scheduler.cluster.growth import Ints, Rows
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.scheduling_cycle import SchedulingCycle
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict
from podium.scheduler.framework.handle import ApiHandle
from podium.scheduler.framework.points import (
    BindPlugin,
    FilterPlugin,
    Plugin,
    PreEnqueuePlugin,
    ScorePlugin,
)
from podium.scheduler.framework.status import Status
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

ONE_CPU = {"cpu": "1", "memory": "1Gi", "pods": 10}


def run(
    *,
    nodes: Iterable[Node],
    pending: Iterable[Pod],
    running: Iterable[Pod] = (),
    objects: Iterable[KubeStruct] = (),
    seed: int = 0,
    plugins: Iterable[type[Plugin]] = (),
    profile: dict[str, Any] | None = None,
) -> SimulationReport:
    raw: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile or {}],
    }
    registry = in_tree_registry().with_plugins(*plugins)
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending), tuple(objects))
    return Simulation(
        scenario,
        load_configuration(raw, gates=FeatureGates()),
        registry,
        seed=seed,
        gates=FeatureGates(),
    ).run()


def places(report: SimulationReport) -> dict[str, str]:
    return {result.pod.metadata.name: result.node for result in report.pods}


def outcomes(report: SimulationReport) -> dict[str, PodOutcome]:
    return {result.pod.metadata.name: result.outcome for result in report.pods}


def small_node(name: str = "n1", **more: Any) -> Node:
    return make_node(name, allocatable=ONE_CPU, **more)


def pod(name: str, cpu: str = "600m", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **more)


def test_pods_are_tried_in_order_of_priority_then_arrival() -> None:
    report = run(
        nodes=[make_node("n1")],
        pending=[pod("low", "0"), pod("first", "0", priority=5), pod("second", "0", priority=5)],
    )
    assert list(places(report)) == ["first", "second", "low"]


def test_a_pod_that_is_placed_takes_room_from_the_next() -> None:
    report = run(nodes=[small_node()], pending=[pod("a"), pod("b")])
    assert outcomes(report) == {"a": PodOutcome.PLACED, "b": PodOutcome.UNSCHEDULABLE}
    assert not report.all_fit
    message = next(r.message for r in report.pods if not r.placed)
    assert message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_running_pods_stay_and_take_room() -> None:
    report = run(nodes=[small_node()], running=[pod("runs", node="n1")], pending=[pod("a")])
    assert outcomes(report) == {"a": PodOutcome.UNSCHEDULABLE}
    assert report.running_pods == 1


def test_an_important_pod_pushes_a_weaker_one_aside() -> None:
    report = run(
        nodes=[small_node()],
        running=[pod("weak", node="n1", priority=1)],
        pending=[pod("strong", priority=10)],
    )
    assert places(report) == {"strong": "n1"}
    (eviction,) = report.evictions
    assert (eviction.key, eviction.node, eviction.by) == ("default/weak", "n1", "default/strong")
    (result,) = report.pods
    assert (result.attempts, result.victims) == (2, ("default/weak",))


def test_several_victims_leave_together() -> None:
    report = run(
        nodes=[small_node()],
        running=[pod(f"weak-{n}", "300m", node="n1") for n in range(3)],
        pending=[pod("strong", "1", priority=10)],
    )
    assert places(report) == {"strong": "n1"}
    assert len(report.evictions) == 3


def test_nobody_takes_the_room_that_a_preemptor_has_made() -> None:
    report = run(
        nodes=[small_node()],
        running=[pod("weak", node="n1", priority=1)],
        pending=[pod("strong", priority=10), pod("sneaky", priority=5)],
    )
    assert places(report) == {"strong": "n1", "sneaky": ""}


def test_a_pod_that_may_not_preempt_stays_pending() -> None:
    report = run(
        nodes=[small_node()],
        running=[pod("weak", node="n1")],
        pending=[pod("polite", priority=10, preemptionPolicy="Never")],
    )
    assert outcomes(report) == {"polite": PodOutcome.UNSCHEDULABLE}
    assert report.evictions == []


def affine(name: str, **more: Any) -> Pod:
    term = {
        "labelSelector": {"matchLabels": {"app": "db"}},
        "topologyKey": "kubernetes.io/hostname",
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod(name, affinity={"podAffinity": required}, **more)


def test_a_pod_that_waits_for_a_later_one_is_tried_again() -> None:
    node = make_node("n1", labels={"kubernetes.io/hostname": "n1"})
    report = run(nodes=[node], pending=[affine("web", priority=5), pod("db", labels={"app": "db"})])
    assert places(report) == {"web": "n1", "db": "n1"}
    assert {r.pod.metadata.name: r.attempts for r in report.pods} == {"web": 2, "db": 1}


def test_a_pod_that_nothing_can_help_is_tried_once() -> None:
    report = run(
        nodes=[make_node("n1")],
        pending=[pod("picky", nodeSelector={"disk": "fast"}), *(pod(f"p{n}") for n in range(3))],
    )
    assert {r.pod.metadata.name: r.attempts for r in report.pods}["picky"] == 1


def test_a_gated_pod_is_reported_and_does_not_count_as_unfit() -> None:
    report = run(nodes=[make_node("n1")], pending=[pod("a", schedulingGates=[{"name": "wait"}])])
    (result,) = report.pods
    assert (result.outcome, result.message) == (
        PodOutcome.GATED,
        "waiting for scheduling gates: [wait]",
    )
    assert report.all_fit


def test_a_pod_for_another_scheduler_is_not_ours() -> None:
    report = run(nodes=[make_node("n1")], pending=[pod("a", schedulerName="other")])
    (result,) = report.pods
    assert result.outcome is PodOutcome.NOT_OURS
    assert "asks for scheduler other; profiles here: default-scheduler" in result.message


def test_a_pod_on_its_way_out_is_not_placed() -> None:
    leaving = pod("a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert outcomes(run(nodes=[make_node("n1")], pending=[leaving])) == {
        "a": PodOutcome.TERMINATING
    }


def test_room_of_terminating_pods_is_free_in_the_end() -> None:
    leaving = pod("old", node="n1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    report = run(nodes=[small_node()], running=[leaving], pending=[pod("new")])
    assert places(report) == {"new": "n1"}
    assert report.evictions == []
    assert "1 terminating pod is gone to make room" in report.notes


def test_the_same_seed_gives_the_same_places_and_another_seed_others() -> None:
    def spread(seed: int) -> dict[str, str]:
        nodes = [make_node(f"n{n}") for n in range(8)]
        return places(run(nodes=nodes, pending=[pod(f"p{n}", "0") for n in range(8)], seed=seed))

    assert spread(1) == spread(1)
    assert len({tuple(spread(seed).values()) for seed in range(4)}) > 1


def test_the_digest_tells_how_the_choice_was_made() -> None:
    report = run(
        nodes=[small_node("busy"), small_node("idle"), small_node("off", unschedulable=True)],
        running=[pod("runs", "100m", node="busy")],
        pending=[pod("a", "100m")],
    )
    digest = report.pods[0].digest
    assert (digest.examined_nodes, digest.feasible_nodes, digest.tied_nodes) == (3, 2, 1)
    assert (digest.runner_up, digest.decided_by) == ("busy", "NodeResourcesFit")
    assert digest.score is not None
    assert digest.score == sum(score.weighted for score in digest.scores.values())
    assert digest.lead > 0


def test_the_digest_of_a_failure_counts_reasons() -> None:
    report = run(
        nodes=[small_node("a"), small_node("b"), small_node("c", unschedulable=True)],
        pending=[pod("large", "8")],
    )
    assert report.pods[0].digest.reasons == {
        "Insufficient cpu": 2,
        "node(s) were unschedulable": 1,
    }


def test_utilisation_is_told_before_and_after() -> None:
    node = make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": 110, "x.io/gpu": 2})
    report = run(
        nodes=[node, make_node("n2", unschedulable=True)],
        running=[pod("runs", "1", node="n1")],
        pending=[make_pod("a", requests={"cpu": "1", "x.io/gpu": 1})],
    )
    use = report.utilisation
    assert use.resources == ("cpu", "memory", "pods", "x.io/gpu")
    cpu = use.of("n1", "cpu")
    assert (cpu.allocatable, cpu.before, cpu.after) == (4000, 1000, 2000)
    assert (use.of("n1", "pods").before, use.of("n1", "pods").after) == (1, 2)
    assert use.of("n2", "x.io/gpu").fraction_after == 0.0
    assert use.total("x.io/gpu").after == 1
    assert use.has_changed("n1")
    assert not use.has_changed("n2")


def test_a_resource_that_nobody_uses_is_not_told() -> None:
    node = make_node("n1", allocatable={"cpu": "4", "x.io/gpu": 2, "pods": 9})
    assert "x.io/gpu" not in run(nodes=[node], pending=[]).utilisation.resources


# --- things break -----------------------------------------------------------------------------


class Explodes(FilterPlugin):
    name = "Explodes"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        if cycle.pod.key.endswith("/bad"):
            raise ValueError("boom")
        return None


def with_plugin(name: str, point: str, *, instead_of: str = "") -> dict[str, Any]:
    entry: dict[str, Any] = {"enabled": [{"name": name}]}
    if instead_of:
        entry["disabled"] = [{"name": instead_of}]
    return {"plugins": {point: entry}}


def test_a_plugin_that_raises_fails_its_pod_only() -> None:
    report = run(
        nodes=[make_node("n1")],
        pending=[pod("bad"), pod("good")],
        plugins=[Explodes],
        profile=with_plugin("Explodes", "filter"),
    )
    assert outcomes(report) == {"bad": PodOutcome.ERROR, "good": PodOutcome.PLACED}
    (bad,) = [r for r in report.pods if not r.placed]
    assert 'running "Explodes" filter plugin: boom' in bad.message
    assert bad.crash == ""


def test_a_crash_of_the_engine_fails_its_pod_only(monkeypatch: pytest.MonkeyPatch) -> None:
    find_node = SchedulingCycle.find_node

    def crash(self: SchedulingCycle, info: Any, *more: Any) -> Any:
        if info.key == "default/bad":
            raise RuntimeError("a bug")
        return find_node(self, info, *more)

    monkeypatch.setattr(SchedulingCycle, "find_node", crash)
    report = run(nodes=[make_node("n1")], pending=[pod("bad"), pod("good")])
    assert outcomes(report) == {"bad": PodOutcome.ERROR, "good": PodOutcome.PLACED}
    (bad,) = [r for r in report.pods if not r.placed]
    assert bad.message.endswith("a bug")
    assert "RuntimeError: a bug" in bad.crash


class GateExplodes(PreEnqueuePlugin):
    name = "GateExplodes"

    def pre_enqueue(self, pod: Any) -> Status | None:
        if pod.key.endswith("/bad"):
            raise RuntimeError("at the gate")
        return None


def test_a_gate_that_raises_fails_its_pod_only() -> None:
    report = run(
        nodes=[make_node("n1")],
        pending=[pod("bad"), pod("good")],
        plugins=[GateExplodes],
        profile=with_plugin("GateExplodes", "preEnqueue"),
    )
    assert outcomes(report) == {"bad": PodOutcome.ERROR, "good": PodOutcome.PLACED}


class RefusesToBind(BindPlugin):
    name = "RefusesToBind"

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        raise ConnectionError("nobody home")


def test_a_binding_that_fails_gives_the_room_back() -> None:
    report = run(
        nodes=[small_node()],
        pending=[pod("a")],
        plugins=[RefusesToBind],
        profile=with_plugin("RefusesToBind", "bind", instead_of="DefaultBinder"),
    )
    (result,) = report.pods
    assert result.outcome is PodOutcome.ERROR
    assert result.message == 'running Bind plugin "RefusesToBind": nobody home'
    assert report.utilisation.of("n1", "pods").after == 0


class Sleeps(BindPlugin):
    name = "Sleeps"

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        await _Forever()
        return None


class _Forever:
    def __await__(self) -> Any:
        yield


def test_a_plugin_that_waits_for_the_outside_is_told_that_there_is_none() -> None:
    report = run(
        nodes=[small_node()],
        pending=[pod("a")],
        plugins=[Sleeps],
        profile=with_plugin("Sleeps", "bind", instead_of="DefaultBinder"),
    )
    assert "waits for something outside" in report.pods[0].message


class BindsElsewhere(BindPlugin):
    name = "BindsElsewhere"

    async def bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        return None


def test_a_binder_that_does_not_use_the_api_handle_binds_all_the_same() -> None:
    report = run(
        nodes=[small_node()],
        pending=[pod("a"), pod("b")],
        plugins=[BindsElsewhere],
        profile=with_plugin("BindsElsewhere", "bind", instead_of="DefaultBinder"),
    )
    assert outcomes(report) == {"a": PodOutcome.PLACED, "b": PodOutcome.UNSCHEDULABLE}


class Likes(ScorePlugin):
    name = "Likes"

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        wanted = cycle.nodes.row("n7")
        numbers = np.arange(cycle.nodes.size)[rows]
        return np.where(numbers == wanted, 100, 0).astype(np.int64)


def test_a_configuration_with_a_plugin_of_ones_own_decides() -> None:
    report = run(
        nodes=[make_node(f"n{n}") for n in range(9)],
        pending=[pod("a")],
        plugins=[Likes],
        profile={"plugins": {"score": {"enabled": [{"name": "Likes", "weight": 50}]}}},
    )
    assert places(report) == {"a": "n7"}
    assert report.pods[0].digest.decided_by == "Likes"


# --- finding pods -----------------------------------------------------------------------------

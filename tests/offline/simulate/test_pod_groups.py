"""Pod groups in a simulation, which feature gates make possible."""

from collections.abc import Iterable, Mapping
from typing import Any

from support.scheduler.engine.group_driver import GANGS, PREEMPTING, make_group

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.pod_groups import PodGroup
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import (
    ExplainedPod,
    PodOutcome,
    Scenario,
    Simulation,
    SimulationReport,
)
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod


def member(name: str, group: str = "g", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": "1"}, schedulingGroup={"podGroupName": group}, **more)


def node(name: str, cpu: int) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": 110})


def simulation(
    *pending: Pod,
    nodes: Iterable[Node],
    objects: Iterable[KubeStruct],
    running: Iterable[Pod] = (),
    gates: Mapping[str, bool] = GANGS,
    watch: Iterable[str] = (),
) -> Simulation:
    switched = FeatureGates(gates)
    return Simulation(
        Scenario(tuple(nodes), tuple(running), pending, tuple(objects)),
        load_configuration(None, gates=switched),
        in_tree_registry(),
        gates=switched,
        watch=list(watch),
        validate=True,
    )


def outcomes(report: SimulationReport) -> dict[str, PodOutcome]:
    return {result.pod.metadata.name: result.outcome for result in report.pods}


def test_a_gang_that_fits_is_placed_and_its_group_is_told() -> None:
    made = simulation(
        member("a"), member("b"), nodes=[node("n", 2)], objects=[make_group(min_count=2)]
    )
    report = made.run()
    assert outcomes(report) == {"a": PodOutcome.PLACED, "b": PodOutcome.PLACED}
    group = made.engine.cluster.catalog.get(PodGroup, "g", "default")
    assert group is not None
    (condition,) = group.status.conditions or ()
    assert (condition.type, condition.status) == ("PodGroupScheduled", "True")


def test_a_gang_that_does_not_fit_is_retried_and_given_up_together() -> None:
    made = simulation(
        member("a"), member("b"), nodes=[node("n", 1)], objects=[make_group(min_count=2)]
    )
    report = made.run()
    assert outcomes(report) == {"a": PodOutcome.UNSCHEDULABLE, "b": PodOutcome.UNSCHEDULABLE}
    assert [result.attempts for result in report.pods] == [16, 16]
    assert [life[-1].what for _, life in report.timeline.lives()] == ["given up"] * 2


def test_a_gang_that_is_not_complete_is_held_back() -> None:
    made = simulation(member("a"), nodes=[node("n", 2)], objects=[make_group(min_count=2)])
    assert outcomes(made.run()) == {"a": PodOutcome.GATED}


def test_a_group_may_push_others_aside_on_any_node() -> None:
    weak = [make_pod(f"weak-{n}", node=f"n{n}", requests={"cpu": "1"}) for n in range(2)]
    made = simulation(
        member("a", priority=9),
        member("b", priority=9),
        nodes=[node("n0", 1), node("n1", 1)],
        objects=[make_group(min_count=2, priority=9)],
        running=weak,
        gates=PREEMPTING,
    )
    report = made.run()
    assert outcomes(report) == {"a": PodOutcome.PLACED, "b": PodOutcome.PLACED}
    assert sorted((e.key, e.node) for e in report.evictions) == [
        ("default/weak-0", "n0"),
        ("default/weak-1", "n1"),
    ]


def test_a_member_can_be_explained() -> None:
    made = simulation(
        member("a"),
        member("b"),
        nodes=[node("n", 2)],
        objects=[make_group(min_count=2)],
        watch=["default/b"],
    )
    explained = ExplainedPod.of(made.run(), "default/b", runs_on="", alone=False)
    assert [attempt.decision.bound for attempt in explained.attempts] == ["n"]
    assert explained.last is not None
    assert explained.last.examination.nodes == ("n",)


def test_a_member_that_was_never_looked_for_has_no_explanation() -> None:
    made = simulation(
        member("a", group="missing"),
        nodes=[node("n", 2)],
        objects=[make_group()],
        watch=["default/a"],
    )
    explained = ExplainedPod.of(made.run(), "default/a", runs_on="", alone=False)
    assert explained.attempts == ()

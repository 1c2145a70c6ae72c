"""Lives of pods on the virtual clock, alone and in groups."""

from collections.abc import Iterable

import pytest
from msgspec.structs import astuple
from support.scheduler.framework.fake_plugins import filter_by

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import (
    PodOutcome,
    Scenario,
    Simulation,
    SimulationReport,
    run,
)
from podium.offline.simulate.timeline import LineKind, Timeline
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.engine.observer import Line, PodLog
from podium.scheduler.framework.points import Plugin
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod


def simulate(
    pending: Iterable[Pod],
    *,
    nodes: Iterable[Node] = (),
    running: Iterable[Pod] = (),
    plugins: Iterable[type[Plugin]] = (),
) -> SimulationReport:
    added = list(plugins)
    enabled = {"multiPoint": {"enabled": [{"name": plugin.name} for plugin in added]}}
    raw = {"apiVersion": API_VERSION, "kind": KIND, "profiles": [{"plugins": enabled}]}
    scenario = Scenario(tuple(nodes) or (make_node("n1"),), tuple(running), tuple(pending))
    registry = in_tree_registry().with_plugins(*added)
    return Simulation(
        scenario,
        load_configuration(raw, gates=FeatureGates()),
        registry,
        validate=True,
        gates=FeatureGates(),
    ).run()


def whats(report: SimulationReport, key: str) -> list[str]:
    return [line.what for line in report.timeline.life(key)]


def test_times_count_from_the_start_of_the_run() -> None:
    report = simulate([make_pod("a"), make_pod("b")])
    assert report.timeline.pods() == ["default/a", "default/b"]
    times = [[line.at for line in life] for _, life in report.timeline.lives()]
    assert times == [[1e-6, 2e-6, 0.001002], [2e-6, 0.001002, 0.002002]]
    assert report.timeline.length_s() == 0.002002


def test_a_pod_that_waits_for_a_place_lives_longer() -> None:
    report = simulate(
        [make_pod("strong", requests={"cpu": "3"}, priority=9)],
        running=[make_pod("weak", node="n1", requests={"cpu": "3"})],
    )
    assert whats(report, "default/strong") == [
        "queued",
        "tried",
        "preempting",
        "woken",
        "tried",
        "bound",
    ]
    assert whats(report, "default/weak") == ["preempted", "deleted"]


def test_a_pod_that_nothing_helps_is_given_up_in_the_end() -> None:
    report = simulate(
        [make_pod("a"), make_pod("b")], plugins=[filter_by("Broken", ValueError("boom"))]
    )
    assert [result.attempts for result in report.pods] == [16, 16]
    assert report.count(PodOutcome.ERROR) == 2
    life = report.timeline.life("default/a")
    assert life[-1].what == "given up"
    assert sum(line.what == "tried" for line in life) == 16
    assert life[-1].at > 100


def test_nobody_has_a_life_when_there_is_nobody() -> None:
    timeline = simulate([]).timeline
    assert (timeline.pods(), timeline.groups(), timeline.length_s()) == ([], [], 0.0)


def test_every_pod_of_a_large_run_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MAX_PODS", 2)
    report = simulate([make_pod(f"p{n}") for n in range(5)])
    assert len(report.timeline.pods()) == 5


# groups


def timeline_of(lives: dict[str, list[Line]], start: float = 0.0) -> Timeline:
    pod_log = PodLog()
    for key, lines in lives.items():
        for line in lines:
            pod_log.note(key, *astuple(line))
    return Timeline(pod_log, start)


def test_pods_with_the_same_steps_are_one_group_and_times_become_ranges() -> None:
    timeline = timeline_of(
        {
            "ns/a": [Line(10.0, "queued"), Line(11.0, "tried", about="n1")],
            "ns/b": [Line(10.5, "queued"), Line(13.0, "tried", about="n2")],
            "ns/c": [Line(10.7, "queued"), Line(12.0, "tried", "no", ("NodePorts",))],
        },
        start=10.0,
    )
    pair, single = timeline.groups()
    assert (pair.pods, single.pods) == (["ns/a", "ns/b"], ["ns/c"])
    queued, tried = pair.steps
    assert (queued.earliest_s, queued.latest_s) == (0.0, 0.5)
    assert (tried.kind, tried.earliest_s, tried.latest_s) == (
        LineKind("tried", found=True),
        1.0,
        3.0,
    )
    assert single.steps[1].kind == LineKind("tried", ("NodePorts",))


def test_steps_that_repeat_are_counted() -> None:
    again = [Line(1.0, "tried", "no", ("X",)), Line(2.0, "woken", "NodeAdd", ("X",), "Node n")]
    timeline = timeline_of({"ns/a": again * 3, "ns/b": again, "ns/c": again * 2})
    (group,) = timeline.groups()
    assert [step.kind.what for step in group.steps] == ["tried", "woken"]
    assert [(step.fewest, step.most) for step in group.steps] == [(1, 3), (1, 3)]


def test_another_event_makes_another_life() -> None:
    timeline = timeline_of(
        {"ns/a": [Line(1.0, "woken", "NodeAdd")], "ns/b": [Line(1.0, "woken", "NodeDelete")]}
    )
    assert [group.pods for group in timeline.groups()] == [["ns/a"], ["ns/b"]]

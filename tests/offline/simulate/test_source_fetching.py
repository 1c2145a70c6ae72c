"""Sources of plugins in a simulation: before the run, as virtual time passes, and not for ever."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation, SimulationReport
from podium.plugin import (
    NodeFilterPlugin,
    NodeView,
    Pod,
    Source,
)
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "Heat"}]}},
        }
    ],
}


def simulate(answers: Sequence[Any]) -> tuple[SimulationReport, list[Any]]:
    """A pod and a node that is too hot above 30; the last answer stays."""
    left = list(answers)
    asked: list[Any] = []

    class Heat(NodeFilterPlugin):
        name = "Heat"

        def sources(self) -> Sequence[Source]:
            return [Temperatures()]

        def filter_node(self, pod: Pod, node: NodeView) -> str | None:
            (heat,) = self.handle.sources.column("heat").values(slice(0, 1))
            if heat > 30:
                raise RuntimeError("too hot")  # an error is retried, so that time passes
            return None

    class Temperatures(Source):
        name, refresh_every_s, max_age_s, timeout_s = "heat", 1.0, 3600.0, 0.05

        async def fetch(self) -> Mapping[str, float]:
            asked.append(left[0])
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, Exception):
                raise answer
            if answer == "never":
                await asyncio.Event().wait()
            return {"n": answer}

    scenario = Scenario((make_node("n"),), (), (make_pod("p"),), (), ())
    registry = in_tree_registry().with_plugins(Heat)
    return Simulation(
        scenario,
        load_configuration(CONFIGURATION, gates=FeatureGates()),
        registry,
        gates=FeatureGates(),
    ).run(), asked


def test_sources_are_fetched_before_the_run() -> None:
    report, asked = simulate([20])

    assert [pod.node for pod in report.pods] == ["n"]
    assert (asked, report.notes) == ([20], ())


def test_they_are_fetched_again_when_virtual_time_has_passed() -> None:
    report, asked = simulate([90, 90, 20])

    assert [pod.node for pod in report.pods] == ["n"]
    assert asked[:3] == [90, 90, 20]


@pytest.mark.parametrize(
    ("failure", "told"),
    [(ConnectionError("refused"), "refused"), ("never", "no answer within 0.05 s")],
)
def test_a_source_that_fails_is_told_and_the_run_goes_on(failure: Any, told: str) -> None:
    report, _ = simulate([failure])

    assert [pod.node for pod in report.pods] == ["n"]
    assert report.notes == (f"source heat cannot be fetched: {told}",)


def test_a_source_that_fails_again_and_again_is_left_alone() -> None:
    report, asked = simulate([90, *[ConnectionError("refused")] * 9])

    assert len(asked) == 4
    assert report.notes == (
        "source heat cannot be fetched: refused",
        "source heat failed 3 times and is not asked again",
        "given up after 16 attempts: 1 pod",
    )

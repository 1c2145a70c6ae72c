"""Simulations of configurations with extenders: they are asked, and the report tells."""

from typing import Any

from support.scheduler.engine.scripted_extenders import (
    Script,
    binding,
    fails,
    filtering,
    leaves,
    scores,
    scoring,
)

from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import ExplainedPod, PodOutcome, Scenario, Simulation, SimulationReport
from podium.scheduler.config.load import load_configuration
from podium.scheduler.config.types import API_VERSION, KIND
from podium.scheduler.explain.explanation import Explanation
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

KEY = "default/p"


def run(script: Script, *extenders: dict[str, Any], watch: bool = True) -> SimulationReport:
    scenario = Scenario(
        tuple(make_node(name) for name in "abc"),
        (),
        (make_pod("p", schedulerName="default-scheduler"),),
    )
    raw = {"apiVersion": API_VERSION, "kind": KIND, "extenders": list(extenders)}
    simulation = Simulation(
        scenario,
        load_configuration(raw, gates=FeatureGates()),
        in_tree_registry(),
        watch=[KEY] if watch else (),
        validate=True,
        gates=FeatureGates(),
    )
    return simulation.run(ask=script)


def explained(report: SimulationReport) -> Explanation:
    last = ExplainedPod.of(report, KEY, runs_on="", alone=False).last
    assert last is not None
    return last


def test_extenders_decide_where_a_pod_goes() -> None:
    for watch in (True, False):
        script = Script(filter=leaves("a", "b"), prioritize=scores(b=1))
        report = run(script, filtering("http://f"), scoring("http://s"), watch=watch)
        assert [(pod.outcome, pod.node) for pod in report.pods] == [(PodOutcome.PLACED, "b")]
        assert script.asked == ["http://f filter", "http://s prioritize"]


def test_an_explanation_has_what_extenders_said() -> None:
    script = Script(filter=leaves("a", "b", failed={}), prioritize=scores(b=3))
    explanation = explained(run(script, filtering("http://f"), scoring("http://s", weight=2)))
    assert explanation.weights["http://s"] == 20
    assert explanation.rank_nodes(1)[0].scores["http://s"].weighted == 60
    (group,) = explanation.rejections()
    assert (group.nodes, group.status.plugin) == (("c",), "Extender")
    assert group.status.message == "dropped by an extender without a reason"


def test_reasons_of_extenders_stand_beside_those_of_plugins() -> None:
    answer = leaves(failed={"a": "too loud", "b": "too loud", "c": "too far"})
    report = run(Script(filter=answer), filtering())
    told = {group.status.message: group.nodes for group in explained(report).rejections()}
    assert told == {"too loud": ("a", "b"), "too far": ("c",)}
    assert report.pods[0].message.startswith("0/3 nodes are available: 1 too far, 2 too loud. ")


def test_an_extender_may_bind() -> None:
    script = Script()
    report = run(script, binding())
    assert script.asked == ["http://a bind"]
    assert report.pods[0].outcome is PodOutcome.PLACED


def test_a_binding_that_an_extender_refuses_is_told_and_tried_again() -> None:
    script = Script(bind=fails("no binding today"))
    (result,) = run(script, binding()).pods
    assert (result.outcome, result.message) == (PodOutcome.ERROR, "no binding today")
    assert len(script.calls) == 16

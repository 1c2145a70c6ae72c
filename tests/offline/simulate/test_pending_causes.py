"""Causes of pods without a node at the end of a run."""

from collections.abc import Iterable

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation, SimulationReport
from podium.offline.simulate.report import group_by_cause
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

GPU = [("gpu", "", "NoSchedule")]


def run(
    nodes: Iterable[Node], pending: Iterable[Pod], running: Iterable[Pod] = ()
) -> SimulationReport:
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending))
    return Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        gates=FeatureGates(),
    ).run()


def test_pods_with_one_message_and_two_causes_are_two_groups() -> None:
    report = run(
        [make_node("a", taints=GPU), make_node("b", labels={"disk": "ssd"}, taints=GPU)],
        [make_pod("x", nodeSelector={"disk": "hdd"}), make_pod("y", nodeSelector={"disk": "nvme"})],
    )
    assert len({result.message for result in report.pods}) == 1
    groups = [(cause.subject, len(pods)) for cause, pods in group_by_cause(report.pods) if cause]
    assert groups == [("disk=hdd", 1), ("disk=nvme", 1)]


def test_the_largest_group_comes_first() -> None:
    report = run(
        [make_node("a")],
        [
            make_pod("one", nodeSelector={"disk": "hdd"}),
            *(make_pod(f"big-{n}", requests={"cpu": "9"}) for n in range(3)),
        ],
    )
    groups = group_by_cause(report.pods)
    assert [len(pods) for _, pods in groups] == [3, 1]


def test_filters_are_asked_once_for_all_pods_of_a_template() -> None:
    report = run(
        [make_node(f"n{n}", taints=GPU) for n in range(20)],
        [make_pod(f"p-{n}", requests={"cpu": "1"}) for n in range(300)],
    )
    first, *others = (result.causes for result in report.pods)
    assert first[0].code == "untolerated-taint"
    assert all(causes is first for causes in others)


def test_a_pod_that_was_placed_has_no_cause_and_the_next_one_lacks_what_it_took() -> None:
    report = run(
        [make_node("a")],
        [make_pod("first", requests={"cpu": "3"}), make_pod("second", requests={"cpu": "2"})],
    )
    first, second = report.pods
    assert first.causes == ()
    assert second.causes[0].sentence == (
        "The pod asks for 2 cpu; the best candidate (a) lacks 1 cpu (1 of 4 free)."
    )


def test_a_pod_that_was_never_tried_says_what_holds_it_back() -> None:
    report = run([make_node("a")], [make_pod("gated", schedulingGates=[{"name": "later"}])])
    (result,) = report.pods
    assert [cause.code for cause in result.causes] == ["scheduling-gates"]

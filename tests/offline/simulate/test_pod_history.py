"""Everything that happened to one pod, with its decisions."""

from collections.abc import Iterable

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation
from podium.offline.simulate.report import PodHistory
from podium.scheduler.config.load import load_configuration
from podium.scheduler.explain.decision_digest import rejections
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

SMALL = {"cpu": "1", "memory": "1Gi", "pods": 10}


def history(
    pod: Pod, *, nodes: Iterable[Node], running: Iterable[Pod] = (), pending: Iterable[Pod] = ()
) -> PodHistory:
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending) or (pod,))
    watch = [f"default/{pod.metadata.name}"]
    simulation = Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        watch=watch,
        gates=FeatureGates(),
    )
    return PodHistory.of(simulation.run(), pod)


def test_each_attempt_has_its_decision() -> None:
    found = history(
        make_pod("p", requests={"cpu": "1"}, priority=9),
        nodes=[make_node("n1", allocatable=SMALL)],
        running=[make_pod("weak", node="n1", requests={"cpu": "1"})],
    )
    decisions = [entry.decision for entry in found.entries if entry.decision]
    assert [decision.attempt for decision in decisions] == [1, 2]
    assert [decision.bound for decision in decisions] == [None, "n1"]
    assert all((c.decision is not None) == (c.line.what == "tried") for c in found.entries)
    assert (found.node, found.evicted_for) == ("n1", "")


def test_of_a_very_long_life_the_last_attempts_have_the_last_decisions() -> None:
    pod = make_pod("p", priority=9)
    scenario = Scenario((make_node("n1"),), (), (pod,))
    simulation = Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        watch=["default/p"],
        gates=FeatureGates(),
    )
    report = simulation.run()
    look = report.watched["default/p"][0]
    report.watched["default/p"].insert(0, look)  # an attempt whose line was forgotten
    found = PodHistory.of(report, pod)
    assert [c.decision is look.decision for c in found.entries] == [False, True, False]


def test_a_running_pod_that_nobody_minds_has_no_story() -> None:
    runs = make_pod("runs", node="n1")
    found = history(runs, nodes=[make_node("n1")], running=[runs], pending=[make_pod("p")])
    assert (found.entries, found.result, found.node) == ((), None, "n1")


def test_a_victim_knows_who_took_its_place() -> None:
    weak = make_pod("weak", node="n1", requests={"cpu": "1"})
    found = history(
        weak,
        nodes=[make_node("n1", allocatable=SMALL)],
        running=[weak],
        pending=[make_pod("strong", requests={"cpu": "1"}, priority=9)],
    )
    assert (found.evicted_for, found.node) == ("default/strong", "")


# who ruled out how many nodes


def ruled_out(pod: Pod, *nodes: Node) -> dict[str, int]:
    decision = next(c.decision for c in history(pod, nodes=nodes).entries if c.decision)
    return rejections(decision)


def test_filters_are_counted_by_nodes_the_most_first() -> None:
    taint = [("k", "v", "NoSchedule")]
    nodes = [make_node("a", taints=taint), make_node("b", allocatable=SMALL), make_node("c")]
    assert ruled_out(make_pod("p", requests={"cpu": "9"}), *nodes) == {
        "NodeResourcesFit": 2,
        "TaintToleration": 1,
    }


def test_nodes_that_a_prefilter_left_out_are_counted_too() -> None:
    named = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
                ]
            }
        }
    }
    pod = make_pod("p", requests={"cpu": "9"}, affinity=named)
    nodes = [make_node("a"), make_node("b"), make_node("c")]
    assert ruled_out(pod, *nodes) == {"NodeAffinity": 2, "NodeResourcesFit": 1}


def test_a_prefilter_that_rejects_speaks_for_all_nodes() -> None:
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}]
    pod = make_pod("p", volumes=volumes)
    assert ruled_out(pod, make_node("a"), make_node("b")) == {"VolumeRestrictions": 2}


def test_a_pod_that_fits_was_ruled_out_by_nobody() -> None:
    taint = [("k", "v", "NoSchedule")]
    assert ruled_out(make_pod("p"), make_node("a", taints=taint), make_node("b")) == {}

"""Decisions arranged for people."""

from collections.abc import Iterable
from typing import Any

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import ExplainedPod, Scenario, Simulation
from podium.scheduler.config.load import load_configuration
from podium.scheduler.explain.explanation import NOMINATED_ELSEWHERE, Explanation, room_for
from podium.scheduler.plugins import in_tree_registry
from podium.scheduler.plugins.node_affinity.causes import unmet_selectors
from podium.testing import make_node, make_pod


def explained_pod(
    key: str,
    *,
    nodes: Iterable[Node],
    pending: Iterable[Pod],
    running: Iterable[Pod] = (),
) -> ExplainedPod:
    scenario = Scenario(tuple(nodes), tuple(running), tuple(pending))
    simulation = Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        watch=[key],
        gates=FeatureGates(),
    )
    return ExplainedPod.of(simulation.run(until=key), key, runs_on="", alone=False)


def explained(**cluster: Any) -> Explanation:
    explanation = explained_pod("default/a", **cluster).last
    assert explanation is not None
    return explanation


def test_nodes_that_fit_are_ranked_and_equals_share_a_rank() -> None:
    explanation = explained(
        nodes=[make_node("idle-1"), make_node("idle-2"), make_node("busy")],
        running=[make_pod("runs", node="busy", requests={"cpu": "1"})],
        pending=[make_pod("a", requests={"cpu": "1"})],
    )
    ranked = explanation.rank_nodes()
    assert [(entry.rank, entry.name.rstrip("-12")) for entry in ranked] == [
        (1, "idle"),
        (1, "idle"),
        (3, "busy"),
    ]
    assert ranked[0].name == explanation.decision.chosen
    assert explanation.rank_nodes(1) == ranked[:1]
    assert explanation.ranked_node("busy") == ranked[2]


def test_totals_are_the_sums_of_weighted_scores() -> None:
    explanation = explained(
        nodes=[make_node("n1"), make_node("n2")], pending=[make_pod("a", requests={"cpu": "1"})]
    )
    for entry in explanation.rank_nodes():
        assert entry.total == sum(score.weighted for score in entry.scores.values())
        for plugin, score in entry.scores.items():
            assert score.weighted == score.normalized * explanation.weights[plugin]


def test_nodes_that_do_not_fit_are_grouped_by_reason() -> None:
    explanation = explained(
        nodes=[
            make_node("full-1", allocatable={"cpu": "1", "pods": 9}),
            make_node("full-2", allocatable={"cpu": "1", "pods": 9}),
            make_node("tainted", taints=[("gpu", "yes", "NoSchedule")]),
            make_node("fine"),
        ],
        pending=[make_pod("a", requests={"cpu": "2"})],
    )
    groups = explanation.rejections()
    assert [(g.status.plugin, g.nodes) for g in groups] == [
        ("NodeResourcesFit", ("full-1", "full-2")),
        ("TaintToleration", ("tainted",)),
    ]
    assert explanation.rejection("fine") is None
    assert (explanation.feasible_count, explanation.node_count) == (1, 4)


def test_filters_that_were_not_asked_have_their_say() -> None:
    node = make_node("n1", unschedulable=True, allocatable={"cpu": "1", "pods": 9})
    explanation = explained(nodes=[node], pending=[make_pod("a", requests={"cpu": "2"})])
    rejection = explanation.rejection("n1")
    assert rejection is not None
    assert rejection.plugin == "NodeUnschedulable"
    assert set(explanation.objections("n1")) == {"NodeUnschedulable", "NodeResourcesFit"}


def test_nodes_outside_a_narrowed_search_are_told_who_narrowed_it() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    explanation = explained(
        nodes=[make_node("n1"), make_node("n2")],
        pending=[make_pod("a", affinity={"nodeAffinity": required})],
    )
    (group,) = explanation.rejections()
    assert (group.status.plugin, group.nodes) == ("NodeAffinity", ("n2",))


def test_a_rejection_before_filtering_speaks_for_all_nodes() -> None:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    explanation = explained(
        nodes=[make_node("n1"), make_node("n2")], pending=[make_pod("a", volumes=[volume])]
    )
    (group,) = explanation.rejections()
    assert group.nodes == ("n1", "n2")
    assert group.status.message == 'persistentvolumeclaim "gone" not found'


def test_a_preemptor_is_explained_before_and_after_its_victims_left() -> None:
    explained = explained_pod(
        "default/a",
        nodes=[
            make_node("n1", allocatable={"cpu": "1", "pods": 9}),
            make_node("n2", unschedulable=True),
        ],
        running=[make_pod("weak", node="n1", requests={"cpu": "1"})],
        pending=[make_pod("a", requests={"cpu": "1"}, priority=10)],
    )
    first, second = explained.attempts
    assert [group.nodes for group in first.rejections()] == [("n1",), ("n2",)]
    assert second.on_nominated_node
    assert second.rejections()[0].status.message == NOMINATED_ELSEWHERE
    assert explained.widest is first
    assert explained.last is second


def test_the_premise_says_how_many_pods_came_first() -> None:
    explained = explained_pod(
        "default/a", nodes=[make_node("n1")], pending=[make_pod("b"), make_pod("a")]
    )
    assert explained.premise == "decided after 1 pending pod ahead of it in the queue"


def test_a_pod_that_is_never_tried_has_no_attempts() -> None:
    gated = make_pod("a", schedulingGates=[{"name": "wait"}])
    explained = explained_pod("default/a", nodes=[make_node("n1")], pending=[gated])
    assert explained.attempts == ()
    assert explained.last is None
    assert explained.widest is None


# --- what exactly is missing ------------------------------------------------------------------


def test_room_is_told_per_resource() -> None:
    node = make_node("n1", allocatable={"cpu": "2", "memory": "1Gi", "pods": 1})
    pod = make_pod("a", requests={"cpu": "1500m", "x.io/gpu": 1})
    explanation = explained(
        nodes=[node],
        running=[make_pod("runs", node="n1", requests={"cpu": "1"})],
        pending=[pod],
    )
    room = {
        r.resource: r
        for r in room_for(explanation.decision.pod, "n1", explanation.examination.load)
    }
    assert (room["cpu"].asked, room["cpu"].free, room["cpu"].missing) == (1500, 1000, 500)
    assert (room["pods"].free, room["pods"].missing) == (0, 1)
    assert (room["x.io/gpu"].allocatable, room["x.io/gpu"].missing) == (0, 1)


def test_labels_are_told_with_what_the_node_has_instead() -> None:
    node = make_node("n1", labels={"model": "a100"})
    pod = make_pod("a", nodeSelector={"model": "h100", "disk": "fast"})
    assert unmet_selectors(pod, node) == [
        "nodeSelector disk=fast (the node has no such label)",
        "nodeSelector model=h100 (the node has a100)",
    ]


def test_alternatives_of_a_required_affinity_are_told() -> None:
    terms = [
        {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]},
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = make_pod("a", affinity={"nodeAffinity": required})
    assert unmet_selectors(pod, make_node("n1", labels={"zone": "c"})) == [
        "required affinity zone in (a,b) (the node has c) or metadata.name In other"
    ]
    assert unmet_selectors(pod, make_node("n1", labels={"zone": "a"})) == []

"""Plugins that speak of one node at a time, lifted to vectors."""

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.growth import Ints, Rows, indices
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.diagnosis import Verdict, choosing
from podium.scheduler.framework.filtering import run_filters
from podium.scheduler.framework.node_form import NodeFilterPlugin, NodeScorePlugin, NodeView
from podium.scheduler.framework.points import FilterPlugin, ScorePlugin
from podium.scheduler.framework.scoring import run_scores
from podium.scheduler.framework.status import Code, Status, unresolvable, unschedulable
from podium.testing import make_cluster, make_handle, make_node, make_pod

GPU = "example.com/gpu"
CROWDED, TAINTED = unschedulable("crowded"), unresolvable("no cpu left")


class CrowdByNode(NodeFilterPlugin):
    name = "Crowd"

    def filter_node(self, pod: Pod, node: NodeView) -> str | Status | None:
        if node.free("cpu") <= 0:
            return TAINTED
        return "crowded" if len(node.pods) > 1 else None


class CrowdByVector(FilterPlugin):
    name = "Crowd"

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        crowded = cycle.usage.pod_count[rows] > 1
        used_up = cycle.nodes.allocatable[0][rows] <= cycle.usage.requested[0][rows]
        return choosing(np.where(used_up, 2, crowded.astype(np.int64)), (CROWDED, TAINTED))


class QuietByNode(NodeScorePlugin):
    name = "Quiet"

    def score_node(self, pod: Pod, node: NodeView) -> int:
        return 100 - 10 * len(node.pods)


class QuietByVector(ScorePlugin):
    name = "Quiet"

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        return 100 - 10 * cycle.usage.pod_count[rows]


class Rescaled(QuietByNode):
    rescale = True


def cluster_of(counts: Mapping[str, int]) -> Cluster:
    return make_cluster(
        [make_node(name, allocatable={"cpu": 3, "pods": 10}) for name in counts],
        [
            make_pod(f"{name}-{i}", node=name, requests={"cpu": 1})
            for name, count in counts.items()
            for i in range(count)
        ],
    )


def cycle_on(cluster: Cluster) -> Cycle:
    return Cycle(cluster.infos.of(make_pod("p")), cluster)


@given(
    counts=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4), min_size=1),
    data=st.data(),
)
def test_the_node_form_answers_as_the_vector_form(
    counts: dict[str, int], data: st.DataObject
) -> None:
    cluster = cluster_of(counts)
    cycle = cycle_on(cluster)
    picked = data.draw(st.lists(st.sampled_from(range(len(counts))), unique=True, min_size=1))
    for rows in (cluster.nodes.all_rows(), np.array(picked, dtype=np.intp)):
        by_node = run_filters([CrowdByNode(None, make_handle())], cycle, rows)
        by_vector = run_filters([CrowdByVector(None, make_handle())], cycle, rows)
        count = len(indices(rows))
        assert [by_node.status(i) for i in range(count)] == [
            by_vector.status(i) for i in range(count)
        ]
        _, node_total = run_scores([(QuietByNode(None, make_handle()), 2)], cycle, rows)
        _, vector_total = run_scores([(QuietByVector(None, make_handle()), 2)], cycle, rows)
        assert node_total.tolist() == vector_total.tolist()


def test_a_reason_rejects_as_unschedulable_and_a_status_as_it_says() -> None:
    cluster = cluster_of({"a": 0, "b": 2, "c": 3})
    result = run_filters([CrowdByNode(None, make_handle())], cycle_on(cluster), slice(0, 3))
    assert [result.status(i) for i in range(3)] == [
        None,
        Status(Code.UNSCHEDULABLE, ("crowded",), "Crowd"),
        Status(Code.UNRESOLVABLE, ("no cpu left",), "Crowd"),
    ]


def test_rows_without_a_node_are_not_asked_about() -> None:
    cluster = cluster_of({"a": 0, "b": 3})
    cluster.remove_node("b")
    cycle = cycle_on(cluster)
    verdict = CrowdByNode(None, make_handle()).filter(cycle, slice(0, 2))
    assert verdict is None
    assert QuietByNode(None, make_handle()).score(cycle, slice(0, 2)).tolist() == [100, 0]


def test_a_rescaled_score_runs_from_zero_to_a_hundred() -> None:
    cluster = cluster_of({"a": 0, "b": 1, "c": 3})
    scores, total = run_scores([(Rescaled(None, make_handle()), 1)], cycle_on(cluster), slice(0, 3))
    assert scores[0].raw.tolist() == [100, 90, 70]
    assert total.tolist() == [100, 66, 0]


def test_equal_scores_rescale_to_the_best() -> None:
    cluster = cluster_of({"a": 1, "b": 1})
    _, total = run_scores([(Rescaled(None, make_handle()), 1)], cycle_on(cluster), slice(0, 2))
    assert total.tolist() == [100, 100]


def test_a_node_shows_what_it_has_and_what_is_left() -> None:
    cluster = make_cluster(
        [make_node("a", labels={"zone": "x"}, allocatable={"cpu": "2", GPU: 4})],
        [make_pod("q", node="a", requests={"cpu": "500m", GPU: 1})],
    )
    view = NodeView(cycle_on(cluster), 0)
    assert (view.name, dict(view.labels), dict(view.annotations)) == ("a", {"zone": "x"}, {})
    assert (view.allocatable("cpu"), view.requested("cpu"), view.free("cpu")) == (2000, 500, 1500)
    assert (view.allocatable(GPU), view.free(GPU)) == (4, 3)
    assert (view.allocatable("unknown"), view.requested("unknown"), view.free("unknown")) == (
        0,
        0,
        0,
    )
    assert [pod.metadata.name for pod in view.pods] == ["q"]
    assert view.object.metadata.name == "a"


def test_in_a_trial_a_node_shows_the_trial() -> None:
    cluster = cluster_of({"a": 2})
    trial = cycle_on(cluster).fork()
    trial.usage.remove(0, cluster.usage.pods(0)[0])
    assert len(NodeView(trial, 0).pods) == 1
    assert NodeView(trial, 0).requested("cpu") == 1000

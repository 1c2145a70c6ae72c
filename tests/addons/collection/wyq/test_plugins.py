"""The rules of Wyq-Scheduler's plugins: labels, images, chance."""

from typing import Any

import pytest

from podium.addons.collection.wyq.rand_score import NAME, RandomScore, RandScore
from podium.addons.collection.wyq.trace import Defalut, FilteringNode, FilteringPod, Wyq
from podium.plugin import Pod
from podium.scheduler.framework.status import Code
from podium.testing import (
    FakeCluster,
    assert_placed,
    assert_promises,
    assert_rejected,
    assert_unplaced,
    make_node,
    make_pod,
)

UNWANTED = {"wyq": "Unschedulable"}


def build_pod(image: str, name: str = "build") -> Pod:
    container = {"name": "c", "image": "kaniko", "env": [{"name": "PUBLICIMAGE", "value": image}]}
    return make_pod(name, containers=[container])


def holding(name: str, *images: str) -> Any:
    return make_node(name, images=dict.fromkeys(images, 1))


def test_a_pod_with_the_label_is_left_out() -> None:
    cluster = FakeCluster(make_node("a"), plugins=[FilteringPod])
    decision = cluster.schedule(make_pod("web", labels=UNWANTED))
    assert_unplaced(decision)
    assert decision.pre_filter is not None
    assert decision.pre_filter.status is not None
    assert (decision.pre_filter.status.code, decision.pre_filter.status.message) == (
        Code.UNSCHEDULABLE,
        "",
    )
    assert_placed(cluster.schedule(make_pod("other")), on="a")


def test_a_node_with_the_label_is_left_out() -> None:
    cluster = FakeCluster(make_node("a", labels=UNWANTED), make_node("b"), plugins=[FilteringNode])
    decision = cluster.schedule(make_pod("web"))
    assert_placed(decision, on="b")
    assert_rejected(decision, node="a", by="filteringNode")


def test_a_build_pod_goes_where_its_image_is() -> None:
    nodes = make_node("a"), holding("b", "team/model:latest"), make_node("c")
    cluster = FakeCluster(*nodes, plugins=[RandScore], weights={"randScore": 300})
    decision = cluster.schedule(build_pod("team/model"))
    assert_placed(decision, on="b")
    scores = {
        decision.node_names[row]: decision.node_scores(at)["randScore"].weighted
        for at, row in enumerate(decision.feasible.tolist())
    }
    assert scores == {"a": 0, "b": 30_000, "c": 0}


def test_what_the_service_of_a_node_says_counts_as_well_and_gets_old() -> None:
    cluster = FakeCluster(make_node("a"), make_node("b"), plugins=[RandScore])
    cluster.answer(NAME, {"team/model": frozenset({"b"})})
    assert_placed(cluster.schedule(build_pod("team/model")), on="b")
    cluster.wait(121)
    later = cluster.schedule(build_pod("team/model", "later"))
    assert later.node_scores(0)["randScore"].raw == later.node_scores(1)["randScore"].raw == 0


def test_pods_of_one_template_keep_environments_of_their_own() -> None:
    nodes = holding("a", "one:latest"), holding("b", "two:latest")
    cluster = FakeCluster(*nodes, plugins=[RandScore], weights={"randScore": 300})
    for round_ in range(3):
        assert_placed(cluster.schedule(build_pod("one", f"one-{round_}")), on="a")
        assert_placed(cluster.schedule(build_pod("two", f"two-{round_}")), on="b")


def test_chance_is_the_same_for_the_same_seed_only() -> None:
    nodes = [make_node(f"n{number}") for number in range(5)]

    def places(seed: int) -> list[str | None]:
        cluster = FakeCluster(
            *nodes,
            plugins=[RandomScore],
            weights={"RandomScore": 300},
            args={"RandomScore": {"seed": seed}},
        )
        return [cluster.schedule(make_pod(f"p{number}")).chosen for number in range(20)]

    assert places(1) == places(1) != places(2)
    assert len(set(places(1))) > 1


def test_a_trace_plugin_leaves_binding_to_others() -> None:
    cluster = FakeCluster(make_node("a"), plugins=[Defalut])
    assert_placed(cluster.schedule(make_pod("web")), on="a")


def test_a_trace_plugin_nominates_nobody() -> None:
    cluster = FakeCluster(plugins=[Defalut])
    cluster.put(make_node("a", allocatable={"cpu": "1", "pods": 10}))
    decision = cluster.schedule(make_pod("web", requests={"cpu": "2"}))
    assert decision.post_filter is not None
    assert (decision.post_filter.code, decision.nominated_node) == (Code.SUCCESS, None)
    assert not any("preempting" in str(line) for line in cluster.story("web"))


@pytest.mark.parametrize(
    "plugin", [Defalut, Wyq, FilteringNode, FilteringPod, RandScore, RandomScore]
)
def test_the_plugins_keep_their_promises(plugin: Any) -> None:
    pods = [build_pod("team/model"), make_pod("unwanted", labels=UNWANTED)]
    nodes = [holding("holds", "team/model:latest"), make_node("left-out", labels=UNWANTED)]
    assert_promises(plugin, pods=pods, nodes=nodes)

"""Other weights in the middle of the work: the next cycle scores as if it had always been so."""

from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.engine.scheduler import set_score_weights
from podium.testing import FakeCluster, make_node, make_pod

PROFILE = "default-scheduler"


def two_nodes(weights: dict[str, int] | None = None) -> FakeCluster:
    """One node that the pods prefer by a label, one that has room."""
    cluster = FakeCluster(
        make_node("liked", labels={"disk": "ssd"}, allocatable={"cpu": "16", "pods": 20}),
        make_node("roomy", allocatable={"cpu": "64", "pods": 20}),
        weights=weights,
    )
    cluster.put(make_pod("there", requests={"cpu": "8"}, node="liked"))
    return cluster


def pod(name: str) -> Pod:
    term = {
        "weight": 1,
        "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
    }
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return make_pod(name, requests={"cpu": "1"}, affinity=affinity)


def test_the_next_pod_is_weighed_otherwise_and_its_record_says_so() -> None:
    cluster = two_nodes()
    engine, before = cluster.engine, cluster.engine.configuration
    assert cluster.schedule(pod("a")).chosen == "liked"
    set_score_weights(engine, before, PROFILE, {"NodeAffinity": 1, "NodeResourcesFit": 20})
    decision = cluster.schedule(pod("b"))
    assert decision.chosen == "roomy"
    weights = {each.plugin: each.weight for each in decision.scores}
    assert (weights["NodeAffinity"], weights["NodeResourcesFit"]) == (1, 20)
    assert engine.configuration != before
    set_score_weights(engine, before, PROFILE, {})
    assert cluster.schedule(pod("c")).chosen == "liked"
    assert engine.configuration == before


def test_a_plugin_that_is_off_is_not_asked() -> None:
    cluster = two_nodes()
    engine = cluster.engine
    cluster.schedule(pod("a"))
    set_score_weights(engine, engine.configuration, PROFILE, {"NodeAffinity": 0})
    decision = cluster.schedule(pod("b"))
    assert decision.chosen == "roomy"
    assert "NodeAffinity" not in [each.plugin for each in decision.scores]


def test_totals_are_those_of_a_scheduler_that_began_with_the_weights() -> None:
    weights = {"NodeAffinity": 7, "NodeResourcesBalancedAllocation": 5, "PodTopologySpread": 1}
    changed, began = two_nodes(), two_nodes(weights)
    changed.schedule(pod("a"))
    began.schedule(pod("a"))
    set_score_weights(changed.engine, changed.engine.configuration, PROFILE, weights)
    for name in ("b", "c", "d"):
        one, other = changed.schedule(pod(name)), began.schedule(pod(name))
        assert one.total is not None
        assert other.total is not None
        assert one.total.tolist() == other.total.tolist()
        assert one.chosen == other.chosen

"""Questions that the engine answers without being changed by them."""

import msgspec

from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, as_pending
from podium.kubernetes.kinds.storage import PersistentVolumeClaim
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine import Engine
from podium.scheduler.explain.hypothesis import Hypothesis
from podium.scheduler.explain.trial import Trial
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod


def one_node(name: str, cpu: int) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "pods": 110})


def full_node_engine() -> tuple[Engine, Pod]:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        validate=True,
        gates=FeatureGates(),
    )
    engine.intake.node_put(one_node("small", 2))
    running = make_pod("runs", node="small", requests={"cpu": "2"})
    engine.intake.pod_put(running)
    return engine, running


def test_a_pod_that_does_not_fit_fits_on_one_more_node_and_only_while_it_is_there() -> None:
    engine, _ = full_node_engine()
    trial = Trial(engine, make_pod("waits", requests={"cpu": "1"}))
    assert not trial.fits()
    with trial.with_node(one_node("more", 4)):
        assert trial.decide().bound == "more"
        assert trial.feasible() == ("more",)
    assert not trial.fits()


def test_a_pod_fits_while_another_is_away() -> None:
    engine, running = full_node_engine()
    trial = Trial(engine, make_pod("waits", requests={"cpu": "1"}))
    with trial.without([running]):
        assert trial.fits()
    assert not trial.fits()


def test_a_node_as_changed_is_itself_again_afterwards() -> None:
    engine, _ = full_node_engine()
    trial = Trial(engine, make_pod("waits", requests={"cpu": "1"}))
    with trial.with_node(one_node("small", 8)):
        assert trial.fits()
    assert not trial.fits()


def test_a_smaller_pod_is_tried_in_place_of_the_real_one() -> None:
    engine, _ = full_node_engine()
    engine.intake.node_put(one_node("other", 1))
    trial = Trial(engine, make_pod("waits", requests={"cpu": "2"}))
    smaller = make_pod("waits", requests={"cpu": "1"})
    assert not trial.fits()
    assert trial.fits(smaller)
    assert not engine.cluster.is_assumed(smaller.metadata.uid)


def test_a_pod_that_is_held_back_does_not_fit_although_nodes_would_take_it() -> None:
    engine, _ = full_node_engine()
    engine.intake.node_put(one_node("other", 4))
    gated = make_pod("waits", schedulingGates=[{"name": "quota"}])
    decision = Trial(engine, gated).decide()
    assert decision.bound is None
    assert decision.pre_enqueue is not None
    assert "quota" in decision.pre_enqueue.message


def test_a_pod_of_a_scheduler_that_is_not_here_does_not_fit() -> None:
    engine, _ = full_node_engine()
    decision = Trial(engine, make_pod("waits", schedulerName="volcano")).decide()
    assert decision.bound is None
    assert decision.pre_enqueue is not None
    assert "volcano" in decision.pre_enqueue.message


def test_a_hypothesis_is_true_only_while_it_is_supposed() -> None:
    engine, running = full_node_engine()
    pod = make_pod("waits", requests={"cpu": "2"})
    trial = Trial(engine, pod)
    claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="default"))
    hypothesis = Hypothesis(pod).but_with(
        nodes=(one_node("more", 4),), objects=(claim,), removed=(running,)
    )
    with trial.with_hypothesis(hypothesis):
        assert set(trial.feasible()) == {"small", "more"}
        assert engine.cluster.catalog.get(PersistentVolumeClaim, "data", "default") is claim
    assert trial.feasible() == ()
    assert engine.cluster.catalog.get(PersistentVolumeClaim, "data", "default") is None
    assert running.metadata.uid in engine.cluster.placements
    assert hypothesis.touches_others
    assert not Hypothesis(pod).but_with(pod=pod).touches_others


def test_what_is_put_again_replaces_what_was_put_before() -> None:
    pod = make_pod("waits")
    hypothesis = Hypothesis(pod).but_with(nodes=(one_node("a", 1), one_node("b", 1)))
    again = hypothesis.but_with(nodes=(one_node("a", 2),))
    assert [node.name for node in again.nodes] == ["b", "a"]


def test_pods_that_are_placed_together_see_each_other() -> None:
    engine, _ = full_node_engine()
    engine.intake.node_put(one_node("other", 4))
    trial = Trial(engine, make_pod("first", requests={"cpu": "3"}))
    pods = (trial.pod, make_pod("second", requests={"cpu": "3"}))
    assert [decision.bound for decision in trial.decide_in_order(pods)] == ["other", None]
    assert trial.count == 2
    assert trial.fits(pods[1])


def test_a_cordoned_node_takes_no_pod_and_keeps_those_that_were_placed_before() -> None:
    engine, running = full_node_engine()
    engine.intake.node_put(one_node("other", 2))
    trial = Trial(engine, make_pod("waits", requests={"cpu": "2"}))
    with trial.without([running]):
        with (
            trial.with_cordoned_nodes(["small", "no-such-node"]),
            trial.with_placed_pods([as_pending(running)]) as found,
        ):
            assert found[0].bound == "other"
            assert not trial.fits()
        assert trial.fits()


def test_the_devices_of_a_pod_that_is_away_are_free() -> None:
    engine, running = full_node_engine()
    user = {"resource": "pods", "name": "runs", "uid": running.metadata.uid}
    raw = {
        "metadata": {"name": "gpu", "namespace": "default", "uid": "gpu"},
        "status": {"reservedFor": [user], "allocation": {"devices": {"results": []}}},
    }
    claim = msgspec.convert(raw, ResourceClaim)
    engine.intake.object_put(claim)
    trial = Trial(engine, make_pod("waits"))
    with trial.without([running]):
        freed = engine.cluster.catalog.get(ResourceClaim, "gpu", "default")
        assert freed is not None
        assert freed.status.allocation is None
    assert engine.cluster.catalog.get(ResourceClaim, "gpu", "default") == claim

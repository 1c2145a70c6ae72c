"""Questions that the engine answers without being changed by them."""

from podium.api.node import Node
from podium.api.pod import Pod
from podium.config.load import load_configuration
from podium.engine import Engine
from podium.explain.trial import Trial
from podium.plugins import in_tree_registry
from podium.testing import make_node, make_pod


def one_node(name: str, cpu: int) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "pods": 110})


def full_node_engine() -> tuple[Engine, Pod]:
    engine = Engine(load_configuration(None), in_tree_registry(), validate=True)
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

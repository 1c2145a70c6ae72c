"""The best placement beside the scheduler's, proven by trying everything on small clusters."""

from typing import Any

import pytest
from support.commands.command_line import ROOT
from support.offline.what_if.clusters import HOST, anti_affinity, node, owned, pod, simulation
from support.offline.what_if.small_clusters import most_placed, small_cluster

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.what_if import load_cluster
from podium.offline.what_if.forced_placement import ForcedPlacement
from podium.offline.what_if.optimum import OptimumQuestion, find_optimum
from podium.offline.what_if.optimum_answer import OptimumAnswer
from podium.offline.what_if.placement_reading import state_problem

HARD_SEEDS = (29, 298)
"""Kinds that wait for each other in a circle; affinity to a pod on a node without the key."""


def optimum_of(
    nodes: list[Node], running: list[Pod], waiting: list[Pod], **question: Any
) -> OptimumAnswer:
    report = simulation(nodes, running, waiting).run()
    return find_optimum(simulation(nodes, running).engine, report, OptimumQuestion(**question))


@pytest.mark.parametrize("seed", [*range(50), *HARD_SEEDS[1:]])
def test_the_optimum_is_what_trying_every_placement_finds(seed: int) -> None:
    nodes, running, waiting = small_cluster(seed)

    found = optimum_of(nodes, running, waiting)

    best = most_placed(simulation(nodes, running).engine, waiting)
    assert found.checked, found.refusal
    assert found.proven
    assert found.pods.placed_by_optimum == best
    assert found.measures[0].bound == best
    assert found.pods.placed_by_scheduler <= best


@pytest.mark.parametrize("seed", range(100, 110))
def test_the_scheduler_lets_the_pods_of_the_optimum_in_one_after_the_other(seed: int) -> None:
    nodes, running, waiting = small_cluster(seed)
    found = optimum_of(nodes, running, waiting)

    engine = simulation(nodes, running).engine
    forced = ForcedPlacement(engine, state_problem(engine, waiting).problem)
    pods = {f"default/{each.metadata.name}": each for each in waiting}

    for each in found.placement:
        assert forced.place(engine.cluster.infos.of(pods[each.pod]), each.node) == ""


def test_the_same_question_has_the_same_answer() -> None:
    nodes, running, waiting = small_cluster(7)

    assert optimum_of(nodes, running, waiting) == optimum_of(nodes, running, waiting)


def test_pods_of_the_highest_priority_come_first() -> None:
    waiting = [pod(f"low-{n}", "1") for n in range(4)] + [pod("high", "3", priority=10)]

    found = optimum_of([node("n1")], [], waiting, objective="priority")

    assert [(each.name, each.optimum) for each in found.measures] == [
        ("pods placed, priority 10", 1),
        ("pods placed, priority 0", 1),
    ]
    assert found.proven


def test_as_few_nodes_come_into_use_as_possible() -> None:
    nodes = [node(f"n{n}") for n in range(4)]
    running = [pod("old", "1", node="n2"), owned("agent", "agents", "DaemonSet", node="n1")]

    found = optimum_of(nodes, running, [pod(f"p{n}", "1") for n in range(6)], objective="nodes")

    placed, added = found.measures
    assert (placed.optimum, added.optimum, added.bound) == (6, 1, 1)
    assert {each.node for each in found.placement} > {"n2"}


def test_pods_that_repel_each_other_bound_the_number() -> None:
    nodes = [node(f"n{n}") for n in range(3)]
    apart = anti_affinity(HOST, "db")
    waiting = [pod(f"db-{n}", "1", labels={"app": "db"}, affinity=apart) for n in range(5)]

    found = optimum_of(nodes, [], waiting)

    assert (found.pods.placed_by_optimum, found.measures[0].bound, found.proven) == (3, 3, True)
    assert found.scheduler_is_best


def test_what_a_preempting_scheduler_gains_is_told_and_nobody_is_evicted() -> None:
    running = [pod("low", "4", node="n1", priority=1)]

    found = optimum_of([node("n1")], running, [pod("high", "4", priority=9)])

    assert (
        found.pods.placed_by_scheduler,
        found.pods.placed_by_optimum,
        found.pods.evicted_by_scheduler,
    ) == (1, 0, 1)
    assert found.scheduler_is_best


def test_a_search_without_time_has_the_schedulers_placement_and_a_bound() -> None:
    nodes, waiting = [node("n1"), node("n2")], [pod(f"p{n}", "1") for n in range(3)]

    found = optimum_of(nodes, [], waiting, time_limit_s=1e-9)

    assert found.timed_out
    assert found.pods.placed_by_optimum == 3
    assert found.measures[0].bound >= 3


def test_volumes_that_pods_compete_for_are_named_as_ignored() -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "shared"}}

    found = optimum_of([node("n1")], [], [pod("p", volumes=[volume])])

    assert found.bound_ignores == ("volumes that pods compete for",)


def test_a_model_gives_the_optimum_as_records() -> None:
    found = load_cluster(str(ROOT / "examples/what-if/nightly.yaml")).optimum()

    (placed,) = found.measures
    assert placed == {
        "measure": "pods placed",
        "better": "more",
        "scheduler": 6.0,
        "optimum": 7.0,
        "bound": 7.0,
        "gap": 1.0,
        "proven": True,
    }
    assert found.proven
    assert found.checked
    assert sum(each["optimum_node"] is not None for each in found.pods) == 7

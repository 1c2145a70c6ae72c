"""Preemption: budgets that protect pods, and which of several nodes gives way."""

import pytest
from support.scheduler.engine.tight_clusters import (
    budget,
    chosen,
    decide,
    engine_of,
    labelled,
    pending,
    running,
    small,
)

from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.plugins import in_tree_registry

# budgets


def test_a_node_whose_victims_break_no_budget_is_preferred() -> None:
    engine = engine_of(
        small("a", cpu=1),
        small("b", cpu=1),
        labelled("protected", "a", 0),
        running("free", "b", 5),
        budget("pdb", 0),
    )
    assert chosen(decide(engine)) == ("b", ["free"])


def test_protected_pods_are_reprieved_before_more_important_ones() -> None:
    engine = engine_of(
        small("a", cpu=2), labelled("protected", "a", 0), running("free", "a", 5), budget("p", 0)
    )
    assert chosen(decide(engine)) == ("a", ["free"])


@pytest.mark.parametrize("allowed", [(0, 5), (5, 0)])
def test_one_exhausted_budget_of_several_protects_a_pod(allowed: tuple[int, int]) -> None:
    engine = engine_of(
        small("a", cpu=2),
        labelled("protected", "a", 0),
        running("free", "a", 5),
        budget("one", allowed[0]),
        budget("two", allowed[1]),
    )
    assert chosen(decide(engine)) == ("a", ["free"])


def test_important_pods_use_up_a_budget_first() -> None:
    engine = engine_of(
        small("a", cpu=3),
        labelled("first", "a", 5),
        labelled("second", "a", 3),
        labelled("third", "a", 1),
        budget("pdb", 1),
    )
    assert chosen(decide(engine)) == ("a", ["first"])


@pytest.mark.parametrize(
    "harmless",
    [
        budget("empty", 0, selector={}),
        budget("other", 0, selector={"matchLabels": {"app": "y"}}),
        budget("bad", 0, selector={"matchExpressions": [{"key": "app", "operator": "What"}]}),
        budget("under-way", 0, disruptedPods={"low": "2026-01-01T00:00:00Z"}),
    ],
)
def test_budgets_that_do_not_cover_a_pod_do_not_protect_it(harmless: PodDisruptionBudget) -> None:
    engine = engine_of(small("a", cpu=2), labelled("low", "a", 0), running("mid", "a", 5), harmless)
    assert chosen(decide(engine)) == ("a", ["low"])


def test_pods_without_labels_and_of_other_namespaces_are_not_protected() -> None:
    everything = budget(
        "all", 0, selector={"matchExpressions": [{"key": "zzz", "operator": "DoesNotExist"}]}
    )
    engine = engine_of(
        small("a", cpu=2),
        running("bare", "a", 1),
        labelled("stranger", "a", 0, namespace="other"),
        everything,
    )
    assert chosen(decide(engine)) == ("a", ["stranger"])


# ranking


def ranked(*pods: Pod) -> str | None:
    names = sorted({pod.spec.node_name for pod in pods})
    engine = engine_of(*(small(name, cpu=2) for name in names), *pods)
    return chosen(decide(engine, pending(cpu=2)))[0]


def test_the_lowest_of_the_highest_priorities_wins() -> None:
    assert ranked(running("p", "a", 5, 2), running("q", "b", 4), running("r", "b", 4)) == "b"


def test_then_the_lowest_sum_of_priorities() -> None:
    assert (
        ranked(
            running("p", "a", 4), running("q", "a", 3), running("r", "b", 4), running("s", "b", 2)
        )
        == "b"
    )


def test_fewer_victims_have_the_lower_sum_even_with_negative_priorities() -> None:
    assert ranked(running("p", "a", -5), running("q", "a", -5), running("r", "b", -5, 2)) == "b"


def test_then_the_node_whose_most_important_victims_started_last() -> None:
    assert (
        ranked(
            running("p", "a", 4, start=50),
            running("q", "a", 3, start=1),
            running("r", "b", 4, start=40),
            running("s", "b", 3, start=59),
        )
        == "a"
    )


def test_a_victim_that_has_not_started_counts_as_starting_now() -> None:
    assert ranked(running("p", "a", 4, 2, start=50), running("q", "b", 4, 2)) == "b"


def test_the_last_resort_is_the_name() -> None:
    assert ranked(running("p", "b", 4, 2), running("q", "a", 4, 2)) == "a"


def test_enough_candidates_end_the_search() -> None:
    names = [f"n{i}" for i in range(5)]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "pluginConfig": [
                    {
                        "name": "DefaultPreemption",
                        "args": {
                            "minCandidateNodesPercentage": 0,
                            "minCandidateNodesAbsolute": 2,
                        },
                    }
                ]
            }
        ],
    }
    engine = Engine(
        load_configuration(config, gates=FeatureGates()),
        in_tree_registry(),
        choice=FirstByName(),
        gates=FeatureGates(),
    )
    for number, name in enumerate(names):
        engine.cluster.put_node(small(name, cpu=1))
        engine.cluster.add_pod(running(f"p-{name}", name, 9 - number))
    assert chosen(decide(engine)) == ("n1", ["p-n1"])

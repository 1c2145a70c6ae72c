"""Budgets that nobody has counted yet."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from podium.kubernetes.controllers.workloads import Deployment
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.offline.simulate.disruption_budgets import count_budgets
from podium.testing import make_pod

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d9c", "controller": True}
OWNED = {"ownerReferences": [OWNER]}
PODS = [make_pod(f"web-{n}", labels={"app": "web"}, node="n1", metadata=OWNED) for n in range(5)]
BARE = [make_pod(f"bare-{n}", labels={"app": "web"}, node="n1") for n in range(5)]


def deployment(replicas: int) -> Deployment:
    raw = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": replicas}}
    return msgspec.convert(raw, Deployment)


def allowed(
    metadata: dict[str, Any] | None = None,
    *,
    pods: Iterable[Pod] = PODS,
    controllers: Iterable[Deployment] = (),
    **spec: Any,
) -> int:
    raw = {
        "metadata": {"name": "b", "namespace": "default", **(metadata or {})},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }
    budget = msgspec.convert(raw, PodDisruptionBudget)
    (budget,) = count_budgets([budget], pods, controllers)
    return budget.status.disruptions_allowed


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 4}, 1),
        ({"minAvailable": 9}, 0),
        ({"minAvailable": "50%"}, 2),
        ({"minAvailable": "100%"}, 0),
        ({"maxUnavailable": 2}, 2),
        ({"maxUnavailable": "30%"}, 2),
        ({"maxUnavailable": 9}, 5),
    ],
)
def test_what_is_left_follows_from_the_running_pods(spec: dict[str, Any], expected: int) -> None:
    assert allowed(**spec) == expected


def test_pods_of_other_namespaces_and_labels_do_not_count() -> None:
    assert allowed({"namespace": "other"}, minAvailable=1) == 0
    assert allowed(minAvailable=1, selector={"matchLabels": {"app": "db"}}) == 0


def test_a_budget_that_a_cluster_has_counted_stays() -> None:
    assert allowed({"resourceVersion": "1"}, minAvailable=1) == 0


def test_what_may_be_missing_is_counted_from_what_the_controllers_want() -> None:
    assert allowed(maxUnavailable=2, controllers=[deployment(5)]) == 2
    assert allowed(maxUnavailable=2, controllers=[deployment(6)]) == 1
    assert allowed(minAvailable="50%", controllers=[deployment(8)]) == 1


def test_pods_that_have_no_node_yet_are_expected_and_not_healthy() -> None:
    pending = make_pod("web-9", labels={"app": "web"}, metadata=OWNED)
    assert allowed(maxUnavailable=2, pods=[*PODS, pending]) == 1


def test_pods_without_a_controller_count_only_against_a_plain_number() -> None:
    assert allowed(pods=BARE, minAvailable=4) == 1
    assert allowed(pods=BARE, maxUnavailable=2) == 0
    assert allowed(pods=BARE, minAvailable="50%") == 0


def test_a_budget_that_cannot_be_understood_lets_nothing_go() -> None:
    assert allowed(minAvailable="half") == 0
    assert allowed(maxUnavailable="3") == 0

"""Budgets that nobody has counted yet."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from podium.kubernetes.controllers.controller import PatchAction
from podium.kubernetes.controllers.memory_stores import apply_patch
from podium.kubernetes.controllers.workloads import Deployment
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.rules.timestamps import Moment
from podium.offline.simulate import disruption_budgets
from podium.offline.simulate.disruption_budgets import CountedBudgets, count_budgets
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


def budget_of(**spec: Any) -> PodDisruptionBudget:
    metadata = {"name": "b", "namespace": "default", "generation": 1}
    raw = {"metadata": metadata, "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}}
    return msgspec.convert(raw, PodDisruptionBudget)


NOW = Moment(0.0, 0.0)


@pytest.mark.parametrize(
    "spec", [{"minAvailable": 150}, {"minAvailable": "75%"}, {"maxUnavailable": 50}]
)
def test_pods_that_become_ready_one_by_one_are_counted_as_all_at_once_are(
    spec: dict[str, Any],
) -> None:
    pods = [make_pod(f"web-{n}", labels={"app": "web"}, metadata=OWNED) for n in range(200)]
    counted = CountedBudgets([deployment(200)])
    for pod in pods:
        counted.put_pod(pod)
    counted.put_budget(budget_of(**spec))
    (latest,) = counted.count(NOW)
    for number, pod in enumerate(pods):
        pods[number] = replace(pod, spec=replace(pod.spec, node_name="n1"))
        counted.put_pod(pods[number])
        latest = next(iter(counted.count(NOW)), latest)
        if number % 20 == 19:
            (anew,) = count_budgets([budget_of(**spec)], pods, [deployment(200)])
            assert latest.status.disruptions_allowed == anew.status.disruptions_allowed


def test_a_budget_is_written_when_what_it_allows_changes_and_not_for_each_pod(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    patches = []

    def note(obj: PodDisruptionBudget, patch: PatchAction) -> PodDisruptionBudget:
        patches.append(patch)
        return apply_patch(obj, patch)

    monkeypatch.setattr(disruption_budgets, "apply_patch", note)
    counted = CountedBudgets([])
    counted.put_budget(budget_of(minAvailable=190))
    for number in range(200):
        counted.put_pod(make_pod(f"web-{number}", labels={"app": "web"}, node="n1"))
        counted.count(NOW)

    assert len(patches) == 11  # at first, and for each of the ten that may go

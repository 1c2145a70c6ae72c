"""Budgets that nobody has counted yet."""

from typing import Any

import msgspec
import pytest
from builders import make_pod

from podium.api.workloads import PodDisruptionBudget
from podium.simulator.disruptions import count_disruptions

PODS = [make_pod(f"web-{n}", labels={"app": "web"}, node="n1") for n in range(5)]


def allowed(metadata: dict[str, Any] | None = None, **spec: Any) -> int:
    raw = {
        "metadata": {"name": "b", "namespace": "default", **(metadata or {})},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }
    budget = count_disruptions(msgspec.convert(raw, PodDisruptionBudget), PODS)
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

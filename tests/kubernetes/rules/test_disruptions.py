"""How many pods a budget lets go."""

from collections import Counter
from typing import Any

import msgspec
import pytest

from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference
from podium.kubernetes.kinds.workloads import PodDisruptionBudgetSpec
from podium.kubernetes.rules.disruptions import (
    Disruptions,
    Guarded,
    Scaled,
    count_disruptions,
)

OWNER = OwnerReference(kind="ReplicaSet", name="web", uid="u", controller=True)
OWNED = ObjectMeta(name="a", namespace="ns", owner_references=(OWNER,))
BARE = ObjectMeta(name="b", namespace="ns")


def counted(pods: list[ObjectMeta], healthy: int, wanted: int | None, **spec: Any) -> Disruptions:
    budget = msgspec.convert(spec, PodDisruptionBudgetSpec)
    owners = Counter(pod.controller for pod in pods if pod.controller is not None)
    guarded = Guarded("ns", len(pods), owners, healthy)
    scaled = None if wanted is None else Scaled("ReplicaSet", "web", wanted)
    return count_disruptions(budget, guarded, lambda _, __: scaled)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"maxUnavailable": "25%"}, (10, 7, 1)),
        ({"minAvailable": "25%"}, (10, 3, 5)),
        ({"maxUnavailable": 20}, (10, 0, 8)),
        ({"minAvailable": 5}, (8, 5, 3)),
        ({}, (0, 0, 0)),
    ],
)
def test_what_must_stay_follows_from_what_controllers_want(
    spec: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    assert counted([OWNED] * 8, 8, 10, **spec) == expected


def test_pods_without_a_controller_are_not_expected() -> None:
    assert counted([BARE, OWNED], 2, 3, maxUnavailable=1) == (3, 2, 0)
    assert counted([BARE], 1, None, maxUnavailable=1) == (0, 0, 0)


def test_pods_whose_controllers_scale_is_not_known_count_as_themselves() -> None:
    assert counted([OWNED] * 4, 4, None, maxUnavailable=1) == (4, 3, 1)


def test_a_number_that_is_no_percentage_lets_nothing_go() -> None:
    assert counted([OWNED] * 4, 4, 4, maxUnavailable="3").allowed == 0

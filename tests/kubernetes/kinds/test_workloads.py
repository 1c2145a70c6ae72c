"""The objects around pods keep the difference between no selector and an empty one."""

from typing import Any

import pytest

from podium.kubernetes.kinds.meta import LabelSelector
from podium.kubernetes.kinds.typed_objects import decode_object
from podium.kubernetes.kinds.workloads import PodDisruptionBudget, PriorityClass, Service


def raw(api_version: str, kind: str, **parts: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **parts}


@pytest.mark.parametrize(
    ("api_version", "kind", "empty"),
    [
        ("v1", "Service", {}),
        ("v1", "ReplicationController", {}),
        ("apps/v1", "ReplicaSet", LabelSelector()),
        ("apps/v1", "StatefulSet", LabelSelector()),
        ("policy/v1", "PodDisruptionBudget", LabelSelector()),
    ],
)
def test_a_selector_left_out_is_not_an_empty_selector(
    api_version: str, kind: str, empty: object
) -> None:
    without: Any = decode_object(raw(api_version, kind, spec={}), strict=True)
    with_empty: Any = decode_object(raw(api_version, kind, spec={"selector": {}}), strict=True)
    assert without.spec.selector is None
    assert with_empty.spec.selector == empty


def test_a_service_is_read_for_its_selector_only() -> None:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}], "clusterIP": "None", "type": "X"}
    service = decode_object(raw("v1", "Service", spec=spec, status={"any": 1}), strict=True)
    assert isinstance(service, Service)
    assert service.spec.selector == {"app": "web"}


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_the_template_of_a_controller_is_not_looked_into(kind: str) -> None:
    decode_object(raw("apps/v1", kind, spec={"replicas": 3, "template": {"odd": 1}}), strict=True)


def test_a_priority_class_has_a_value() -> None:
    decoded = decode_object(
        raw("scheduling.k8s.io/v1", "PriorityClass", value=-5, globalDefault=True, description="x"),
        strict=True,
    )
    assert isinstance(decoded, PriorityClass)
    assert (decoded.value, decoded.global_default, decoded.preemption_policy) == (-5, True, None)


def test_a_budget_counts_in_numbers_or_percent() -> None:
    status = {
        "disruptionsAllowed": 2,
        "disruptedPods": {"web-1": "2026-01-01T00:00:00Z", "b": None},
    }
    decoded = decode_object(
        raw(
            "policy/v1",
            "PodDisruptionBudget",
            spec={"minAvailable": 1, "maxUnavailable": "50%"},
            status=status,
        ),
        strict=True,
    )
    assert isinstance(decoded, PodDisruptionBudget)
    assert (decoded.spec.min_available, decoded.spec.max_unavailable) == (1, "50%")
    assert decoded.status.disruptions_allowed == 2
    assert decoded.status.disrupted_pods == {"web-1": "2026-01-01T00:00:00Z", "b": None}


def test_a_namespace_is_read_for_its_labels() -> None:
    decoded = decode_object(
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "x", "labels": {"team": "a"}},
            "spec": {"finalizers": ["kubernetes"]},
            "status": {"phase": "Active"},
        },
        strict=True,
    )
    assert decoded.metadata.labels == {"team": "a"}

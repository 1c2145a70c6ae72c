"""PodGroups and Workloads as files and API servers give them."""

from typing import Any

import pytest

from podium.kubernetes.kinds.pod_groups import PER_GROUP, PodGroup, Workload
from podium.kubernetes.kinds.typed_objects import KINDS, decode_object

VERSION = "scheduling.k8s.io/v1alpha2"


def group(**body: Any) -> PodGroup:
    metadata = {"name": "g", "namespace": "ns"}
    raw = {"apiVersion": VERSION, "kind": "PodGroup", "metadata": metadata, **body}
    decoded = decode_object(raw, strict=True)
    assert isinstance(decoded, PodGroup)
    return decoded


def test_both_kinds_are_read_from_their_only_version() -> None:
    assert KINDS[(VERSION, "PodGroup")] is PodGroup
    assert KINDS[(VERSION, "Workload")] is Workload


def test_a_group_is_read_in_full() -> None:
    found = group(
        spec={
            "podGroupTemplateRef": {
                "workload": {"workloadName": "job", "podGroupTemplateName": "workers"}
            },
            "schedulingPolicy": {"gang": {"minCount": 4}},
            "schedulingConstraints": {"topology": [{"key": "rack"}]},
            "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}],
            "disruptionMode": "PodGroup",
            "priorityClassName": "high",
            "priority": 100,
        },
        status={
            "conditions": [
                {
                    "type": "PodGroupScheduled",
                    "status": "True",
                    "reason": "Scheduled",
                    "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z",
                    "observedGeneration": 3,
                }
            ],
            "resourceClaimStatuses": [{"name": "c", "resourceClaimName": "c-1"}],
        },
    )
    policy = found.spec.scheduling_policy
    assert policy.gang is not None
    assert (policy.basic, policy.gang.min_count) == (None, 4)
    assert (found.topology_key, found.priority) == ("rack", 100)
    assert found.spec.disruption_mode == PER_GROUP
    assert [c.observed_generation for c in found.status.conditions or ()] == [3]


def test_a_basic_policy_is_not_a_gang() -> None:
    policy = group(spec={"schedulingPolicy": {"basic": {}}}).spec.scheduling_policy
    assert policy.basic is not None
    assert policy.gang is None


def test_what_a_group_leaves_out_is_no_constraint_and_no_priority() -> None:
    found = group()
    assert (found.topology_key, found.priority, found.spec.disruption_mode) == (None, 0, None)


@pytest.mark.parametrize("constraints", [{}, {"topology": []}, {"topology": None}])
def test_constraints_without_a_topology_ask_for_none(constraints: dict[str, Any]) -> None:
    found = group(spec={"schedulingConstraints": constraints})
    assert found.spec.scheduling_constraints is not None
    assert found.topology_key is None


def test_a_group_without_a_uid_is_told_apart_by_its_key() -> None:
    assert (group().key, group().uid) == ("ns/g", "ns/g")
    assert group(metadata={"name": "g", "namespace": "ns", "uid": "1"}).uid == "1"


def test_a_workload_is_read_with_its_templates() -> None:
    raw = {
        "apiVersion": VERSION,
        "kind": "Workload",
        "metadata": {"name": "w", "namespace": "ns"},
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "job"},
            "podGroupTemplates": [
                {"name": "workers", "schedulingPolicy": {"gang": {"minCount": 2}}, "priority": 5}
            ],
        },
    }
    found = decode_object(raw, strict=True)
    assert isinstance(found, Workload)
    assert [t.name for t in found.spec.pod_group_templates or ()] == ["workers"]

"""Statuses, generations and marks that the server writes into the kinds around pods."""

from copy import deepcopy
from typing import Any

import pytest
from support.apiserver.smallest_objects import KINDS, smallest
from support.apiserver.written_objects import NOW, UID, Object, Shelf, resource_of

from podium.kubernetes import strategy
from podium.kubernetes.kinds.record import STATUS_VERBS, Subresource
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import decode, schema_of

LATER = "2026-01-02T00:00:00Z"


def created(kind: str, group: str = "", **fields: Any) -> tuple[Shelf, ApiResource, Object]:
    shelf, resource = Shelf(), resource_of(kind, group)
    shelf.add_namespace("ns")
    namespace = "ns" if resource.namespaced else ""
    return shelf, resource, shelf.create(resource, namespace, {**smallest(resource), **fields})


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.group_resource)
def test_a_prepared_object_is_what_the_decoder_would_have_made_of_it(resource: ApiResource) -> None:
    shelf = Shelf()
    shelf.add_namespace("ns")
    obj = shelf.create(resource, "ns" if resource.namespaced else "", smallest(resource))
    schema = schema_of(resource.group, resource.version, resource.kind)
    assert decode(obj, schema).value == obj


@pytest.mark.parametrize(
    ("kind", "group", "change"),
    [
        ("Deployment", "apps", {"spec": {"replicas": 3}}),
        ("Deployment", "apps", {"metadata": {"annotations": {"a": "b"}}}),
        ("ReplicaSet", "apps", {"spec": {"replicas": 3}}),
        ("StatefulSet", "apps", {"spec": {"replicas": 3}}),
        ("Job", "batch", {"spec": {"suspend": True}}),
        ("PodDisruptionBudget", "policy", {"spec": {"minAvailable": 2}}),
    ],
)
def test_a_changed_spec_counts_the_generation_up(kind: str, group: str, change: Object) -> None:
    shelf, resource, obj = created(kind, group)
    assert obj["metadata"]["generation"] == 1
    assert shelf.patch(resource, "", obj, change)["metadata"]["generation"] == 2
    same = shelf.patch(resource, "", obj, {"metadata": {"labels": {"a": "b"}}})
    assert same["metadata"]["generation"] == 1


def test_statuses_of_clients_are_dropped_at_creation_and_on_update() -> None:
    shelf, resource, obj = created("Deployment", "apps", status={"replicas": 5})
    assert obj["status"] == {}
    assert shelf.patch(resource, "", obj, {"status": {"replicas": 5}})["status"] == {}
    new = shelf.patch(resource, "status", obj, {"status": {"replicas": 5}, "spec": {"replicas": 9}})
    assert (new["status"], new["spec"]) == ({"replicas": 5}, obj["spec"])


def test_nodes_bring_their_status_along() -> None:
    shelf, resource, node = created("Node", status={"capacity": {"cpu": "4"}})
    assert node["status"]["capacity"] == {"cpu": "4"}
    assert shelf.patch(resource, "", node, {"status": {"capacity": {"cpu": "8"}}})["status"][
        "capacity"
    ] == {"cpu": "4"}


def test_a_namespace_waits_for_its_contents_when_it_goes() -> None:
    shelf, resource, namespace = created("Namespace")
    assert namespace["spec"]["finalizers"] == ["kubernetes"]
    new = shelf.patch(resource, "", namespace, {"spec": {"finalizers": ["example.com/x"]}})
    assert new["spec"]["finalizers"] == ["kubernetes"]
    new = shelf.patch(resource, "finalize", namespace, {"spec": {"finalizers": None}})
    assert "finalizers" not in new["spec"]


def test_a_job_selects_the_pods_that_carry_its_uid() -> None:
    _, _, job = created("Job", "batch")
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}}
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert (
        labels
        == job["metadata"]["labels"]
        == {
            "job-name": "a",
            "batch.kubernetes.io/job-name": "a",
            "controller-uid": UID,
            "batch.kubernetes.io/controller-uid": UID,
        }
    )


def test_a_job_with_a_selector_of_its_own_keeps_it() -> None:
    template = {
        "metadata": {"labels": {"mine": "yes"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"},
    }
    selector = {"matchLabels": {"mine": "yes"}}
    spec = {"manualSelector": True, "selector": selector, "template": template}
    _, _, job = created("Job", "batch", spec=spec)
    assert job["spec"]["selector"] == selector
    assert job["spec"]["template"]["metadata"]["labels"] == {"mine": "yes"}


def test_a_daemon_set_counts_the_versions_of_its_template() -> None:
    mark = "deprecated.daemonset.template.generation"
    shelf, resource, obj = created("DaemonSet", "apps")
    assert obj["metadata"]["annotations"] == {mark: "1"}
    same = shelf.patch(resource, "", obj, {"spec": {"minReadySeconds": 3}})
    assert same["metadata"]["annotations"][mark] == "1"
    change = {"spec": {"template": {"spec": {"schedulerName": "x"}}}}
    assert shelf.patch(resource, "", obj, change)["metadata"]["annotations"][mark] == "2"


def test_volumes_and_claims_start_pending() -> None:
    _, _, volume = created("PersistentVolume")
    assert volume["status"] == {"phase": "Pending", "lastPhaseTransitionTime": NOW}
    _, _, claim = created("PersistentVolumeClaim")
    assert claim["status"] == {"phase": "Pending"}


def test_the_time_of_a_volume_s_phase_changes_with_the_phase() -> None:
    resource = resource_of("PersistentVolume")
    _, _, old = created("PersistentVolume")
    new = deepcopy(old)
    new["status"] = {"phase": "Pending"}
    strategy.prepare_status_update(resource, new, old, LATER)
    assert new["status"]["lastPhaseTransitionTime"] == NOW
    new["status"] = {"phase": "Bound"}
    strategy.prepare_status_update(resource, new, old, LATER)
    assert new["status"]["lastPhaseTransitionTime"] == LATER


@pytest.mark.parametrize(
    ("written", "other"), [("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")]
)
def test_both_fields_of_a_claim_s_source_say_the_same(written: str, other: str) -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "old"}
    spec = {**smallest(resource_of("PersistentVolumeClaim"))["spec"], written: source}
    _, _, claim = created("PersistentVolumeClaim", spec=spec)
    assert claim["spec"][other] == claim["spec"][written] == {"apiGroup": None, **source}


def test_taints_of_devices_get_the_time_at_which_they_came() -> None:
    group = "resource.k8s.io"
    spec = smallest(resource_of("ResourceSlice", group))["spec"]
    taint = {"key": "example.com/broken", "effect": "NoSchedule"}
    spec = {**spec, "devices": [{"name": "dev-0", "taints": [taint]}]}
    _, _, found = created("ResourceSlice", group, spec=spec)
    assert found["spec"]["devices"][0]["taints"] == [{**taint, "timeAdded": NOW}]


def test_a_claim_on_devices_keeps_its_metadata_when_its_status_changes() -> None:
    shelf, resource, claim = created("ResourceClaim", "resource.k8s.io")
    new = shelf.patch(resource, "status", claim, {"metadata": {"labels": {"a": "b"}}})
    assert "labels" not in new["metadata"]


def custom(*subresources: Subresource) -> ApiResource:
    return ApiResource(
        "g", "v1", "Widget", "widgets", "widget", True, (), (), subresources, is_custom=True
    )


def test_custom_resources_with_a_status_count_everything_else() -> None:
    resource = custom(Subresource("status", "Widget", STATUS_VERBS))
    obj: Object = {"metadata": {"name": "w"}, "spec": {"a": 1}, "status": {"x": 1}}
    strategy.prepare_create(resource, obj, NOW)
    assert obj == {"metadata": {"name": "w", "generation": 1}, "spec": {"a": 1}}
    new: Object = {"metadata": {"name": "w"}, "spec": {"a": 2}, "status": {"x": 1}}
    strategy.prepare_update(resource, new, obj, NOW)
    assert new == {"metadata": {"name": "w", "generation": 2}, "spec": {"a": 2}}
    status: Object = {"metadata": {"name": "w"}, "spec": {"a": 9}, "status": {"x": 1}}
    strategy.prepare_status_update(resource, status, new, NOW)
    assert (status["spec"], status["status"]) == ({"a": 2}, {"x": 1})
    assert status["metadata"]["generation"] == 2


def test_custom_resources_without_a_status_count_it_too() -> None:
    resource = custom()
    obj: Object = {"metadata": {"name": "w"}, "status": {"x": 1}}
    strategy.prepare_create(resource, obj, NOW)
    assert obj["status"] == {"x": 1}
    new: Object = {"metadata": {"name": "w"}, "status": {"x": 2}}
    strategy.prepare_update(resource, new, obj, NOW)
    assert (new["status"], new["metadata"]["generation"]) == ({"x": 2}, 2)

"""Resource quotas: what would take more than its namespace may have is refused."""

from typing import Any

import pytest
from support.apiserver.written_objects import Object, Shelf, pod_written, resource_of

from podium.kubernetes.status_errors import StatusError


@pytest.fixture
def shelf() -> Shelf:
    made = Shelf()
    made.add_namespace("ns")
    return made


def add_quota(shelf: Shelf, *, name: str = "q", hard: dict[str, str], **spec: Any) -> None:
    body = {"metadata": {"name": name}, "spec": {"hard": hard, **spec}}
    shelf.create(resource_of("ResourceQuota"), "ns", body)


def pod(name: str, cpu: str = "", **spec: Any) -> Object:
    written = pod_written(name, **spec)
    if cpu:
        written["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu}}
    return written


def create(shelf: Shelf, kind: str, body: Object) -> Object:
    return shelf.create(resource_of(kind), "ns", body)


def refusal(shelf: Shelf, kind: str, body: Object) -> str:
    with pytest.raises(StatusError) as refused:
        create(shelf, kind, body)
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    return refused.value.message


def test_a_pod_beyond_the_quota_is_refused_with_what_is_used(shelf: Shelf) -> None:
    add_quota(shelf, hard={"pods": "2", "requests.cpu": "1"})
    create(shelf, "Pod", pod("a", "600m"))
    assert refusal(shelf, "Pod", pod("b", "500m")) == (
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, '
        "used: requests.cpu=600m, limited: requests.cpu=1"
    )
    create(shelf, "Pod", pod("b", "400m"))
    assert refusal(shelf, "Pod", pod("c", "1")) == (
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=1, '
        "used: pods=2,requests.cpu=1, limited: pods=2,requests.cpu=1"
    )


def test_pods_must_say_what_a_quota_limits(shelf: Shelf) -> None:
    add_quota(shelf, hard={"cpu": "1", "limits.memory": "1Gi"})
    assert refusal(shelf, "Pod", pod("a")) == (
        'pods "a" is forbidden: failed quota: q: must specify cpu for: c; limits.memory for: c'
    )


def test_pods_that_have_ended_only_count_as_objects(shelf: Shelf) -> None:
    add_quota(shelf, hard={"pods": "1", "count/pods": "2"})
    ended = create(shelf, "Pod", pod("a"))
    ended["status"]["phase"] = "Succeeded"
    create(shelf, "Pod", pod("b"))
    assert "requested: count/pods=1,pods=1" in refusal(shelf, "Pod", pod("c"))


def test_a_quota_counts_only_what_is_in_its_scopes(shelf: Shelf) -> None:
    add_quota(shelf, hard={"pods": "0"}, scopes=["BestEffort"])
    add_quota(shelf, name="r", hard={"pods": "0"}, scopes=["Terminating"])
    create(shelf, "Pod", pod("a", "1"))
    assert "exceeded quota: q" in refusal(shelf, "Pod", pod("b"))
    assert "exceeded quota: r" in refusal(shelf, "Pod", pod("c", "1", activeDeadlineSeconds=5))


def test_services_and_objects_of_any_kind_are_counted(shelf: Shelf) -> None:
    hard = {"services.nodeports": "1", "configmaps": "1", "count/deployments.apps": "0"}
    add_quota(shelf, hard=hard)
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}]
    service = {"metadata": {"name": "s"}, "spec": {"ports": ports}}
    stored = create(shelf, "Service", service)
    changed = {**service, "spec": {**stored["spec"], "type": "NodePort"}}
    with pytest.raises(StatusError, match=r"requested: services\.nodeports=2"):
        shelf.update(resource_of("Service"), "", stored, changed)
    create(shelf, "ConfigMap", {"metadata": {"name": "m"}})
    assert "limited: configmaps=1" in refusal(shelf, "ConfigMap", {"metadata": {"name": "n"}})


def test_claims_are_charged_by_class_and_when_they_grow(shelf: Shelf) -> None:
    gold = "gold.storageclass.storage.k8s.io/requests.storage"
    add_quota(shelf, hard={gold: "5Gi", "requests.storage": "10Gi"})

    def claim(name: str, size: str, class_name: str) -> Object:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "resources": {"requests": {"storage": size}},
        }
        return {"metadata": {"name": name}, "spec": spec}

    create(shelf, "PersistentVolumeClaim", claim("a", "4Gi", "gold"))
    assert refusal(shelf, "PersistentVolumeClaim", claim("b", "2Gi", "gold")).endswith(
        f"requested: {gold}=2Gi, used: {gold}=4Gi, limited: {gold}=5Gi"
    )
    create(shelf, "PersistentVolumeClaim", claim("b", "6Gi", "silver"))


def test_namespaces_without_a_quota_are_free(shelf: Shelf) -> None:
    shelf.add_namespace("other")
    add_quota(shelf, hard={"pods": "0"})
    shelf.create(resource_of("Pod"), "other", pod("a"))

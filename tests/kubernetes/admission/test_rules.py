"""What the cluster adds to objects and refuses of them, priorities apart."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import smallest
from support.apiserver.written_objects import Object, Shelf, pod_written, resource_of

from podium.kubernetes.admission import AdmissionSettings, admit_binding, admit_delete
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError

POD = resource_of("Pod")
NODE = resource_of("Node")
NAMESPACE = resource_of("Namespace")
CLAIM = resource_of("PersistentVolumeClaim")
CLASS = resource_of("StorageClass", "storage.k8s.io")
RUNTIME = ApiResource("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "runtimeclass", False)
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"


@pytest.fixture
def shelf() -> Shelf:
    shelf = Shelf()
    shelf.add_namespace("ns")
    return shelf


def tolerated(pod: Object) -> dict[str, int | None]:
    return {each["key"]: each.get("tolerationSeconds") for each in pod["spec"]["tolerations"]}


def test_pods_stay_five_minutes_on_nodes_that_stop_answering(shelf: Shelf) -> None:
    pod = shelf.create(POD, "ns", pod_written())
    assert tolerated(pod) == {NOT_READY: 300, UNREACHABLE: 300}


def test_how_long_pods_stay_can_be_set() -> None:
    shelf = Shelf(AdmissionSettings(not_ready_toleration_s=5, unreachable_toleration_s=6))
    shelf.add_namespace("ns")
    assert tolerated(shelf.create(POD, "ns", pod_written())) == {NOT_READY: 5, UNREACHABLE: 6}


@pytest.mark.parametrize(
    ("toleration", "added"),
    [
        ({"operator": "Exists"}, []),
        ({"key": NOT_READY, "operator": "Exists"}, [UNREACHABLE]),
        ({"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}, [UNREACHABLE]),
        (
            {"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule"},
            [NOT_READY, UNREACHABLE],
        ),
        ({"key": "other", "operator": "Exists"}, [NOT_READY, UNREACHABLE]),
    ],
)
def test_pods_that_tolerate_such_nodes_themselves_are_left_alone(
    shelf: Shelf, toleration: Object, added: list[str]
) -> None:
    pod = shelf.create(POD, "ns", pod_written("p", tolerations=[toleration]))
    assert [each["key"] for each in pod["spec"]["tolerations"][1:]] == added


def test_an_update_does_not_add_tolerations_twice(shelf: Shelf) -> None:
    pod = shelf.create(POD, "ns", pod_written())
    assert shelf.patch(POD, "", pod, {"metadata": {"labels": {"a": "b"}}})["spec"] == pod["spec"]


def test_nothing_is_created_in_a_namespace_that_does_not_exist(shelf: Shelf) -> None:
    with pytest.raises(StatusError) as caught:
        shelf.create(POD, "absent", pod_written())
    assert (caught.value.code, caught.value.message) == (404, 'namespaces "absent" not found')


def test_nothing_is_created_in_a_namespace_that_is_going(shelf: Shelf) -> None:
    shelf.put(NAMESPACE, {"metadata": {"name": "ns"}, "status": {"phase": "Terminating"}})
    with pytest.raises(StatusError) as caught:
        shelf.create(POD, "ns", pod_written())
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert caught.value.message == (
        'pods "p" is forbidden: unable to create new content in namespace ns because it is being'
        " terminated"
    )
    assert caught.value.details is not None
    assert caught.value.details["causes"][0]["reason"] == "NamespaceTerminating"


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_namespaces_of_the_cluster_may_not_be_deleted(name: str) -> None:
    with pytest.raises(StatusError, match="this namespace may not be deleted"):
        admit_delete(NAMESPACE, "", name)
    admit_delete(NAMESPACE, "", "other")
    admit_delete(POD, "ns", name)


def test_a_pod_takes_zone_and_region_of_its_node(shelf: Shelf) -> None:
    labels = {"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "x": "y"}
    shelf.create(NODE, "", {"metadata": {"name": "n1", "labels": labels}})
    wanted = {key: labels[key] for key in labels if key != "x"}
    pod = shelf.create(POD, "ns", pod_written("p", {"labels": {"app": "a"}}, nodeName="n1"))
    assert pod["metadata"]["labels"] == {"app": "a", **wanted}
    binding: Object = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}}
    admit_binding(binding, shelf)
    assert binding["metadata"]["labels"] == wanted


@pytest.mark.parametrize("target", [{"kind": "Node", "name": "absent"}, {"name": "n"}, {}])
def test_a_binding_to_a_node_that_is_not_there_stays_as_it_is(shelf: Shelf, target: Object) -> None:
    binding: Object = {"metadata": {"name": "p"}, "target": target}
    admit_binding(binding, shelf)
    assert binding["metadata"] == {"name": "p"}


def test_new_nodes_take_no_pods_until_they_are_ready_if_that_is_wanted(shelf: Shelf) -> None:
    taint = {"key": NOT_READY, "effect": "NoSchedule"}
    tainting = Shelf(AdmissionSettings(taint_new_nodes=True))
    assert tainting.create(NODE, "", smallest(NODE))["spec"]["taints"] == [taint]
    tainted = {**smallest(NODE), "spec": {"taints": [taint]}}
    assert tainting.create(NODE, "", tainted)["spec"]["taints"] == [taint]
    assert "taints" not in shelf.create(NODE, "", smallest(NODE))["spec"]


def test_a_pod_of_an_unknown_runtime_is_refused(shelf: Shelf) -> None:
    with pytest.raises(StatusError, match='pod rejected: RuntimeClass "odd" not found'):
        shelf.create(POD, "ns", pod_written("p", runtimeClassName="odd"))


def test_overhead_comes_from_the_runtime_of_a_pod(shelf: Shelf) -> None:
    with pytest.raises(StatusError, match="Pod Overhead set without corresponding RuntimeClass"):
        shelf.create(POD, "ns", pod_written("p", overhead={"cpu": "1"}))
    heavy = {"metadata": {"name": "heavy"}, "overhead": {"podFixed": {"cpu": "1"}}}
    shelf.put(RUNTIME, heavy)
    shelf.create(POD, "ns", pod_written("p", overhead={"cpu": "1"}, runtimeClassName="heavy"))
    with pytest.raises(StatusError, match="doesn't match RuntimeClass's defined Overhead"):
        shelf.create(POD, "ns", pod_written("p", overhead={"cpu": "2"}, runtimeClassName="heavy"))


@pytest.mark.parametrize(
    ("kind", "finalizer"),
    [
        ("PersistentVolumeClaim", "kubernetes.io/pvc-protection"),
        ("PersistentVolume", "kubernetes.io/pv-protection"),
    ],
)
def test_storage_is_protected_while_it_is_used(shelf: Shelf, kind: str, finalizer: str) -> None:
    resource = resource_of(kind)
    namespace = "ns" if resource.namespaced else ""
    obj = shelf.create(resource, namespace, smallest(resource))
    assert obj["metadata"]["finalizers"] == [finalizer]


def add_class(shelf: Shelf, name: str, created_at: str, **fields: Any) -> None:
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    metadata = {"name": name, "creationTimestamp": created_at, "annotations": mark}
    shelf.put(CLASS, {"metadata": metadata, "provisioner": "x", **fields})


def test_a_claim_without_a_class_gets_the_newest_default_one(shelf: Shelf) -> None:
    add_class(shelf, "old", "2026-01-01T00:00:00Z")
    add_class(shelf, "new-b", "2026-01-02T00:00:00Z")
    add_class(shelf, "new-a", "2026-01-02T00:00:00Z")
    assert shelf.create(CLAIM, "ns", smallest(CLAIM))["spec"]["storageClassName"] == "new-a"


def test_a_claim_that_wants_no_class_or_names_one_keeps_that(shelf: Shelf) -> None:
    add_class(shelf, "usual", "2026-01-01T00:00:00Z")
    for name in ("", "other"):
        written = smallest(CLAIM)
        written["spec"] = {**written["spec"], "storageClassName": name}
        assert shelf.create(CLAIM, "ns", written)["spec"]["storageClassName"] == name


def test_a_claim_without_a_class_stays_so_where_there_is_no_default(shelf: Shelf) -> None:
    assert "storageClassName" not in shelf.create(CLAIM, "ns", smallest(CLAIM))["spec"]


def grown(shelf: Shelf, status: Object, **spec: Any) -> Object:
    written = smallest(CLAIM)
    written["spec"] = {**written["spec"], **spec}
    claim = shelf.create(CLAIM, "ns", written)
    claim = shelf.patch(CLAIM, "status", claim, {"status": status})
    more = {"resources": {"requests": {"storage": "2Gi"}}}
    return shelf.patch(CLAIM, "", claim, {"spec": more})


def test_only_bound_claims_of_classes_that_allow_it_can_grow(shelf: Shelf) -> None:
    add_class(shelf, "fixed", "2026-01-01T00:00:00Z")
    add_class(shelf, "elastic", "2026-01-01T00:00:00Z", allowVolumeExpansion=True)
    bound = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    with pytest.raises(StatusError, match="storageclass that provisions the pvc must support"):
        grown(shelf, bound, storageClassName="fixed", volumeName="v")
    claim = grown(shelf, bound, storageClassName="elastic", volumeName="v")
    assert claim["spec"]["resources"]["requests"] == {"storage": "2Gi"}

"""What an API server would have filled in."""

from typing import Any, Final

import msgspec
import pytest

from podium.golang.errors import ObjectError
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from podium.kubernetes.kinds.workloads import (
    LimitRange,
    Namespace,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
)
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate.admission import Admission, assign_uid, served_kinds, uid_for
from podium.testing import make_node, make_pod

GATES: Final = FeatureGates()


def priority_class(name: str, value: int, **more: Any) -> PriorityClass:
    return PriorityClass(metadata=ObjectMeta(name=name), value=value, **more)


def admit(pod: Pod, *classes: KubeObject) -> Pod:
    return Admission(GATES, classes).create(written(pod), Pod)


def written(obj: KubeObject) -> dict[str, Any]:
    """The object as somebody would write it, in full."""
    decoded = served_kinds(GATES).decode(
        {"apiVersion": obj.api_version, "kind": obj.kind, **as_written(obj)}
    )
    assert decoded is not None
    return decoded.value


def as_written(struct: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(struct))


def container(**resources: Any) -> list[dict[str, Any]]:
    return [{"name": "main", "image": "app", "resources": resources}]


def requests_of(pod: Pod) -> object:
    assert pod.spec.containers is not None
    assert pod.spec.containers[0].resources is not None
    return pod.spec.containers[0].resources.requests


def test_a_namespaced_object_without_a_namespace_is_in_default() -> None:
    pod = assign_uid(Pod(metadata=ObjectMeta(name="a")))
    assert pod.metadata.namespace == "default"
    assert pod.metadata.uid == uid_for("Pod", "default", "a")


def test_a_cluster_wide_object_has_no_namespace() -> None:
    node = assign_uid(Node(metadata=ObjectMeta(name="n", namespace="stray")))
    assert node.metadata.namespace == ""


def test_uids_follow_from_identity_and_nothing_else() -> None:
    assert uid_for("Pod", "a", "b") == uid_for("Pod", "a", "b")
    assert uid_for("Pod", "a", "b") != uid_for("Node", "a", "b")


def test_a_limit_without_a_request_becomes_the_request() -> None:
    pod = make_pod(
        "a", containers=container(limits={"cpu": "1", "memory": "1Gi"}, requests={"cpu": "500m"})
    )
    assert requests_of(admit(pod)) == {"cpu": "500m", "memory": "1Gi"}


def test_a_pod_that_a_server_stored_keeps_what_it_has() -> None:
    pod = make_pod(
        "a", containers=container(limits={"cpu": "1"}), metadata={"resourceVersion": "7"}
    )
    assert requests_of(Admission(GATES).read_stored(pod)) is None


def test_pod_level_requests_come_from_containers_then_from_limits() -> None:
    pod = make_pod(
        "a",
        containers=container(requests={"memory": "1Ki"}),
        resources={"limits": {"cpu": "4", "memory": "1Gi"}},
    )
    resources = admit(pod).spec.resources
    assert resources is not None
    assert resources.requests == {"memory": "1Ki", "cpu": "4"}


def test_huge_pages_of_a_pod_are_limited_by_what_its_containers_may_have() -> None:
    pages = {"hugepages-2Mi": "4Mi"}
    pod = make_pod(
        "a",
        containers=container(requests={**pages, "cpu": "1"}, limits=pages),
        resources={"limits": {"cpu": "4"}},
    )
    resources = admit(pod).spec.resources
    assert resources is not None
    assert resources.limits == {"cpu": "4", **pages}
    assert resources.requests == {"cpu": "1", **pages}


def test_ports_on_the_host_network_are_host_ports() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 2, "hostPort": 2}]
    containers = [{"name": "main", "image": "app", "ports": ports}]
    admitted = admit(make_pod("a", hostNetwork=True, containers=containers)).spec.containers
    assert admitted is not None
    assert [port.host_port for port in admitted[0].ports or ()] == [80, 2]


def test_a_pod_without_a_class_has_priority_zero() -> None:
    assert admit(make_pod("a")).spec.priority == 0


def test_a_class_gives_priority_and_preemption_policy() -> None:
    batch = priority_class("batch", -5, preemption_policy="Never")
    spec = admit(make_pod("a", priorityClassName="batch"), batch).spec
    assert (spec.priority, spec.preemption_policy) == (-5, "Never")


@pytest.mark.parametrize(
    ("name", "value"),
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)],
)
def test_system_classes_are_always_there(name: str, value: int) -> None:
    assert admit(make_pod("a", priorityClassName=name)).spec.priority == value


def test_the_global_default_is_for_pods_without_a_class() -> None:
    usual = priority_class("usual", 10, global_default=True)
    spec = admit(make_pod("a"), usual).spec
    assert (spec.priority, spec.priority_class_name) == (10, "usual")


def test_of_several_global_defaults_the_least_important_counts() -> None:
    classes = [priority_class(f"c{value}", value, global_default=True) for value in (30, 10, 20)]
    assert admit(make_pod("a"), *classes).spec.priority == 10


def test_a_number_that_is_not_that_of_the_default_class_is_refused() -> None:
    usual = priority_class("usual", 10, global_default=True)
    with pytest.raises(ObjectError, match=r"the integer value of priority \(7\) must not be"):
        admit(make_pod("a", priority=7), usual)


def test_a_pod_that_some_cluster_has_had_keeps_its_priority() -> None:
    pod = make_pod("a", priority=7, priorityClassName="gone")
    spec = Admission(GATES).admit_leniently(written(pod), Pod).spec
    assert (spec.priority, spec.priority_class_name) == (7, "gone")


def test_a_class_that_is_not_there_is_refused() -> None:
    with pytest.raises(ObjectError, match="no PriorityClass with name nope was found"):
        admit(make_pod("a", priorityClassName="nope"))


def test_a_number_that_contradicts_the_class_is_refused() -> None:
    pod = make_pod("a", priority=7, priorityClassName="usual")
    with pytest.raises(ObjectError, match=r"the integer value of priority \(7\) must not be"):
        admit(pod, priority_class("usual", 10))


def test_a_dump_without_its_classes_keeps_its_priorities() -> None:
    pod = make_pod("a", priority=7, priorityClassName="gone", metadata={"resourceVersion": "1"})
    assert Admission(GATES).read_stored(pod).spec.priority == 7


def spread(**more: Any) -> dict[str, Any]:
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **more}


def test_match_label_keys_become_part_of_a_spread_selector() -> None:
    pod = make_pod(
        "a",
        labels={"app": "web", "hash": "x1"},
        topologySpreadConstraints=[
            spread(labelSelector={"matchLabels": {"app": "web"}}, matchLabelKeys=["hash", "absent"])
        ],
    )
    constraints = admit(pod).spec.topology_spread_constraints
    assert constraints is not None
    selector = constraints[0].label_selector
    assert selector is not None
    assert as_written(selector) == {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "hash", "operator": "In", "values": ["x1"]}],
    }


def test_match_label_keys_beside_an_absent_selector_are_refused() -> None:
    pod = make_pod(
        "a", labels={"hash": "x1"}, topologySpreadConstraints=[spread(matchLabelKeys=["hash"])]
    )
    with pytest.raises(ObjectError, match="must not be specified when labelSelector is not set"):
        admit(pod)


def test_mismatch_label_keys_become_part_of_an_affinity_selector() -> None:
    term = {"topologyKey": "zone", "labelSelector": {}, "mismatchLabelKeys": ["tenant"]}
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    pod = make_pod(
        "a",
        labels={"tenant": "me"},
        affinity={
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [term],
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        },
    )
    affinity = admit(pod).spec.affinity
    assert affinity is not None
    side = affinity.pod_anti_affinity
    assert side is not None
    required = side.required_during_scheduling_ignored_during_execution or ()
    weighted = side.preferred_during_scheduling_ignored_during_execution or ()
    for found in (required[0], weighted[0].pod_affinity_term):
        assert as_written(found.label_selector) == {
            "matchExpressions": [{"key": "tenant", "operator": "NotIn", "values": ["me"]}]
        }


def test_a_node_that_only_states_its_capacity_can_give_all_of_it() -> None:
    node = msgspec.convert({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}}, Node)
    assert Admission(GATES).create(written(node), Node).status.allocatable == {"cpu": "4"}
    assert Admission(GATES).read_stored(make_node("n")) == make_node("n")


def test_a_namespace_carries_its_name_as_a_label() -> None:
    namespace = Namespace(metadata=ObjectMeta(name="team-a"))
    namespace = Admission(GATES).create(written(namespace), Namespace)
    assert namespace.metadata.labels == {"kubernetes.io/metadata.name": "team-a"}


def test_storage_objects_get_the_defaults_that_binding_depends_on() -> None:
    marked = {"storageclass.kubernetes.io/is-default-class": "true"}
    usual = StorageClass(metadata=ObjectMeta(name="usual", annotations=marked), provisioner="csi.x")
    admission = Admission(GATES)
    assert admission.create(written(usual), StorageClass).volume_binding_mode == "Immediate"
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    created = admission.create(claim, PersistentVolumeClaim)
    assert (created.spec.storage_class_name, created.spec.volume_mode) == ("usual", "Filesystem")
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "v"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/v"},
        },
    }
    assert admission.create(volume, PersistentVolume).status.phase == "Available"


def test_a_request_for_devices_that_does_not_count_wants_one() -> None:
    raw = {
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
    }
    claim = Admission(GATES).create(written(msgspec.convert(raw, ResourceClaim)), ResourceClaim)
    request = (claim.spec.devices.requests or ())[0].exactly
    assert request is not None
    assert (request.allocation_mode, request.count) == ("ExactCount", 1)


# --- limit ranges and runtime classes ---------------------------------------------------------


def limit_range(*limits: dict[str, Any]) -> LimitRange:
    raw = {"metadata": {"name": "small", "namespace": "default"}, "spec": {"limits": limits}}
    return msgspec.convert(raw, LimitRange)


def runtime_class(**fields: Any) -> RuntimeClass:
    return msgspec.convert({"metadata": {"name": "kata"}, **fields}, RuntimeClass)


def test_a_limit_range_fills_in_what_containers_leave_out() -> None:
    limits = limit_range(
        {"type": "Container", "min": {"cpu": "1m"}, "defaultRequest": {"cpu": "1"}}
    )

    assert requests_of(admit(make_pod("a", containers=container()), limits)) == {"cpu": "1"}
    own = make_pod("b", containers=container(requests={"cpu": "500m"}))
    assert requests_of(admit(own, limits)) == {"cpu": "500m"}


def test_a_limit_range_of_another_namespace_says_nothing() -> None:
    limits = limit_range({"type": "Container", "defaultRequest": {"cpu": "1"}})
    elsewhere = make_pod("a", namespace="other", containers=container())

    assert requests_of(admit(elsewhere, limits)) is None


def test_a_pod_beyond_a_limit_range_is_refused() -> None:
    limits = limit_range({"type": "Container", "max": {"cpu": "1"}})
    pod = make_pod("a", containers=container(limits={"cpu": "2"}))

    with pytest.raises(ObjectError, match="maximum cpu usage per Container is 1, but limit is 2"):
        admit(pod, limits)


def test_a_claim_beyond_a_limit_range_is_refused() -> None:
    limits = limit_range({"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}})
    raw = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "2Gi"}},
        },
    }

    with pytest.raises(ObjectError, match="maximum storage usage per PersistentVolumeClaim is 1Gi"):
        Admission(GATES, [limits]).create(raw, PersistentVolumeClaim)


def test_a_runtime_class_gives_overhead_and_nodes() -> None:
    kata = runtime_class(
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={
            "nodeSelector": {"runtime": "kata"},
            "tolerations": [{"key": "kata", "operator": "Exists"}],
        },
    )

    spec = admit(make_pod("a", runtimeClassName="kata"), kata).spec

    assert spec.overhead == {"cpu": "250m"}
    assert spec.node_selector == {"runtime": "kata"}
    assert "kata" in [each.key for each in spec.tolerations or ()]


def test_a_pod_that_contradicts_its_runtime_class_is_refused() -> None:
    kata = runtime_class(scheduling={"nodeSelector": {"runtime": "kata"}})
    pod = make_pod("a", runtimeClassName="kata", nodeSelector={"runtime": "runc"})

    with pytest.raises(ObjectError, match=r"conflict: runtimeClass\.scheduling\.nodeSelector"):
        admit(pod, kata)


# --- objects that controllers make, and objects of other clusters ------------------------------


def body(name: str, spec: dict[str, Any], **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def test_pods_of_one_template_are_stored_alike() -> None:
    limits = limit_range({"type": "Container", "defaultRequest": {"cpu": "1"}})
    admission, spec = Admission(GATES, [limits]), {"containers": container()}
    first, second = (admission.create_pod(body(name, spec, app="a")) for name in ("a", "b"))

    assert second.spec is first.spec
    assert second.metadata.name == "b"
    assert second.metadata.annotations == first.metadata.annotations
    assert second.metadata.generation == first.metadata.generation == 1
    assert spec == {"containers": container()}


def test_a_remedy_names_what_this_object_lacks() -> None:
    admission = Admission(GATES, [limit_range({"type": "Container", "max": {"cpu": "1"}})])
    with pytest.raises(ObjectError, match="add the PriorityClass"):
        admission.create(written(make_pod("p", priorityClassName="web")), Pod)
    beyond = make_pod("web-1", containers=container(limits={"cpu": "2"}))
    with pytest.raises(ObjectError, match="maximum cpu usage") as refused:
        admission.create(written(beyond), Pod)
    assert refused.value.remedy == ""


def test_an_object_of_another_cluster_is_not_refused() -> None:
    admission = Admission(GATES, checks=False)
    odd = make_pod("a", priority=7, runtimeClassName="kata", containers=container())

    spec = admission.create(written(odd), Pod).spec

    assert (spec.priority, spec.priority_class_name) == (7, "")
    assert spec.runtime_class_name == "kata"
    assert admission.unknown_classes == {"kata": 1}


@pytest.mark.parametrize(("scope", "deadline"), [("Terminating", 60), ("NotTerminating", None)])
def test_a_quota_for_pods_with_or_without_a_deadline_counts_those_of_a_dump(
    scope: str, deadline: int | None
) -> None:
    raw = {
        "metadata": {"name": "scoped", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}, "scopes": [scope]},
    }

    def pod(name: str, deadline: int | None, **metadata: str) -> Pod:
        spec: dict[str, Any] = {"activeDeadlineSeconds": deadline} if deadline else {}
        return make_pod(name, containers=container(), metadata=metadata, **spec)

    stored = [pod("with", 60, resourceVersion="1"), pod("without", None, resourceVersion="1")]
    admission = Admission(GATES, [msgspec.convert(raw, ResourceQuota), *stored])

    with pytest.raises(ObjectError, match="exceeded quota: scoped"):
        admission.create(written(pod("more", deadline)), Pod)
    other = pod("other", None if deadline else 60)
    assert admission.create(written(other), Pod).name == "other"


def test_a_quota_for_best_effort_pods_counts_those_of_a_dump() -> None:
    raw = {
        "metadata": {"name": "best-effort", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]},
    }
    there = make_pod("there", containers=container(), metadata={"resourceVersion": "1"})
    admission = Admission(GATES, [msgspec.convert(raw, ResourceQuota), there])

    with pytest.raises(ObjectError, match="exceeded quota: best-effort"):
        admission.create(written(make_pod("more", containers=container())), Pod)
    paid = make_pod("paid", containers=container(requests={"cpu": "1"}))
    assert admission.create(written(paid), Pod).name == "paid"

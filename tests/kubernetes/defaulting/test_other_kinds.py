"""Defaults of the kinds around pods."""

from typing import Any

import pytest
from support.apiserver.smallest_objects import smallest
from support.apiserver.written_objects import Object, read, resource_of


def with_defaults(kind: str, group: str = "", **fields: Any) -> Object:
    resource = resource_of(kind, group)
    return read(resource, {**smallest(resource), **fields})


def spec_of(kind: str, group: str = "", **fields: Any) -> Object:
    resource = resource_of(kind, group)
    spec: Object = {**smallest(resource).get("spec", {}), **fields}
    found: Object = with_defaults(kind, group, spec=spec)["spec"]
    return found


def test_a_deployment_rolls_a_quarter_at_a_time() -> None:
    spec = spec_of("Deployment", "apps")
    assert spec["replicas"] == 1
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert (spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (10, 600)


def test_a_deployment_that_recreates_rolls_nothing() -> None:
    assert spec_of("Deployment", "apps", strategy={"type": "Recreate"})["strategy"] == {
        "type": "Recreate"
    }


def test_templates_get_the_defaults_of_pods_but_request_nothing_for_limits() -> None:
    containers = [{"name": "c", "image": "i:1", "resources": {"limits": {"cpu": "1"}}}]
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}}
    spec = spec_of("ReplicaSet", "apps", template=template)["template"]["spec"]
    assert spec["schedulerName"] == "default-scheduler"
    assert spec["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert "enableServiceLinks" not in spec


def test_a_stateful_set_starts_in_order_and_keeps_its_claims() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    spec = spec_of("StatefulSet", "apps", volumeClaimTemplates=[claim])
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert spec["persistentVolumeClaimRetentionPolicy"] == {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
    }
    kept = spec["volumeClaimTemplates"][0]
    assert (kept["kind"], kept["spec"]["volumeMode"]) == ("PersistentVolumeClaim", "Filesystem")
    assert kept["status"] == {"phase": "Pending"}


def test_a_daemon_set_replaces_one_pod_at_a_time() -> None:
    assert spec_of("DaemonSet", "apps")["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ({}, {"parallelism": 1, "completions": 1, "backoffLimit": 6}),
        ({"parallelism": 3}, {"parallelism": 3, "backoffLimit": 6}),
        ({"completions": 5}, {"parallelism": 1, "completions": 5}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2**31 - 1}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
        ({}, {"podReplacementPolicy": "TerminatingOrFailed", "completionMode": "NonIndexed"}),
    ],
)
def test_a_job_runs_once_unless_it_says_otherwise(written: Object, filled: Object) -> None:
    spec = spec_of("Job", "batch", **written)
    assert {key: spec.get(key) for key in filled} == filled
    if "parallelism" in written:
        assert "completions" not in spec


def test_a_cron_job_keeps_three_good_jobs_and_a_bad_one() -> None:
    spec = spec_of("CronJob", "batch")
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 1)
    assert (spec["concurrencyPolicy"], spec["suspend"]) == ("Allow", False)
    assert "parallelism" not in spec["jobTemplate"]["spec"]


def test_a_replication_controller_selects_and_carries_the_labels_of_its_template() -> None:
    template = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": []}}
    controller = with_defaults("ReplicationController", spec={"template": template})
    assert controller["spec"]["selector"] == {"x": "y"}
    assert controller["metadata"]["labels"] == {"x": "y"}


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ({}, {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}),
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster"}),
        ({"type": "LoadBalancer"}, {"allocateLoadBalancerNodePorts": True}),
        ({"externalIPs": ["192.0.2.1"]}, {"externalTrafficPolicy": "Cluster"}),
        (
            {"sessionAffinity": "ClientIP"},
            {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}},
        ),
        ({"ports": [{"port": 80}]}, {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]}),
    ],
)
def test_a_service_is_inside_the_cluster_and_on_tcp(written: Object, filled: Object) -> None:
    spec = spec_of("Service", **written)
    assert {key: spec.get(key) for key in filled} == filled


def test_an_external_name_has_no_policy_for_traffic() -> None:
    spec = spec_of("Service", type="ExternalName", externalName="example.com", ports=None)
    assert "internalTrafficPolicy" not in spec


def test_volumes_are_kept_and_file_systems() -> None:
    spec = spec_of("PersistentVolume", capacity={"storage": "1024Mi"})
    assert spec["persistentVolumeReclaimPolicy"] == "Retain"
    assert (spec["volumeMode"], spec["capacity"]) == ("Filesystem", {"storage": "1Gi"})
    assert spec["hostPath"] == {"path": "/data", "type": ""}


def test_storage_classes_delete_and_bind_at_once() -> None:
    found = with_defaults("StorageClass", "storage.k8s.io")
    assert (found["reclaimPolicy"], found["volumeBindingMode"]) == ("Delete", "Immediate")


def test_csi_drivers_attach_and_persist() -> None:
    spec = spec_of("CSIDriver", "storage.k8s.io")
    assert (spec["attachRequired"], spec["volumeLifecycleModes"]) == (True, ["Persistent"])


def test_requests_for_devices_are_for_one_device() -> None:
    spec = spec_of("ResourceClaim", "resource.k8s.io")
    assert spec["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
    }


def test_requests_for_all_devices_have_no_count() -> None:
    all_of_them = {"deviceClassName": "gpu", "allocationMode": "All"}
    spec = spec_of(
        "ResourceClaim",
        "resource.k8s.io",
        devices={"requests": [{"name": "r", "exactly": all_of_them}]},
    )
    assert spec["devices"]["requests"][0]["exactly"] == all_of_them


def test_allocatable_of_a_node_is_its_capacity() -> None:
    status = with_defaults("Node", status={"capacity": {"cpu": "4000m"}})["status"]
    assert status["allocatable"] == status["capacity"] == {"cpu": "4"}


def test_a_node_has_its_pod_addresses_in_both_fields() -> None:
    assert spec_of("Node", podCIDR="10.1.0.0/24")["podCIDRs"] == ["10.1.0.0/24"]
    assert spec_of("Node", podCIDRs=["10.2.0.0/24"])["podCIDR"] == "10.2.0.0/24"


def test_a_namespace_is_labelled_with_its_name_and_active() -> None:
    found = with_defaults("Namespace")
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert found["status"] == {"phase": "Active"}


def test_plain_texts_of_a_secret_become_data() -> None:
    found = with_defaults("Secret", stringData={"k": "v"}, data={"old": "YQ=="})
    assert found["data"] == {"old": "YQ==", "k": "dg=="}
    assert "stringData" not in found
    assert found["type"] == "Opaque"


def test_limits_for_containers_follow_from_their_maximum_and_minimum() -> None:
    item = {"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Gi"}}
    spec = with_defaults("LimitRange", spec={"limits": [item]})["spec"]
    assert spec["limits"][0]["default"] == {"cpu": "2"}
    assert spec["limits"][0]["defaultRequest"] == {"cpu": "2", "memory": "1Gi"}


def test_role_bindings_are_of_the_group_of_roles() -> None:
    group = "rbac.authorization.k8s.io"
    found = with_defaults(
        "RoleBinding",
        group,
        roleRef={"kind": "Role", "name": "r"},
        subjects=[{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}],
    )
    assert found["roleRef"]["apiGroup"] == group
    assert [each.get("apiGroup") for each in found["subjects"]] == [group, None]

"""Rows of the kinds around pods."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.apiserver.schema_values import objects_of
from support.apiserver.smallest_objects import KINDS, smallest
from support.apiserver.written_objects import NOW, Object, read, resource_of

from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.schema import schema_of
from podium.kubernetes.tables import cells, columns, printer_of, row_conditions

EPOCH = 1_767_225_600.0
BATCH, DRA, STORAGE = "batch", "resource.k8s.io", "storage.k8s.io"


def row(kind: str, group: str = "", /, **fields: Any) -> list[Any]:
    resource = resource_of(kind, group)
    written = {**smallest(resource), **fields}
    written["metadata"] = {"name": "a", "creationTimestamp": NOW, **fields.get("metadata", {})}
    return cells(resource, read(resource, written), EPOCH + 60)


def spec_with(kind: str, group: str = "", /, **fields: Any) -> Object:
    return {**smallest(resource_of(kind, group)).get("spec", {}), **fields}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (row("Namespace"), ["a", "Active", "60s"]),
        (row("ConfigMap", data={"x": "y"}, binaryData={"z": ""}), ["a", 2, "60s"]),
        (row("Secret", stringData={"x": "y"}), ["a", "Opaque", 1, "60s"]),
        (row("PriorityClass", "scheduling.k8s.io"), ["a", 5, False, "60s", "PreemptLowerPriority"]),
        (row("PodDisruptionBudget", "policy"), ["a", "1", "N/A", 0, "60s"]),
        (row("Lease", "coordination.k8s.io", spec={"holderIdentity": "h"}), ["a", "h", "60s"]),
        (row("ResourceSlice", DRA), ["a", "n1", "gpu.example.com", "n1", "60s"]),
        (row("ResourceClaim", DRA), ["a", "pending", "60s"]),
        (
            row("ResourceClaim", DRA, status={"allocation": {}, "reservedFor": [{"name": "p"}]}),
            ["a", "allocated,reserved", "60s"],
        ),
        (
            row("ResourceClaim", DRA, metadata={"deletionTimestamp": NOW}),
            ["a", "deleted", "60s"],
        ),
        (
            row("StorageClass", STORAGE),
            ["a", "example.com/disk", "Delete", "Immediate", False, "60s"],
        ),
        (
            row(
                "StorageClass",
                STORAGE,
                metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
            )[0],
            "a (default)",
        ),
        (
            row("VolumeAttachment", STORAGE),
            ["a", "example.com", "pv", "n1", False, "60s"],
        ),
        (row("CSINode", STORAGE), ["a", 0, "60s"]),
        (
            row("CSIDriver", STORAGE),
            ["a", True, False, False, "<unset>", False, "Persistent", "60s"],
        ),
        (row("RuntimeClass", "node.k8s.io", handler="runsc"), ["a", "runsc", "60s"]),
        (
            row("PersistentVolume"),
            [
                "a", "1Gi", "RWO", "Retain", "Pending", "", "", "<unset>", "", "60s", "Filesystem",
            ],
        ),
        (
            row("PersistentVolumeClaim"),
            ["a", "Pending", "", "", "", "", "<unset>", "60s", "Filesystem"],
        ),
        (
            row(
                "PersistentVolumeClaim",
                spec=spec_with("PersistentVolumeClaim", volumeName="v", storageClassName="s"),
                status={
                    "phase": "Bound",
                    "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                },
            ),
            ["a", "Bound", "v", "1Gi", "RWO,RWX", "s", "<unset>", "60s", "Filesystem"],
        ),
        (
            row("Deployment", "apps", status={"readyReplicas": 1, "updatedReplicas": 1}),
            ["a", "1/1", 1, 0, "60s", "c", "img:1", "app=a"],
        ),
        (
            row("ReplicaSet", "apps", status={"replicas": 2}),
            ["a", 1, 2, 0, "60s", "c", "img:1", "app=a"],
        ),
        (row("StatefulSet", "apps"), ["a", "0/1", "60s", "c", "img:1"]),
        (
            row("DaemonSet", "apps"),
            ["a", 0, 0, 0, 0, 0, "<none>", "60s", "c", "img:1", "app=a"],
        ),
        (
            row("Job", BATCH, status={"startTime": NOW, "succeeded": 1}),
            ["a", "Running", "1/1", "60s", "60s", "c", "img:1", "<none>"],
        ),
        (
            row("Job", BATCH, status={"conditions": [{"type": "Failed", "status": "True"}]})[1],
            "Failed",
        ),
        (row("Job", BATCH, spec=spec_with("Job", BATCH, parallelism=3))[2], "0/1 of 3"),
        (
            row("CronJob", BATCH)[:7],
            ["a", "* * * * *", "<none>", "False", 0, "<none>", "60s"],
        ),
        (
            row("ControllerRevision", "apps", metadata={"ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": True}
            ]}),
            ["a", "daemonset.apps/d", 1, "60s"],
        ),
        (
            row("Service", spec={"type": "NodePort", "clusterIPs": ["10.0.0.2"], "ports": [
                {"port": 80, "nodePort": 30001}, {"port": 53, "protocol": "UDP"}
            ]}),
            ["a", "NodePort", "10.0.0.2", "<none>", "80:30001/TCP,53/UDP", "60s", "<none>"],
        ),
        (row("Service", spec=spec_with("Service", type="LoadBalancer"))[3], "<pending>"),
        (
            row(
                "Service",
                spec=spec_with("Service", type="LoadBalancer", externalIPs=["192.0.2.9"]),
                status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
            )[3],
            "192.0.2.1,192.0.2.9",
        ),
        (
            row("Service", spec={"type": "ExternalName", "externalName": "example.com"})[2:4],
            ["<none>", "example.com"],
        ),
        (
            row("Endpoints", subsets=[{
                "addresses": [{"ip": "10.1.0.1"}, {"ip": "2001:db8::1"}],
                "ports": [{"port": 80}, {"port": 81}],
            }])[1],
            "10.1.0.1:80,[2001:db8::1]:80,10.1.0.1:81 + 1 more...",
        ),
        (row("Endpoints"), ["a", "<none>", "60s"]),
        (
            row("EndpointSlice", "discovery.k8s.io", ports=[{"port": 80}], endpoints=[
                {"addresses": ["10.1.0.1"]}
            ]),
            ["a", "IPv4", "80", "10.1.0.1", "60s"],
        ),
        (
            row("ResourceQuota", status={
                "hard": {"limits.cpu": "4", "pods": "9"}, "used": {"pods": "1"}
            }),
            ["a", "pods: 1/9", "limits.cpu: 0/4", "60s"],
        ),
        (
            row("RoleBinding", "rbac.authorization.k8s.io", subjects=[
                {"kind": "User", "name": "u"},
                {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
            ]),
            ["a", "ClusterRole/r", "60s", "u", "", "n/s"],
        ),
        (row("LimitRange"), ["a", NOW]),
    ],
)  # fmt: skip
def test_an_object_is_shown_with_its_essentials(found: Any, expected: Any) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "Unknown"),
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "Ready"),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, "NotReady"),
        (
            {
                "spec": {"unschedulable": True},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            },
            "Ready,SchedulingDisabled",
        ),
    ],
)
def test_a_node_is_ready_or_not_and_open_or_not(fields: Object, state: str) -> None:
    assert row("Node", **fields)[1] == state


def test_a_node_shows_its_roles_addresses_and_system() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge"}
    status = {
        "addresses": [{"type": "InternalIP", "address": "10.2.0.1"}],
        "nodeInfo": {
            "kubeletVersion": "v1.36.4",
            "osImage": "Linux",
            "kernelVersion": "6.1",
            "architecture": "arm64",
            "containerRuntimeVersion": "containerd://2",
        },
    }
    assert row("Node", metadata={"labels": labels}, status=status) == [
        "a", "Unknown", "edge,worker", "60s", "v1.36.4", "10.2.0.1", "<none>", "Linux",
        "6.1 (arm64)", "containerd://2",
    ]  # fmt: skip


def test_an_event_of_either_group_shows_the_same() -> None:
    old = {
        "type": "Warning",
        "reason": "Why",
        "message": " text\n",
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
        "source": {"component": "c", "host": "h"},
        "firstTimestamp": NOW,
        "lastTimestamp": NOW,
        "count": 3,
    }
    new = {
        "type": "Warning",
        "reason": "Why",
        "note": " text\n",
        "regarding": {"kind": "Pod", "name": "p", "fieldPath": "spec"},
        "deprecatedSource": {"component": "c", "host": "h"},
        "deprecatedFirstTimestamp": NOW,
        "deprecatedLastTimestamp": NOW,
        "deprecatedCount": 3,
    }
    expected = ["60s", "Warning", "Why", "pod/p", "spec", "c, h", "text", "60s", 3, "a"]
    assert row("Event", **old) == expected
    assert row("Event", "events.k8s.io", **new, reportingController="") == expected


def test_a_series_of_events_was_last_seen_when_the_series_says() -> None:
    series = {"count": 7, "lastObservedTime": "2026-01-01T00:00:50.000000Z"}
    found = row("Event", "events.k8s.io", series=series)
    assert (found[0], found[7], found[8]) == ("10s", "60s", 7)


@given(resource=st.sampled_from(KINDS), data=st.data())
@settings(max_examples=200, deadline=None)
def test_every_object_has_a_plain_cell_for_every_column(
    resource: ApiResource, data: st.DataObject
) -> None:
    schema = schema_of(resource.group, resource.version, resource.kind)
    obj = read(resource, data.draw(objects_of(schema)))
    found = cells(resource, obj, EPOCH)
    assert len(found) == len(columns(resource))
    assert all(cell is None or isinstance(cell, str | int | bool) for cell in found)
    assert isinstance(row_conditions(resource, obj), list)


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.group_resource)
def test_wide_columns_never_stand_before_the_name(resource: ApiResource) -> None:
    first = printer_of(resource).columns[0]
    assert first["priority"] == 0
    assert first["name"] in ("Name", "Last Seen")

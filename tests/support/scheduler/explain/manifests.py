"""Manifests for pending pods and what they ask for, as in YAML: without a server's defaults."""

from collections.abc import Mapping, Sequence
from typing import Any

Manifest = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
ZONES = {"a": "eu-1a", "b": "eu-1b", "c": "eu-1c"}
DISK_DRIVER = "disk.example.com"
GPU_DRIVER = "gpu.example.com"
NIC_DRIVER = "nic.example.com"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"


def pod(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    requests: Mapping[str, str] | None = None,
    node: str = "",
    ports: Sequence[int] = (),
    claims: Sequence[str] = (),
    devices: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod; `claims` are PersistentVolumeClaims, `devices` ResourceClaims by name."""
    container: Manifest = {"name": "main", "image": "registry.example.com/app:1"}
    if requests:
        container["resources"] = {"requests": dict(requests), "limits": _limits(requests)}
    if ports:
        container["ports"] = [{"containerPort": port, "hostPort": port} for port in ports]
    body: Manifest = {"containers": [container], **spec}
    if node:
        body["nodeName"] = node
    if claims:
        body["volumes"] = [
            {"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims
        ]
    if devices:
        body["resourceClaims"] = [{"name": d, "resourceClaimName": d} for d in devices]
        container.setdefault("resources", {})["claims"] = [{"name": d} for d in devices]
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": dict(labels or {})}
        | dict(metadata or {}),
        "spec": body,
    }
    if node:
        made["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    if status:
        made["status"] = dict(status)
    return made


def _limits(requests: Mapping[str, str]) -> dict[str, str]:
    return {name: amount for name, amount in requests.items() if "/" in name}


def claim(
    name: str,
    storage_class: str | None = "",
    *,
    volume: str = "",
    size: str = "10Gi",
    modes: Sequence[str] = ("ReadWriteOnce",),
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
) -> Manifest:
    """A PersistentVolumeClaim; one with a volume is bound."""
    annotations = {BIND_COMPLETED: "yes"} if volume else {}
    spec: Manifest = {
        "accessModes": list(modes),
        "resources": {"requests": {"storage": size}},
        "storageClassName": storage_class,
    }
    if volume:
        spec["volumeName"] = volume
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations}
        | dict(metadata or {}),
        "spec": spec,
        "status": dict(status or {"phase": "Bound" if volume else "Pending"}),
    }


def volume(
    name: str,
    *,
    bound_to: str = "",
    storage_class: str = "",
    size: str = "10Gi",
    hosts: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    **source: Any,
) -> Manifest:
    """A PersistentVolume, reachable from everywhere or from the nodes in `hosts`."""
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size},
        "storageClassName": storage_class,
        **(source or {"csi": {"driver": DISK_DRIVER, "volumeHandle": name}}),
    }
    if hosts:
        expression = {"key": HOSTNAME, "operator": "In", "values": list(hosts)}
        terms = [{"matchExpressions": [expression]}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if bound_to:
        spec["claimRef"] = {"name": bound_to, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": spec,
        "status": {"phase": "Bound" if bound_to else "Available"},
    }


def storage_class(name: str, provisioner: str, mode: str, **fields: Any) -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **fields,
    }


def device_claim(
    name: str,
    device_class: str,
    *,
    count: int = 1,
    expression: str = "",
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    constraints: Sequence[Mapping[str, Any]] = (),
    **exactly: Any,
) -> Manifest:
    """A ResourceClaim with one request, named `main`."""
    wanted: Manifest = {
        "deviceClassName": device_class,
        "allocationMode": "ExactCount",
        "count": count,
        **exactly,
    }
    if expression:
        wanted["selectors"] = [{"cel": {"expression": expression}}]
    devices: Manifest = {"requests": [{"name": "main", "exactly": wanted}]}
    if constraints:
        devices["constraints"] = [dict(constraint) for constraint in constraints]
    made: Manifest = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"} | dict(metadata or {}),
        "spec": {"devices": devices},
    }
    if status:
        made["status"] = dict(status)
    return made


def allocation(driver: str, pool: str, device: str, node: str) -> Manifest:
    """The status of a ResourceClaim that holds a device of a node."""
    result = {"request": "main", "driver": driver, "pool": pool, "device": device}
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"allocation": {"devices": {"results": [result]}, "nodeSelector": selector}}

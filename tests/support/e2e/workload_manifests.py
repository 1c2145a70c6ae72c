"""Manifests of nodes, workloads and what they name, as short as tests want to write them."""

from typing import Any

Manifest = dict[str, Any]


def node(name: str, cpu: str = "4", memory: str = "16Gi", **more: Any) -> Manifest:
    labels = {
        "podium.dev/simulated": "true",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        **more.get("labels", {}),
    }
    amounts = {"cpu": cpu, "memory": memory, "pods": "110", **more.get("amounts", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": more["taints"]} if "taints" in more else {},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def three_nodes(**more: Any) -> tuple[Manifest, ...]:
    zones = ("topology.kubernetes.io/zone",)
    return tuple(
        node(
            f"node-{at}",
            **{**more, "labels": {**dict.fromkeys(zones, f"zone-{at}"), **more.get("labels", {})}},
        )
        for at in range(3)
    )


def pod_spec(cpu: str = "500m", memory: str = "128Mi", **spec: Any) -> Manifest:
    container: Manifest = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": cpu, "memory": memory, **spec.pop("requests", {})}},
    }
    if "limits" in spec:
        container["resources"]["limits"] = spec.pop("limits")
    if "ports" in spec:
        container["ports"] = spec.pop("ports")
    return {"terminationGracePeriodSeconds": 0, "containers": [container], **spec}


def pod(name: str, **spec: Any) -> Manifest:
    metadata = {"name": name, "labels": {"app": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec(**spec)}


def _replicated(
    api: str, kind: str, name: str, replicas: int, more: Manifest, spec: Any
) -> Manifest:
    labels = {"app": name}
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(**spec)},
            **more,
        },
    }


def deployment(name: str, replicas: int = 2, *, strategy: Any = None, **spec: Any) -> Manifest:
    more = {"strategy": strategy} if strategy else {}
    return _replicated("apps/v1", "Deployment", name, replicas, more, spec)


def replica_set(name: str, replicas: int = 2, **spec: Any) -> Manifest:
    return _replicated("apps/v1", "ReplicaSet", name, replicas, {}, spec)


def stateful_set(name: str, replicas: int = 2, *, parallel: bool = False, **spec: Any) -> Manifest:
    more: Manifest = {"serviceName": name}
    if parallel:
        more["podManagementPolicy"] = "Parallel"
    return _replicated("apps/v1", "StatefulSet", name, replicas, more, spec)


def daemon_set(name: str, **spec: Any) -> Manifest:
    made = _replicated("apps/v1", "DaemonSet", name, 0, {}, spec)
    del made["spec"]["replicas"]
    return made


def job(name: str, parallelism: int = 1, **spec: Any) -> Manifest:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": parallelism,
            "completions": parallelism,
            "template": {"spec": pod_spec(restartPolicy="Never", **spec)},
        },
    }


def storage_class(name: str, mode: str = "WaitForFirstConsumer") -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "disk.example.com",
        "volumeBindingMode": mode,
    }


def claim(name: str, class_name: str | None = None) -> Manifest:
    spec: Manifest = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    if class_name is not None:
        spec["storageClassName"] = class_name
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": spec,
    }


def uses(claim_name: str) -> list[Manifest]:
    return [{"name": "data", "persistentVolumeClaim": {"claimName": claim_name}}]


def priority_class(name: str, value: int, policy: str = "PreemptLowerPriority") -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": policy,
    }


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> Manifest:
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


def apart(name: str, key: str = "kubernetes.io/hostname") -> Manifest:
    """Anti-affinity to the pods of a name."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": name}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def together(name: str, key: str = "kubernetes.io/hostname") -> Manifest:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": name}}}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def on_nodes(key: str, *values: str, operator: str = "In") -> Manifest:
    expression = {"key": key, "operator": operator, "values": list(values)}
    terms = [{"matchExpressions": [expression]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


def spread(name: str, key: str = "topology.kubernetes.io/zone", **more: Any) -> list[Manifest]:
    constraint = {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": name}},
        **more,
    }
    return [constraint]

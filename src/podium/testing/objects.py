"""Short ways to write nodes, pods and clusters in tests.

Values are given as a user would write them in YAML and decoded like any other input, so tests
exercise the same path as files do.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.kubernetes.rules.requests import ALL_REQUESTS
from podium.scheduler.cluster.pod_info import request_rules
from podium.scheduler.cluster.state import Cluster
from podium.scheduler.framework.handle import Handle
from podium.scheduler.framework.queued import WaitingPods


def make_node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    taints: Iterable[tuple[str, str, str]] = (),
    allocatable: Mapping[str, Any] | None = None,
    unschedulable: bool = False,
    images: Mapping[str, int] | None = None,
    features: Iterable[str] = (),
) -> Node:
    """A node; taints are (key, value, effect), images are name -> bytes."""
    raw: dict[str, Any] = {
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {
            "unschedulable": unschedulable,
            "taints": [{"key": k, "value": v, "effect": e} for k, v, e in taints],
        },
        "status": {
            "allocatable": dict(allocatable or {"cpu": "4", "memory": "8Gi", "pods": 110}),
            "images": [{"names": [n], "sizeBytes": s} for n, s in (images or {}).items()],
            "declaredFeatures": list(features),
        },
    }
    return msgspec.convert(raw, Node)


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    node: str = "",
    requests: Mapping[str, Any] | None = None,
    priority: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Pod:
    """A pod with one container unless `containers=` is given; other keywords go into the spec
    under their Kubernetes names (`nodeSelector=...`)."""
    body: dict[str, Any] = {
        "containers": [
            {"name": "main", "image": "app:v1", "resources": {"requests": dict(requests or {})}}
        ],
        "nodeName": node,
        **spec,
    }
    if priority is not None:
        body["priority"] = priority
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{namespace}-{name}"}
    raw = {
        "metadata": {**meta, "labels": dict(labels or {}), **(metadata or {})},
        "spec": body,
        "status": dict(status or {}),
    }
    return msgspec.convert(raw, Pod)


def make_cluster(nodes: Iterable[Node] = (), pods: Iterable[Pod] = ()) -> Cluster:
    """A cluster of nodes with pods that are on them."""
    cluster = Cluster(ALL_REQUESTS)
    for node in nodes:
        cluster.put_node(node)
    for pod in pods:
        cluster.add_pod(pod)
    return cluster


def make_handle(cluster: Cluster | None = None, **gates: bool) -> Handle:
    """A handle for a plugin that stands alone; keywords switch feature gates."""
    switched = FeatureGates(gates)
    return Handle(cluster or Cluster(request_rules(switched)), switched, WaitingPods())

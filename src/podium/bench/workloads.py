"""Clusters and pods to measure with.

The shapes follow the reference scheduler's performance suite: nodes of 4 CPUs, 32 GiB and 110 pods
in a few zones, small pods, one rule per workload. Everything is made as JSON-like data, so that a
generated workload and one read from a file take the same way in.
"""

from collections.abc import Callable
from typing import Any

ZONES = ("zone-a", "zone-b", "zone-c")

Raw = dict[str, Any]


def make_workload(name: str, nodes: int, pods: int, init: int | None = None) -> Raw:
    """`{"nodes": [...], "init": [...], "pods": [...]}` of a named workload."""
    template = WORKLOADS[name]
    placed = min(1000, nodes) if init is None else init
    return {
        "nodes": [_node(i) for i in range(nodes)],
        "init": [_bound(template("init", i), i % nodes) for i in range(placed)],
        "pods": [template("pod", i) for i in range(pods)],
    }


def _node(index: int) -> Raw:
    name = f"node-{index:06d}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "topology.kubernetes.io/zone": ZONES[index % len(ZONES)],
            },
        },
        "spec": {},
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    }


def _bound(pod: Raw, node: int) -> Raw:
    pod["spec"]["nodeName"] = f"node-{node:06d}"
    pod["status"] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    return pod


def _pod(prefix: str, index: int, labels: dict[str, str] | None = None, **spec: Any) -> Raw:
    name = f"{prefix}-{index:06d}"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "bench", "uid": name, "labels": labels or {}},
        "spec": {
            "schedulerName": "default-scheduler",
            "priority": 0,
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/pause:3.10",
                    "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}},
                }
            ],
            **spec,
        },
    }


def _basic(prefix: str, index: int) -> Raw:
    return _pod(prefix, index)


def _spread(prefix: str, index: int) -> Raw:
    constraint = {
        "maxSkew": 5,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"color": "blue"}},
    }
    return _pod(prefix, index, {"color": "blue"}, topologySpreadConstraints=[constraint])


def _term(key: str, color: str) -> Raw:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"color": color}}}


def _affinity(prefix: str, index: int) -> Raw:
    required = [_term("topology.kubernetes.io/zone", "blue")]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return _pod(prefix, index, {"color": "blue"}, affinity=affinity)


def _anti_affinity(prefix: str, index: int) -> Raw:
    required = [_term("kubernetes.io/hostname", "green")]
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return _pod(prefix, index, {"color": "green"}, affinity=affinity)


def _mixed(prefix: str, index: int) -> Raw:
    turn: tuple[Callable[[str, int], Raw], ...] = (_basic, _spread, _affinity, _anti_affinity)
    return turn[index % len(turn)](prefix, index)


WORKLOADS: dict[str, Callable[[str, int], Raw]] = {
    "basic": _basic,
    "spread": _spread,
    "affinity": _affinity,
    "anti-affinity": _anti_affinity,
    "mixed": _mixed,
}

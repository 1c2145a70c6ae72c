"""The cluster that hostile pods come to, and nodes that are as large as an object can be."""

from collections.abc import Callable
from typing import Final

from podium.bench.hostile_bodies import Table
from podium.bench.hostile_pods import (
    RANK,
    ZONES,
    HostilePod,
    Object,
    fill,
    fill_map,
    make_hostile_pod,
    select,
)


def make_scene_nodes(number: int = 1_000) -> list[Object]:
    return [make_scene_node(n) for n in range(number)]


def make_scene_node(number: int, **labels: str) -> Object:
    name = f"node-{number}"
    taints = [{"key": "pool", "value": str(number), "effect": "PreferNoSchedule"}]
    if number % 10 == 9:
        taints.append({"key": "pool", "value": f"v{number}", "effect": "NoSchedule"})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "zone": f"zone-{number % ZONES}",
                RANK: str(number),
                **labels,
            },
        },
        "spec": {"taints": taints},
        "status": {
            "allocatable": {
                "cpu": "64",
                "memory": "256Gi",
                "pods": 110,
                "ephemeral-storage": "1Ti",
            },
            "images": [{"names": [f"app-{number}:v1"], "sizeBytes": 50_000_000}],
        },
    }


def make_scene_pods(number: int = 2_000, kinds: int = 200) -> list[Object]:
    """Pods on the nodes: of several tenants, of many workloads, some with ports and affinity."""
    return [_scene_pod(n, n % kinds) for n in range(number)]


def _scene_pod(number: int, kind: int) -> Object:
    app = {"app": f"web-{kind}"}
    anti = {"topologyKey": "kubernetes.io/hostname", "labelSelector": select(**app)}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [anti]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "namespace": "tenant" if kind % 2 else f"ns-{kind % 20}",
            "uid": f"uid-pod-{number}",
            "labels": {**app, "tier": f"t{kind % 5}"},
        },
        "spec": {
            "nodeName": f"node-{number % 1_000}",
            "containers": [
                {
                    "name": "main",
                    "image": "app:v1",
                    "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                    "ports": [{"containerPort": 80, "hostPort": 1_000 + kind}],
                }
            ],
            **({"affinity": {"podAntiAffinity": required}} if kind % 4 == 0 else {}),
        },
    }


# --- nodes that are hostile themselves ----------------------------------------------------------


def _full_nodes(make: Callable[[int], Object], number: int = 5) -> HostilePod:
    """A plain pod, and nodes that are as large as they can be."""
    return make_hostile_pod(nodes=[_fill_node(n, make(n)) for n in range(number)])


def _fill_node(number: int, parts: Object) -> Object:
    node = make_scene_node(10_000 + number)
    for name, part in parts.items():
        node[name] = {**node[name], **part}
    return node


FULL_NODES: Final = Table[HostilePod](
    {
        "taints": lambda: _full_nodes(
            lambda node: {
                "spec": {
                    "taints": fill(
                        lambda n: {"key": f"k{n}", "value": f"{node}", "effect": "NoSchedule"}
                    )
                }
            }
        ),
        "soft taints": lambda: _full_nodes(
            lambda node: {
                "spec": {
                    "taints": fill(
                        lambda n: {"key": f"k{n}", "value": f"{node}", "effect": "PreferNoSchedule"}
                    )
                }
            }
        ),
        "labels": lambda: _full_nodes(
            lambda node: {
                "metadata": {
                    "name": f"full-{node}",
                    "labels": fill_map(lambda n: (f"k{node}-{n}", "v")),
                }
            }
        ),
        "images": lambda: _full_nodes(
            lambda node: {
                "status": {
                    "allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110},
                    "images": fill(
                        lambda n: {"names": [f"app-{node}-{n}:v1"], "sizeBytes": 30_000_000}
                    ),
                }
            }
        ),
        "resources": lambda: _full_nodes(
            lambda node: {
                "status": {
                    "allocatable": fill_map(
                        lambda n: ("cpu", "4") if not n else (f"example.com/r{node}-{n}", "1"), 12
                    )
                }
            }
        ),
    }
)

"""Scenes: nodes and pods as the reference scheduler's performance suite has them.

Nodes have 4 CPUs, 32 GiB and room for 110 pods; a pod asks for 100m and 500Mi unless a case says
otherwise. Values are written as in a manifest and decoded like any other input. Every node carries
its host name, which half of the cases need and the others do not read.

What is measured: a cluster, the pods that come to it, and what happens meanwhile. A case builds a
scene from a plan, so that one definition serves every size. Objects are made one by one as they are
loaded: a hundred thousand nodes as untyped data would be most of the memory that is then reported.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import convert

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import Namespace, Service

Raw = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
IMAGE = "registry.k8s.io/pause:3.10"
STARTED = "2026-01-01T00:00:00Z"
SMALL: Raw = {"cpu": "100m", "memory": "500Mi"}
PODS_BY_CPU = 40
"""How many small pods fill a node."""


def node_name(index: int) -> str:
    return f"node-{index:06d}"


def make_node(
    name: str,
    *,
    labels: dict[str, str] | None = None,
    taints: Sequence[Raw] = (),
    allocatable: Raw | None = None,
) -> Node:
    status = {"cpu": "4", "memory": "32Gi", "pods": "110", **(allocatable or {})}
    return convert(
        {
            "metadata": {"name": name, "labels": {HOSTNAME: name, **(labels or {})}},
            "spec": {"taints": list(taints)} if taints else {},
            "status": {
                "capacity": status,
                "allocatable": status,
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        },
        Node,
    )


def make_nodes(
    count: int, *, zones: Sequence[str] = (), allocatable: Raw | None = None
) -> Iterator[Node]:
    """Nodes in turn over the zones; without zones they have no such label."""
    for index in range(count):
        labels = {ZONE: zones[index % len(zones)]} if zones else None
        yield make_node(node_name(index), labels=labels, allocatable=allocatable)


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    labels: dict[str, str] | None = None,
    requests: Raw | None = SMALL,
    priority: int = 0,
    status: Raw | None = None,
    **spec: Any,
) -> Pod:
    """A pod of one container; keywords beyond those named are fields of its spec. No `requests`
    means none at all."""
    container: Raw = {"name": "pause", "image": IMAGE, "ports": [{"containerPort": 80}]}
    if requests is not None:
        container["resources"] = {"requests": requests, "limits": requests}
    return convert(
        {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"{namespace}/{name}",
                "labels": labels,
            },
            "spec": {
                "schedulerName": "default-scheduler",
                "priority": priority,
                "containers": [container],
                **spec,
            },
            "status": {"phase": "Pending"} if status is None else status,
        },
        Pod,
    )


def on_node(index: int) -> Raw:
    """Keywords for `make_pod` that put a pod on a node."""
    return {
        "nodeName": node_name(index),
        "status": {"phase": "Running", "startTime": STARTED},
    }


def make_namespaces(prefix: str, count: int) -> Iterator[Namespace]:
    """Namespaces that the selectors of the NSSelector cases select."""
    for index in range(count):
        metadata = {"name": f"{prefix}-{index}", "labels": {"team": "devops"}}
        yield convert({"metadata": metadata}, Namespace)


def make_service(name: str, namespace: str, app: str) -> Service:
    metadata = {"name": name, "namespace": namespace}
    return convert({"metadata": metadata, "spec": {"selector": {"app": app}}}, Service)


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """How much of everything; a case reads what it knows of."""

    nodes: int
    init: int
    pods: int
    signatures: int = 1000
    selectors: int = 100
    domains: int = 1000


@dataclass(frozen=True, slots=True)
class ArrivingPod:
    """A pending pod, after the objects that controllers make for it."""

    pod: Pod
    objects: tuple[KubeStruct, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that happens while pods are scheduled: objects come, others go."""

    put: tuple[KubeStruct, ...] = ()
    delete: tuple[KubeStruct, ...] = ()


@dataclass(frozen=True, slots=True)
class Churn:
    """Something that goes on beside the measured pods, every so often on the virtual clock."""

    every_s: float
    turn: Callable[[int], Turn]
    """What happens at the turn of a number, counted from 0."""


@dataclass(slots=True)
class Scene:
    nodes: Iterable[Node]
    measured: Iterable[ArrivingPod]
    init: Iterable[Pod] = ()
    """Pods that are there before: on nodes, or held back by a gate."""
    objects: Iterable[KubeStruct] = ()
    churn: tuple[Churn, ...] = ()
    configuration: Mapping[str, object] | None = None
    """As a file has it; the default profile without one."""
    answers: Mapping[str, object] = field(default_factory=dict)
    """What sources of plugins have answered, by their names."""


def arrivals(pods: Iterable[Pod]) -> Iterable[ArrivingPod]:
    return (ArrivingPod(pod) for pod in pods)

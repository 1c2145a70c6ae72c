"""Small clusters for questions about what would be."""

from collections.abc import Iterable
from typing import Any

from podium.kubernetes.controllers.workloads import Workload
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.offline.simulate import Scenario, Simulation
from podium.scheduler.config.load import load_configuration
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def node(name: str, zone: str = "a", *, cpu: str = "4", pods: int = 10, **more: Any) -> Node:
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": pods}
    return make_node(name, labels={HOST: name, ZONE: zone}, allocatable=allocatable, **more)


def pod(name: str, cpu: str = "1", memory: str = "", *, port: int = 0, **more: Any) -> Pod:
    requests = {"cpu": cpu, **({"memory": memory} if memory else {})}
    container: dict[str, Any] = {
        "name": "main",
        "image": "app",
        "resources": {"requests": requests},
    }
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port}]
    return make_pod(name, containers=[container], **more)


def owned(name: str, owner: str, kind: str = "ReplicaSet", **more: Any) -> Pod:
    """A pod that a controller would make again."""
    reference = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": owner,
        "uid": f"uid-{owner}",
        "controller": True,
    }
    return pod(name, metadata={"ownerReferences": [reference]}, **more)


def anti_affinity(key: str, app: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def simulation(
    nodes: Iterable[Node],
    running: Iterable[Pod] = (),
    pending: Iterable[Pod] = (),
    objects: Iterable[Any] = (),
    *,
    workloads: Iterable[Workload] = (),
    validate: bool = False,
) -> Simulation:
    scenario = Scenario(
        tuple(nodes), tuple(running), tuple(pending), tuple(objects), workloads=tuple(workloads)
    )
    registry = in_tree_registry()
    return Simulation(
        scenario,
        load_configuration(None, gates=FeatureGates()),
        registry,
        validate=validate,
        gates=FeatureGates(),
    )

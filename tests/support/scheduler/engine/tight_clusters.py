"""Small clusters in which somebody has to leave.

Nodes with room for a few pods, pods with a priority and a start, budgets, and what an attempt under
the default profile decided about them.
"""

from typing import Any

import msgspec

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.workloads import PodDisruptionBudget
from podium.kubernetes.releases.feature_gates import FeatureGates
from podium.scheduler.config.load import load_configuration
from podium.scheduler.engine.decision import Decision
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.engine.search import FirstByName
from podium.scheduler.framework.status import Code
from podium.scheduler.plugins import in_tree_registry
from podium.testing import make_node, make_pod

PREEMPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def small(name: str, cpu: int = 2, pods: int = 10) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": pods})


def running(name: str, node: str, priority: int = 0, cpu: float = 1, **more: Any) -> Pod:
    start = more.pop("start", None)
    status = more.pop("status", {})
    if start is not None:
        status = {**status, "startTime": f"2026-01-01T00:00:{start:02}Z"}
    return make_pod(
        name, node=node, priority=priority, requests={"cpu": cpu}, status=status, **more
    )


def pending(priority: int = 10, cpu: float = 1, **more: Any) -> Pod:
    return make_pod("pending", priority=priority, requests={"cpu": cpu}, **more)


def budget(name: str, allowed: int, selector: Any = None, **status: Any) -> PodDisruptionBudget:
    raw = {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "x"}} if selector is None else selector},
        "status": {"disruptionsAllowed": allowed, **status},
    }
    return msgspec.convert(raw, PodDisruptionBudget)


def engine_of(*pods_and_nodes: Node | Pod | PodDisruptionBudget) -> Engine:
    engine = Engine(
        load_configuration(None, gates=FeatureGates()),
        in_tree_registry(),
        choice=FirstByName(),
        gates=FeatureGates(),
    )
    for obj in pods_and_nodes:
        if isinstance(obj, Node):
            engine.cluster.put_node(obj)
        elif isinstance(obj, Pod):
            engine.cluster.add_pod(obj)
        else:
            engine.cluster.catalog.put(obj)
    return engine


def decide(engine: Engine, pod: Pod | None = None) -> Decision:
    return engine.schedule(engine.cluster.infos.of(pod or pending())).decision


def chosen(decision: Decision) -> tuple[str | None, list[str]]:
    outcome = decision.post_filter
    assert outcome is not None
    assert outcome.code is Code.SUCCESS, outcome
    return outcome.nominated_node, [victim.pod.metadata.name for victim in outcome.victims]


def labelled(name: str, node: str, priority: int, **more: Any) -> Pod:
    return running(name, node, priority, labels={"app": "x"}, **more)

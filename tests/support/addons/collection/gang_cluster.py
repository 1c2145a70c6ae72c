"""A small cluster with Coscheduling: nodes hold whole cpus, members ask for one."""

from collections.abc import Mapping
from typing import Any

import msgspec

from podium.addons.collection.coscheduling.plugin import Coscheduling
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.scheduler_plugins import POD_GROUP_LABEL, SchedulingXPodGroup
from podium.testing import FakeCluster, make_node, make_pod


def group(
    name: str,
    min_member: int,
    *,
    metadata: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **spec: Any,
) -> SchedulingXPodGroup:
    """A PodGroup; other keywords go into the spec under their Kubernetes names."""
    raw = {
        "metadata": {"name": name, "namespace": "default", **(metadata or {})},
        "spec": {"minMember": min_member, **spec},
        "status": dict(status or {}),
    }
    return msgspec.convert(raw, SchedulingXPodGroup)


def member(name: str, of: str = "g", *, cpu: str = "1", **more: Any) -> Pod:
    labels = {POD_GROUP_LABEL: of, **more.pop("labels", {})}
    return make_pod(name, labels=labels, requests={"cpu": cpu}, **more)


def node(name: str, cpu: int) -> Node:
    return make_node(name, allocatable={"cpu": cpu, "memory": "64Gi", "pods": 110})


class GangCluster(FakeCluster):
    """`settle` lets the engine work until it has nothing to do, and binds whoever may be bound."""

    def __init__(self, *objects: Any, args: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(
            *objects,
            plugins=[Coscheduling],
            args={"Coscheduling": dict(args or {})},
            **more,
        )
        self.tried: list[str] = []

    def settle(self) -> dict[str, str]:
        for _ in range(10_000):
            attempt = self.attempt()
            for name in list(self.bindings):
                self.bound(name)
            if attempt is None:
                return self.where()
            self.tried.append(attempt.decision.pod.pod.metadata.name)
        raise AssertionError(f"the scheduler goes in circles: {self.tried[-20:]}")

    def running(self) -> list[str]:
        """Pods that are bound."""
        return sorted(name for name in self.where() if self.pod_is_bound(name))

    def pod_is_bound(self, name: str) -> bool:
        return bool(self.pod(name).spec.node_name)

    def pass_time(self, seconds: float) -> dict[str, str]:
        self.wait(seconds)
        return self.settle()

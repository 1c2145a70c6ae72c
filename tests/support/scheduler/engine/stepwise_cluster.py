"""A cluster in which every step is a test's own: who is tried, when evictions and bindings end."""

from collections.abc import Sequence
from typing import Any

from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.requests import Preempt
from podium.scheduler.framework.points import Plugin
from podium.scheduler.framework.status import error
from podium.testing import FakeCluster, make_node, make_pod

_ROOM = {"cpu": "4", "memory": "8Gi", "pods": 110}


class StepwiseCluster:
    """One node of four cpus, and backoffs that are over before each step."""

    def __init__(self, *plugins: type[Plugin], **gates: bool) -> None:
        self.driver = FakeCluster(
            make_node("node", allocatable=_ROOM), plugins=plugins, gates=gates
        )
        self._under_way: dict[str, tuple[Preempt, list[PodInfo]]] = {}

    def put_node(self, name: str) -> None:
        self.driver.put(make_node(name, allocatable=_ROOM))

    def create(self, name: str, cpu: str, priority: int, node: str = "", **more: Any) -> None:
        pod = make_pod(name, node=node, requests={"cpu": cpu}, priority=priority, **more)
        self.driver.put(pod)

    def schedule(self, name: str) -> str:
        """The pod that is next is tried; where it is afterwards. It is bound at once."""
        where = self.attempt(name)
        if where == "binding":
            self.driver.bound(name)
            return self.driver.where()[name]
        return where

    def attempt(self, name: str) -> str:
        """The same, with the binding still to be done."""
        self.driver.wait(20.0)
        attempt = self.driver.attempt()
        tried = attempt.decision.pod.pod.metadata.name if attempt is not None else None
        assert tried == name, f"{name} is to be tried, and {tried} is"
        for request in self.driver.preemptions:
            self._under_way[request.preemptor.key] = request, [e.victim for e in request.evict]
        self.driver.preemptions.clear()
        return self.driver.where()[name]

    def is_preempting(self, name: str) -> bool:
        return f"default/{name}" in self._under_way

    def complete_preemption(
        self, name: str, *, graceful: Sequence[str] = (), without: Sequence[str] = ()
    ) -> None:
        """The API server carries out the evictions; `graceful` victims take their time. The call
        for those in `without` is not answered yet, so that the preemption goes on."""
        request, left = self._under_way[f"default/{name}"]
        preemptions = self.driver.engine.preemptions
        for victim in [each for each in left if each.pod.metadata.name not in without]:
            left.remove(victim)
            is_there = victim.key in self.driver.engine.state.pods
            preemptions.confirm_eviction(
                request.preemptor, victim, request.node_name, was_gone=not is_there
            )
            if victim.pod.metadata.name in graceful:
                self.driver.terminate(victim.pod.metadata.name)
            elif is_there:
                self.driver.delete(victim.pod.metadata.name)
        if not left:
            del self._under_way[f"default/{name}"]
            preemptions.finish_preemption(request.preemptor, None)
        self.driver.collect()

    def is_held_back(self, name: str) -> bool:
        """Whether a pod stays where it is even when somebody wants it forward."""
        queued = self.driver.engine.queue.get(f"default/{name}")
        assert queued is not None
        self.driver.engine.state.activate([queued.info])
        return self.driver.where()[name] == "gated"

    def fail_binding(self, name: str) -> None:
        """A binding that was held up ends: the pod is gone or on its way out."""
        self.driver.finish(name, error(f'pods "{name}" not found'))

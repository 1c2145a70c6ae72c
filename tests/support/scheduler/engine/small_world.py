"""An API server in miniature with an engine as its client, and nothing happening by itself.

Objects change here first; the engine hears of it when the watch is delivered, in order but as late
as a test wants. What the engine asks for is written down and done when told: bindings end well, are
refused, or happen although they are reported as failed; victims go at once, gracefully, or not.
"""

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeStruct
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod, PodCondition
from podium.offline.driver.in_memory_api import InMemoryApi
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.binding_cycle import Binding
from podium.scheduler.engine.requests import Bind, Nominate, PatchStatus, Preempt, Request
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.status import Status
from podium.testing import FakeClock

T = TypeVar("T")
Fields = dict[str, Any] | None
GOING = "2026-01-01T00:00:00Z"


class ApiError(Exception):
    """What the API server says no to."""


class SmallWorld(InMemoryApi):
    def __init__(self, engine: Engine, clock: FakeClock) -> None:
        super().__init__(engine)
        self.engine = engine
        self.clock = clock
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.objects: dict[str, KubeStruct] = {}
        self.bindings: list[Binding] = []
        self.preemptions: list[Preempt] = []
        self.refusal: Exception | None = None
        self.timeout: Exception | None = None
        self._watch: deque[Callable[[], None]] = deque()
        self._version = 0
        self._evictions: dict[int, int] = {}

    # objects

    def put_node(self, node: Node) -> None:
        self.nodes[node.metadata.name] = node
        self._watch.append(lambda: self.engine.intake.node_put(node))

    def remove_node(self, name: str) -> None:
        del self.nodes[name]
        self._watch.append(lambda: self.engine.intake.node_deleted(name))

    def put_object(self, obj: KubeStruct) -> None:
        self.objects[object_key(obj.metadata)] = obj  # type: ignore[attr-defined]
        self._watch.append(lambda: self.engine.intake.object_put(obj))

    def remove_object(self, key: str) -> None:
        obj = self.objects.pop(key)
        self._watch.append(lambda: self.engine.intake.object_deleted(obj))

    def put_pod(self, pod: Pod) -> None:
        """Store a pod as a new version of itself."""
        self._version += 1
        metadata = replace(pod.metadata, resource_version=str(self._version))
        stored = replace(pod, metadata=metadata)
        key = object_key(metadata)
        if stored.status.phase in ("Succeeded", "Failed"):
            self.pods.pop(key, None)
        else:
            self.pods[key] = stored
        self._watch.append(lambda: self.engine.intake.pod_put(stored))

    def change_pod(
        self, key: str, *, spec: Fields = None, status: Fields = None, meta: Fields = None
    ) -> None:
        """Change fields of a pod, by their Python names."""
        pod = self.pods[key]
        self.put_pod(
            replace(
                pod,
                metadata=replace(pod.metadata, **(meta or {})),
                spec=replace(pod.spec, **(spec or {})),
                status=replace(pod.status, **(status or {})),
            )
        )

    def remove_pod(self, key: str) -> None:
        pod = self.pods.pop(key)
        self._watch.append(lambda: self.engine.intake.pod_deleted(pod))

    def delete_pod(self, key: str, *, graceful: bool) -> None:
        """A deletion as users ask for it; a pod that runs nowhere goes at once."""
        pod = self.pods[key]
        if graceful and (pod.spec.node_name or pod.metadata.finalizers):
            if pod.metadata.deletion_timestamp is None:
                self.change_pod(key, meta={"deletion_timestamp": GOING})
        else:
            self.remove_pod(key)

    def deliver(self, count: int | None = None) -> None:
        """Let the engine hear of what happened, oldest first."""
        while self._watch and count != 0:
            self._watch.popleft()()
            count = None if count is None else count - 1
        self.collect()

    @property
    def undelivered(self) -> int:
        return len(self._watch)

    # the engine at work

    def collect(self) -> None:
        for request in self.engine.take_requests():
            self._carry_out(request)

    def _carry_out(self, request: Request) -> None:
        match request:
            case PatchStatus(info, reason, message, nominated_node):
                held = PodCondition(
                    type="PodScheduled", status="False", reason=reason, message=message
                )
                status: dict[str, Any] = {"conditions": (held,)}
                if nominated_node is not None:
                    status["nominated_node_name"] = nominated_node
                self._patch(info, status)
            case Nominate(info, node_name):
                self._patch(info, {"nominated_node_name": node_name})
            case Bind(binding):
                self.bindings.append(binding)
            case Preempt():
                for weaker in request.clear:
                    self._patch(weaker, {"nominated_node_name": ""})
                self.preemptions.append(request)

    def _patch(self, info: PodInfo, status: dict[str, Any]) -> None:
        pod = self.pods.get(info.key)
        if pod is not None and info.is_about(pod) and not pod.spec.node_name:
            self.change_pod(info.key, status=status)

    # bindings

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """The API handle of the binding cycle."""
        if self.refusal is not None:
            raise self.refusal
        stored = self.pods.get(pod.key)
        if stored is None or not pod.is_about(stored):
            raise ApiError(f'pods "{pod.key}" not found')
        if stored.metadata.deletion_timestamp is not None or stored.spec.node_name:
            raise ApiError(f"pod {pod.key} is being deleted or assigned already")
        self.run_pod(pod.key, node_name)
        if self.timeout is not None:
            raise self.timeout

    def run_pod(self, key: str, node_name: str) -> None:
        second = int(self.clock.now)
        start = f"2026-01-01T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        self.change_pod(
            key,
            spec={"node_name": node_name},
            status={"phase": "Running", "start_time": start, "nominated_node_name": ""},
        )

    def finish_binding(
        self,
        index: int,
        *,
        refusal: Exception | None = None,
        timeout: Exception | None = None,
        heard_first: bool = False,
    ) -> Status | None:
        """Run a binding cycle to its end and report it, the watch before it if so wanted."""
        binding = self.bindings.pop(index)
        self.refusal, self.timeout = refusal, timeout
        problem = finished(binding.run(self))
        self.refusal = self.timeout = None
        if heard_first:
            self.deliver()
        self.engine.bindings.finish_binding(binding, problem)
        self.collect()
        return problem

    # preemption

    def evict_next(self, index: int, *, graceful: bool) -> None:
        """Evict the next victim of a preemption; with the last of them it is over."""
        request = self.preemptions[index]
        left = [e.victim for e in request.evict[self._evicted(request) :]]
        if left:
            victim = left[0]
            pod = self.pods.get(victim.key)
            was_gone = pod is None or not victim.is_about(pod)
            if not was_gone:
                marked = PodCondition(
                    type="DisruptionTarget", status="True", reason="PreemptionByScheduler"
                )
                self.change_pod(victim.key, status={"conditions": (marked,)})
                self.delete_pod(victim.key, graceful=graceful)
            self._evictions[id(request)] = self._evicted(request) + 1
            self.engine.preemptions.confirm_eviction(
                request.preemptor, victim, request.node_name, was_gone=was_gone
            )
        if len(left) <= 1:
            self.end_preemption(index)

    def end_preemption(self, index: int, problem: str | None = None) -> None:
        request = self.preemptions.pop(index)
        self._evictions.pop(id(request), None)
        self.engine.preemptions.finish_preemption(request.preemptor, problem)
        self.collect()

    def _evicted(self, request: Preempt) -> int:
        return self._evictions.get(id(request), 0)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("nothing here waits")

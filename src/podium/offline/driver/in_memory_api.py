"""The API handle of drivers that have no API server: writes go to the engine's own cluster.

Binding plugins write through an `ApiHandle` and are coroutines, because a real server takes its
time. This one tells the engine of every write as a watch would, and nothing in it takes time, so a
coroutine can be driven to its end without an event loop. The bench uses it as it is; the simulator
has controllers on top, `podium.testing` lets a test say what comes of a binding.
"""

from collections.abc import Coroutine
from contextlib import suppress
from typing import TypeVar

from msgspec.structs import replace

from podium.kubernetes.kinds.meta import KubeObject, ObjectMeta
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.offline.driver.in_memory_objects import MemoryObjects, with_next_version
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.engine.scheduler import Engine
from podium.scheduler.framework.handle import ApiCallFailed, ApiHandle, DeferredWrite

K = TypeVar("K", bound=KubeObject)
T = TypeVar("T")


class LiveClusterNeeded(RuntimeError):
    """A plugin waits for something that only a live cluster has."""


class InMemoryApi(MemoryObjects):
    """An `ApiHandle` over an engine."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._engine = engine

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        current = self._engine.state.pods.get(pod.key, pod.pod)
        spec = replace(current.spec, node_name=node_name)
        self._engine.intake.pod_put(with_next_version(replace(current, spec=spec)))

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:
        """Events have no reader here."""

    async def pause(self, seconds: float) -> None:
        """Whatever is waited for has happened already."""

    def _find(self, kind: type[K], name: str, namespace: str) -> K | None:
        if kind.cluster_scoped:
            namespace = ""
        found: KubeObject | None
        if issubclass(kind, Pod):
            key = object_key(ObjectMeta(name=name, namespace=namespace))
            found = self._engine.state.pods.get(key)
        elif issubclass(kind, Node):
            nodes = self._engine.cluster.nodes
            found = nodes.node(nodes.row(name)) if nodes.is_present(name) else None
        else:
            found = self._engine.cluster.catalog.get(kind, name, namespace)
        return found if isinstance(found, kind) else None

    def _store(self, obj: KubeObject) -> None:
        self._engine.intake.put(obj)

    def _discard(self, obj: KubeObject) -> None:
        match obj:
            case Pod():
                self._engine.intake.pod_deleted(obj)
            case Node():
                self._engine.intake.node_deleted(obj.name)
            case _:
                self._engine.intake.object_deleted(obj)


def carry_out(write: DeferredWrite, api: ApiHandle) -> None:
    """Carry out what a plugin left to be written; if it fails, the next attempt finds things as
    they are."""
    with suppress(ApiCallFailed):
        run_to_end(write.carry_out(api))


def run_to_end(coroutine: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for nothing. Raises LiveClusterNeeded."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise LiveClusterNeeded("a plugin waits for something outside, which no simulation has")

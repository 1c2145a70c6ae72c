"""An API handle for binding plugins that stand alone: it remembers what it was asked for."""

from typing import TypeVar

from podium.kubernetes.kinds.meta import KubeObject
from podium.offline.driver.in_memory_objects import MemoryObjects
from podium.scheduler.cluster.catalog import object_key
from podium.scheduler.cluster.pod_info import PodInfo

K = TypeVar("K", bound=KubeObject)


class FakeApi(MemoryObjects):
    """Objects are those that it was made with and those that were written since."""

    def __init__(self, *objects: KubeObject) -> None:
        super().__init__()
        self.bound: dict[str, str] = {}
        """`namespace/name` of pods -> the node that they were bound to."""
        self.told: list[tuple[str, str]] = []
        """(reason, note) of events."""
        self.paused_s = 0.0
        self.objects: dict[tuple[type[KubeObject], str], KubeObject] = {}
        for obj in objects:
            self._store(obj)

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        self.bound[pod.key] = node_name

    async def tell(self, pod: PodInfo, reason: str, action: str, note: str) -> None:  # noqa: ARG002
        self.told.append((reason, note))

    async def pause(self, seconds: float) -> None:
        self.paused_s += seconds

    def _find(self, kind: type[K], name: str, namespace: str) -> K | None:
        key = f"{namespace}/{name}" if namespace else name
        found = self.objects.get((kind, key))
        return found if isinstance(found, kind) else None

    def _store(self, obj: KubeObject) -> None:
        self.objects[type(obj), object_key(obj.metadata)] = obj

    def _discard(self, obj: KubeObject) -> None:
        del self.objects[type(obj), object_key(obj.metadata)]

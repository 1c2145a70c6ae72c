"""What hostile objects cost the scheduler: one attempt for each, in a cluster with others.

The pod arrives, is tried, and leaves again; a node changes its labels while it waits; then others
want to be scheduled, to whom it must not matter that it was there. The scene is made once and is
the same before each of them.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from podium.bench.engine_run import Driver
from podium.bench.hostile_claims import (
    FULL_NODES,
    VOLUMES_AND_DEVICES,
    make_scene_node,
    make_scene_nodes,
    make_scene_pods,
)
from podium.bench.hostile_pods import NODE_AFFINITY, NODES, POD_AFFINITY, HostilePod, Object
from podium.bench.templates import Arrival
from podium.kubernetes.kinds.pod import Pod
from podium.kubernetes.kinds.typed_objects import KubeObject, decode_json
from podium.scheduler.config.types import Configuration

TABLES: Final = {
    "node affinity": NODE_AFFINITY,
    "pod affinity": POD_AFFINITY,
    "nodes": NODES,
    "volumes and devices": VOLUMES_AND_DEVICES,
    "full nodes": FULL_NODES,
}
_OTHERS: Final = 10
_encode = msgspec.json.encode


class HostileScene:
    """A cluster with pods of several tenants."""

    def __init__(self, nodes: int = 1_000, configuration: Configuration | None = None) -> None:
        """Raises InputError for a configuration that cannot be built."""
        self.driver = Driver(configuration=configuration)
        self._put(make_scene_nodes(nodes))
        self._put(make_scene_pods())
        self._changes = 0
        self._others = 0

    def prepare(self, hostile: HostilePod) -> "Visit":
        brought = [_decode(each) for each in (*hostile.nodes, *hostile.objects)]
        return Visit(self, _encode(hostile.pod), brought)

    def change_node(self) -> None:
        """A node changes a label that pods may have waited for."""
        self._changes += 1
        self.driver.put(_decode(make_scene_node(0, changed=str(self._changes))))

    def schedule_others(self, number: int = _OTHERS) -> int:
        """Pods of another tenant; how many of them got a node."""
        before = self.driver.bound
        pods = [self._make_other() for _ in range(number)]
        self.driver.arrive(Arrival(pod) for pod in pods)
        for _ in pods:
            self.driver.step()
        placed = self.driver.bound - before
        for pod in pods:
            self.driver.delete(self.driver.engine.state.pods[f"other/{pod.metadata.name}"])
        return placed

    def _make_other(self) -> Pod:
        self._others += 1
        name = f"other-{self._others}"
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": "other",
                "uid": f"uid-{name}",
                "labels": {"app": "other"},
            },
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{"name": "main", "image": "app:v1"}],
            },
        }
        decoded = _decode(pod)
        assert isinstance(decoded, Pod)
        return decoded

    def _put(self, objects: Iterable[Object]) -> None:
        for each in objects:
            self.driver.put(_decode(each))


class Visit:
    """One hostile pod, from its arrival to its end."""

    def __init__(self, scene: HostileScene, pod: bytes, brought: list[KubeObject]) -> None:
        self._scene = scene
        self._written = pod
        self._brought = brought
        self.size = len(pod)

    def bring(self) -> None:
        """What the pod names is there, and nodes that come with it."""
        for obj in self._brought:
            self._scene.driver.put(obj)

    def arrive(self) -> None:
        """It is decoded, and waits."""
        pod = decode_json(self._written)
        assert isinstance(pod, Pod)
        self._key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        self._scene.driver.arrive((Arrival(pod),))

    def attempt(self) -> None:
        """It is tried once, unless it is held back."""
        self._scene.driver.step()

    def leave(self) -> None:
        driver = self._scene.driver
        driver.delete(driver.engine.state.pods[self._key])
        for obj in reversed(self._brought):
            driver.delete(obj)


def _decode(obj: dict[str, Any]) -> KubeObject:
    return decode_json(_encode(obj))

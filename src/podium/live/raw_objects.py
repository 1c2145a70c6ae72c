"""Pods and nodes as the API server sent them, for extenders.

Typed objects hold what scheduling reads; an extender may read anything. So where extenders are
configured, the objects are kept as they came as well: nodes, and pods until they are seen on a node
or finished. Without extenders nothing is kept.
"""

from typing import Any

import msgspec

from podium.client.extenders.objects import TypedObjects
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.catalog import object_key

_NOT_SENT = ("kind", "apiVersion")


class RawObjects:
    """An `ObjectSource`; the feed puts in what it decodes, and takes out what is gone."""

    def __init__(self, typed: TypedObjects) -> None:
        """`typed` writes what is not here."""
        self._typed = typed
        self._nodes: dict[str, bytes] = {}
        self._pods: dict[str, tuple[str, bytes]] = {}

    def __len__(self) -> int:
        return len(self._nodes) + len(self._pods)

    def put(self, obj: Node | Pod, written: msgspec.Raw) -> None:
        metadata = obj.metadata
        if isinstance(obj, Node):
            self._nodes[metadata.name] = _cleaned(written)
        elif obj.spec.node_name:
            self._pods.pop(object_key(metadata), None)
        else:
            self._pods[object_key(metadata)] = (metadata.resource_version, _cleaned(written))

    def remove(self, obj: Node | Pod) -> None:
        if isinstance(obj, Node):
            self._nodes.pop(obj.metadata.name, None)
        else:
            self._pods.pop(object_key(obj.metadata), None)

    def pod(self, pod: Pod) -> bytes:
        version, written = self._pods.get(object_key(pod.metadata), ("", b""))
        if written and version == pod.metadata.resource_version:
            return written
        return self._typed.pod(pod)

    def node(self, name: str) -> bytes:
        """Raises KeyError for a node that is gone."""
        return self._nodes[name]


def _cleaned(written: msgspec.Raw) -> bytes:
    """An object without what is not sent to extenders."""
    obj: dict[str, Any] = msgspec.json.decode(written)
    for name in _NOT_SENT:
        obj.pop(name, None)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
    return msgspec.json.encode(obj)

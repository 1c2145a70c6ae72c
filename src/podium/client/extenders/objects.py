"""Where the client gets the pods and nodes that it sends.

Calls name nodes and carry typed pods. A driver that watches an API server has the objects as they
came, whole; a driver that has only typed ones writes those. The client does not mind which.
"""

from collections.abc import Callable
from typing import Protocol

from podium.client.extenders.object_json import object_json
from podium.kubernetes.kinds.node import Node
from podium.kubernetes.kinds.pod import Pod

_REMEMBERED_PODS = 4096


class ObjectSource(Protocol):
    """JSON of objects in the API's own form, without `kind` and `apiVersion`.

    The pod has no managedFields and no node name; nodes are sent as they are.
    """

    def pod(self, pod: Pod) -> bytes: ...

    def node(self, name: str) -> bytes:
        """Raises KeyError for a node that is gone."""


class TypedObjects:
    """Objects written from their typed form; each is written once as long as it does not change."""

    def __init__(self, node: Callable[[str], Node]) -> None:
        """`node` gives the current object of a name, or raises KeyError."""
        self._node = node
        self._nodes: dict[str, tuple[Node, bytes]] = {}
        self._pods: dict[int, tuple[Pod, bytes]] = {}

    def pod(self, pod: Pod) -> bytes:
        known = self._pods.get(id(pod))
        if known is not None and known[0] is pod:
            return known[1]
        if len(self._pods) >= _REMEMBERED_PODS:
            self._pods.clear()
        written = object_json(pod)
        self._pods[id(pod)] = (pod, written)
        return written

    def node(self, name: str) -> bytes:
        try:
            node = self._node(name)
        except KeyError:
            self._nodes.pop(name, None)
            raise
        known = self._nodes.get(name)
        if known is not None and known[0] is node:
            return known[1]
        written = object_json(node)
        self._nodes[name] = (node, written)
        return written

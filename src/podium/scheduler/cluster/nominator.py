"""Pending pods that hold a node: the nominations that filters must respect.

A nomination reserves room for a pod that is not there yet (its victims still leave, or somebody
else chose the node for it). Order per node is order of arrival.
"""

from collections.abc import Iterator, Sequence

from podium.kubernetes.kinds.meta import ObjectMeta
from podium.kubernetes.kinds.pod import Pod
from podium.scheduler.cluster.pod_info import PodInfo, PodShape

_MAX_REMEMBERED = 4096


class Nominator:
    def __init__(self) -> None:
        self.version = 0
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self._changed: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._by_node)

    def nominate(self, info: PodInfo, node_name: str) -> None:
        """Set a pod's nomination, replacing an earlier one."""
        self.drop(info.uid)
        self._note(node_name)
        self._by_node.setdefault(node_name, {})[info.uid] = info
        self._node_of[info.uid] = node_name

    def drop(self, uid: str) -> None:
        node_name = self._node_of.pop(uid, None)
        if node_name is not None:
            self._note(node_name)
            pods = self._by_node[node_name]
            del pods[uid]
            if not pods:
                del self._by_node[node_name]

    def follow(self, old: PodInfo | None, new: PodInfo) -> None:
        """Be true to a pod's object; if neither object names a node, keep what is."""
        name = new.pod.status.nominated_node_name
        if not name and old is not None and not old.pod.status.nominated_node_name:
            name = self.node_of(new.uid)
        if name:
            self.nominate(new, name)
        else:
            self.drop(new.uid)

    def strip(self, info: PodInfo) -> None:
        """Leave only a pod's name on its node: it counts as a pod that asks for nothing.

        upstream: the object of a nominated pod is looked up in the queue, so for one that was
        taken out of it only the reference is left.
        """
        node_name = self._node_of.get(info.uid)
        if node_name is not None:
            self._note(node_name)
            self._by_node[node_name][info.uid] = _bare(info)

    def restore(self, info: PodInfo) -> None:
        """Give a pod that is in no queue the nomination back that its object speaks of."""
        if info.pod.status.nominated_node_name:
            self.nominate(_bare(info), info.pod.status.nominated_node_name)

    def node_of(self, uid: str) -> str:
        """The node a pod is nominated to, or an empty string."""
        return self._node_of.get(uid, "")

    def __iter__(self) -> Iterator[tuple[PodInfo, str]]:
        """All nominated pods with their nodes."""
        return (
            (info, name) for name, pods in tuple(self._by_node.items()) for info in pods.values()
        )

    def on_node(self, node_name: str) -> Sequence[PodInfo]:
        return tuple(self._by_node.get(node_name, {}).values())

    def node_names(self) -> Sequence[str]:
        """The nodes that somebody is nominated to."""
        return tuple(self._by_node)

    def changed_since(self, version: int) -> Sequence[str] | None:
        """Nodes whose nominations changed after a version; None if that is forgotten."""
        count = self.version - version
        return self._changed[len(self._changed) - count :] if count <= len(self._changed) else None

    def _note(self, node_name: str) -> None:
        self.version += 1
        self._changed.append(node_name)
        if len(self._changed) > 2 * _MAX_REMEMBERED:
            del self._changed[:_MAX_REMEMBERED]


def _bare(info: PodInfo) -> PodInfo:
    full = info.pod.metadata
    pod = Pod(metadata=ObjectMeta(name=full.name, namespace=full.namespace, uid=full.uid))
    return PodInfo(pod, PodShape(pod, info.shape.rules))

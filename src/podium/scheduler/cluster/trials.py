"""What is taken out of the cluster, or put into it, for the length of a trial: pods and nodes.

"Would the group fit if these pods were gone?" is asked of the whole cluster, with every plugin's
indexes in use, so a private copy of the usage is not enough. The pods are really taken out of what
filters and scores read (usage and pod classes) and put back afterwards, each in its old place of
the node's list. Where a pod is and what its group knows of it does not change.

Nodes that are in the table for a moment, beside the cluster's own. An extender that is not node
cache capable returns whole node objects, and from then on these count instead of what the cluster
knows: without pods, without usage, without images (upstream: a fresh node record holds the object
alone). Their names need not be known, and may be there twice.

Plugins read the table and the indexes that belong to it, so there these have to be. They
get rows at its end; all other rows, and what is counted over them, stay as they are. Nothing may be
applied to the cluster meanwhile, and no vector made over the whole table may be kept.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.kubernetes.rules.host_ports import HostPort
from podium.scheduler.cluster.pod_info import PodInfo
from podium.scheduler.cluster.state import Cluster


class RemovedPods:
    """Use as a context: at its end everything is as it was."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._before: dict[int, tuple[tuple[PodInfo, ...], set[HostPort]]] = {}
        self._off: dict[str, PodInfo] = {}

    def take_off(self, info: PodInfo) -> None:
        row = self._cluster.placements[info.uid].row
        usage = self._cluster.usage
        if row not in self._before:
            self._before[row] = (tuple(usage.pods(row)), usage.ports.used_ports(row))
        usage.remove(row, info)
        self._cluster.classes.remove(row, info)
        self._off[info.uid] = info

    def put_back(self, info: PodInfo) -> None:
        row = self._cluster.placements[info.uid].row
        self._cluster.usage.add(row, info)
        self._cluster.classes.add(row, info)
        del self._off[info.uid]

    def __enter__(self) -> "RemovedPods":
        return self

    def __exit__(self, *_: object) -> None:
        for info in tuple(self._off.values()):
            self.put_back(info)
        for row, (pods, ports) in self._before.items():
            self._cluster.usage.arrange(row, pods, ports)


class TemporaryNodes:
    """Use as a context, which gives the nodes' rows; at its end the table is as it was."""

    def __init__(self, cluster: Cluster, nodes: Sequence[Node]) -> None:
        self._cluster = cluster
        self._guests = nodes

    def __enter__(self) -> npt.NDArray[np.intp]:
        try:
            rows = [self._seat(node) for node in self._guests]
        except BaseException:
            self._cluster.nodes.dismiss_guests()
            raise
        self._cluster.usage.grow()
        return np.array(rows, dtype=np.intp)

    def _seat(self, node: Node) -> int:
        nodes = self._cluster.nodes
        row = nodes.claim_guest_row(node.metadata.name)
        nodes.put(row, replace(node, status=replace(node.status, images=None)))
        nodes.objects[row] = node
        return row

    def __exit__(self, *_: object) -> None:
        self._cluster.nodes.dismiss_guests()

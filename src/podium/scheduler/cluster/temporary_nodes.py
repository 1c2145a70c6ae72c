"""Nodes that stand in the table for a moment, beside the cluster's own.

An extender that is not node cache capable returns whole node objects, and from then on these count
instead of what the cluster knows: without pods, without usage, without images (upstream: a fresh
node record holds the object alone). Their names need not be known, and may be there twice.

Plugins read the table and the indexes that belong to it, so there these have to be. They
get rows at its end; all other rows, and what is counted over them, stay as they are. Nothing may be
applied to the cluster meanwhile, and no vector made over the whole table may be kept.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from podium.kubernetes.kinds.node import Node
from podium.scheduler.cluster.state import Cluster


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

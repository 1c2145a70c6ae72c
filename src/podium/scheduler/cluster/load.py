"""How full nodes are, as the scheduler counts: requests against allocatable.

Cpu is in milli, memory in bytes; pods count as a resource, and so do the devices of each driver.
"""

from dataclasses import dataclass

import numpy as np

from podium.kubernetes.rules.requests import PODS
from podium.scheduler.cluster.device_load import device_load
from podium.scheduler.cluster.growth import Ints
from podium.scheduler.cluster.state import Cluster


@dataclass(frozen=True, slots=True)
class Load:
    """Requests per node: rows are resources in the order of `resources`, columns are nodes."""

    nodes: tuple[str, ...]
    resources: tuple[str, ...]
    allocatable: Ints
    requested: Ints


def load_of(cluster: Cluster) -> Load:
    """The present load. Nodes come in order of their names; `pods` counts as a resource, and so do
    the devices of each driver."""
    nodes, usage = cluster.nodes, cluster.usage
    usage.grow()
    rows = [row for row in range(nodes.size) if nodes.present[row]]
    rows.sort(key=nodes.names.__getitem__)
    names = tuple(nodes.names[row] for row in rows)
    devices, has, uses = device_load(cluster, names)
    return Load(
        names,
        (*nodes.resources, PODS, *devices),
        np.vstack((nodes.allocatable[:, rows], nodes.allowed_pods[rows], has)),
        np.vstack((usage.requested[:, rows], usage.pod_count[rows], uses)),
    )

"""How full nodes are, as the scheduler counts: requests against allocatable, and devices in use.

Cpu is in milli, memory in bytes; pods count as a resource, and so do the devices of each driver.

Devices of drivers (dynamic resource allocation) that nodes have, and how many are in use. A device
counts where its slice names the node; devices that several nodes reach are nobody's in particular.
One that is shared out counts as in use as soon as somebody has a share of it.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from podium.kubernetes.kinds.devices import ResourceClaim, ResourceSlice
from podium.kubernetes.rules.requests import PODS
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
    rows = np.flatnonzero(nodes.present[: nodes.size]).tolist()
    rows.sort(key=nodes.names.__getitem__)
    names = tuple(nodes.names[row] for row in rows)
    devices, has, uses = device_load(cluster, names)
    return Load(
        names,
        (*nodes.resources, PODS, *devices),
        np.vstack((nodes.allocatable[:, rows], nodes.allowed_pods[rows], has)),
        np.vstack((usage.requested[:, rows], usage.pod_count[rows], uses)),
    )


SUFFIX = " devices"


def device_load(cluster: Cluster, nodes: tuple[str, ...]) -> tuple[tuple[str, ...], Ints, Ints]:
    """Names such as `gpu.example.com devices`, and for each of them the devices that nodes have
    and those in use."""
    catalog = cluster.catalog
    slices = [each for each in catalog.all(ResourceSlice) if each.spec.node_name]
    newest: dict[tuple[str, str], int] = {}
    for each in slices:
        pool = (each.spec.driver, each.spec.pool.name)
        newest[pool] = max(newest.get(pool, 0), each.spec.pool.generation)
    where: dict[tuple[str, str, str], str] = {
        (each.spec.driver, each.spec.pool.name, device.name): each.spec.node_name or ""
        for each in slices
        if each.spec.pool.generation == newest[each.spec.driver, each.spec.pool.name]
        for device in each.spec.devices or ()
    }
    held = {
        (result.driver, result.pool, result.device)
        for claim in catalog.all(ResourceClaim)
        if claim.status.allocation is not None
        for result in claim.status.allocation.devices.results or ()
    }
    there = Counter((driver, node) for (driver, _, _), node in where.items())
    taken = Counter((device[0], where[device]) for device in held if device in where)
    drivers = sorted({driver for driver, _ in there})
    has, uses = (
        np.array([[count[driver, node] for node in nodes] for driver in drivers], dtype=np.int64)
        for count in (there, taken)
    )
    shape = (len(drivers), len(nodes))
    names = tuple(f"{driver}{SUFFIX}" for driver in drivers)
    return names, has.reshape(shape), uses.reshape(shape)

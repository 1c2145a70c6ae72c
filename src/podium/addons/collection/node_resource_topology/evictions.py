"""What zones would have if pods left a node: the trials of preemption (`preemptionMode: Enabled`).

A report counts what runs now, and preemption asks what would be if some of it did not. The zone of
each container (`numa_placement.py`) says where its cpus, memory and devices would become free. What
a container shares with others is in no zone's account, and so only what it has to itself is given
back (`preemption/preemption.go` of the collection).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from podium.addons.collection.node_resource_topology.numa_placement import (
    ContainerName,
    Placement,
)
from podium.addons.collection.node_resource_topology.topologies import NumaZone
from podium.addons.collection.node_resource_topology.zone_requests import (
    exclusive_amounts,
    zone_requests_of,
)
from podium.kubernetes.kinds.pod import Container
from podium.plugin import PodInfo

NOTHING_FREED: Final = "no resources to add, cannot process eviction simulation"
TOO_MUCH_FREED: Final = "resource release request exceeds NUMA allocatable"

Freed = Mapping[int, Mapping[str, int]]
"""Zone -> resource -> amount."""


class EvictionRefused(Exception):
    """The zones cannot be imagined without the victims; the text says why."""


class Victims:
    """The pods that a trial has taken off nodes, by row."""

    def __init__(self, pods: Mapping[int, Mapping[str, PodInfo]] | None = None) -> None:
        self._pods = {row: dict(of_row) for row, of_row in (pods or {}).items()}

    def clone(self) -> "Victims":
        return Victims(self._pods)

    def take(self, row: int, pod: PodInfo) -> None:
        self._pods.setdefault(row, {})[pod.uid] = pod

    def give_back(self, row: int, pod: PodInfo) -> None:
        self._pods.get(row, {}).pop(pod.uid, None)

    def rows(self) -> list[int]:
        return [row for row, pods in self._pods.items() if pods]

    def on(self, row: int) -> Iterable[PodInfo]:
        return self._pods.get(row, {}).values()


def pinned_containers(pods: Iterable[PodInfo], reported: Iterable[str]) -> list[ContainerName]:
    """The containers that agents tell the zone of: those that have something to themselves for the
    whole life of their pod."""
    known = frozenset(reported)
    found: list[ContainerName] = []
    for pod in pods:
        guaranteed = zone_requests_of(pod).guaranteed
        spec, metadata = pod.pod.spec, pod.pod.metadata
        sidecars = [c for c in spec.init_containers or () if c.restart_policy == "Always"]
        found += [
            (metadata.namespace, metadata.name, container.name)
            for container in (*sidecars, *(spec.containers or ()))
            if exclusive_amounts(container, guaranteed, known)
        ]
    return found


def freed_by(victims: Iterable[PodInfo], placement: Placement, zones: Sequence[NumaZone]) -> Freed:
    """What the zones of a node gain. Raises EvictionRefused."""
    reported = frozenset(name for zone in zones for name in zone.available)
    freed: dict[int, dict[str, int]] = {}
    for victim in victims:
        requests = zone_requests_of(victim)
        for container in victim.pod.spec.containers or ():  # upstream: not those of sidecars
            numa_id = placement.get(_name(victim, container))
            if numa_id is None:
                continue
            amounts = exclusive_amounts(container, requests.guaranteed, reported)
            for resource, amount in amounts.items():
                of_zone = freed.setdefault(numa_id, {})
                of_zone[resource] = of_zone.get(resource, 0) + amount
    if not freed:
        raise EvictionRefused(NOTHING_FREED)
    for zone in zones:
        for resource, amount in freed.get(zone.numa_id, {}).items():
            free = zone.available.get(resource)
            if free is not None and free + amount > zone.allocatable[resource]:
                raise EvictionRefused(TOO_MUCH_FREED)
    return freed


def _name(pod: PodInfo, container: Container) -> ContainerName:
    metadata = pod.pod.metadata
    return metadata.namespace, metadata.name, container.name

"""The controllers by name, and how each is made."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from podium.api.errors import InputError, closest, did_you_mean
from podium.client import KubeClient
from podium.simulated_cluster.carrying_out import Writer
from podium.simulated_cluster.clock import ClusterClock
from podium.simulated_cluster.control import Controller, Planned, Synchroniser
from podium.simulated_cluster.controllers.daemon_sets import DaemonSets
from podium.simulated_cluster.controllers.deployments import Deployments
from podium.simulated_cluster.controllers.disruption_budgets import DisruptionBudgets
from podium.simulated_cluster.controllers.garbage import Garbage
from podium.simulated_cluster.controllers.jobs import Jobs
from podium.simulated_cluster.controllers.namespaces import Namespaces
from podium.simulated_cluster.controllers.node_lifecycle import NodeLifecycle
from podium.simulated_cluster.controllers.pod_claims import EphemeralVolumes
from podium.simulated_cluster.controllers.pod_gc import PodGC
from podium.simulated_cluster.controllers.replica_sets import ReplicaSets, ReplicationControllers
from podium.simulated_cluster.controllers.resource_claims import ResourceClaims
from podium.simulated_cluster.controllers.stateful_sets import StatefulSets
from podium.simulated_cluster.controllers.taint_eviction import TaintEviction
from podium.simulated_cluster.controllers.volume_protection import VolumeProtection
from podium.simulated_cluster.controllers.volumes import Volumes
from podium.simulated_cluster.served_kinds import ServedKinds
from podium.simulated_cluster.world import World


@dataclass(frozen=True, slots=True)
class Workshop:
    """What controllers are made with."""

    world: World
    client: KubeClient
    writer: Writer
    clock: ClusterClock
    kinds: ServedKinds
    node_grace_s: float


_PLANNED: Final[dict[str, Callable[[Workshop], Controller]]] = {
    "daemonsets": lambda shop: DaemonSets(shop.world),
    "deployments": lambda shop: Deployments(shop.world),
    "disruptionbudgets": lambda shop: DisruptionBudgets(shop.world),
    "ephemeralvolumes": lambda shop: EphemeralVolumes(shop.world),
    "jobs": lambda shop: Jobs(shop.world),
    "nodelifecycle": lambda shop: NodeLifecycle(shop.world, shop.clock.now, shop.node_grace_s),
    "podgc": lambda shop: PodGC(shop.world),
    "replicasets": lambda shop: ReplicaSets(shop.world),
    "replicationcontrollers": lambda shop: ReplicationControllers(shop.world),
    "resourceclaims": lambda shop: ResourceClaims(shop.world),
    "statefulsets": lambda shop: StatefulSets(shop.world),
    "tainteviction": lambda shop: TaintEviction(shop.world),
    "volumeprotection": lambda shop: VolumeProtection(shop.world),
    "volumes": lambda shop: Volumes(shop.world),
}
_SYNCHRONISING: Final[dict[str, Callable[[Workshop], Synchroniser]]] = {
    "garbagecollector": lambda shop: Garbage(shop.world, shop.client, shop.writer),
    "namespaces": lambda shop: Namespaces(shop.world, shop.client, shop.kinds),
}
ALL: Final = tuple(sorted((*_PLANNED, *_SYNCHRONISING)))


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """The controllers that are meant by `all`, `none` or names. Raises InputError."""
    wanted = tuple(names)
    if wanted == ("all",):
        return ALL
    if wanted == ("none",):
        return ()
    for name in wanted:
        if name not in ALL:
            known = did_you_mean(closest(name, ALL)) or f"there is {', '.join(ALL)}, all and none"
            raise InputError(f'there is no controller "{name}"', remedy=known)
    return tuple(dict.fromkeys(wanted))


def make(name: str, shop: Workshop) -> Synchroniser:
    if name in _PLANNED:
        return Planned(_PLANNED[name](shop), shop.writer, shop.clock)
    return _SYNCHRONISING[name](shop)

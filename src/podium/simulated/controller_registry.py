"""The controllers by name, and how each is made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from podium.client import KubeClient, ResourceType
from podium.client.resources import COSCHEDULING_POD_GROUPS, ELASTIC_QUOTAS
from podium.kubernetes.controllers.controller import Controller
from podium.kubernetes.controllers.cron_jobs import CronJobs
from podium.kubernetes.controllers.daemon_sets import DaemonSets
from podium.kubernetes.controllers.deployments import Deployments
from podium.kubernetes.controllers.disruption_budgets import DisruptionBudgets
from podium.kubernetes.controllers.elastic_quotas import ElasticQuotas
from podium.kubernetes.controllers.endpoint_slices import EndpointSlices
from podium.kubernetes.controllers.endpoints import EndpointsController
from podium.kubernetes.controllers.jobs import Jobs
from podium.kubernetes.controllers.namespace_contents import (
    RootCAPublisher,
    ServiceAccounts,
)
from podium.kubernetes.controllers.node_lifecycle import NodeLifecycle
from podium.kubernetes.controllers.pod_claims import EphemeralVolumes
from podium.kubernetes.controllers.pod_gc import PodGC
from podium.kubernetes.controllers.pod_groups import CoschedulingPodGroups
from podium.kubernetes.controllers.replica_sets import ReplicaSets, ReplicationControllers
from podium.kubernetes.controllers.resource_claims import ResourceClaims
from podium.kubernetes.controllers.stateful_sets import StatefulSets
from podium.kubernetes.controllers.taint_eviction import TaintEviction
from podium.kubernetes.controllers.volume_protection import VolumeProtection
from podium.kubernetes.controllers.volumes import Volumes
from podium.simulated.clock import ClusterClock
from podium.simulated.control import Planned, Synchroniser
from podium.simulated.controllers.garbage import Garbage
from podium.simulated.controllers.namespaces import Namespaces
from podium.simulated.controllers.resource_quotas import ResourceQuotas
from podium.simulated.informers import Informers
from podium.simulated.request_executor import RequestExecutor
from podium.simulated.served_kinds import ServedKinds


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What controllers are made with."""

    informers: Informers
    client: KubeClient
    executor: RequestExecutor
    clock: ClusterClock
    kinds: ServedKinds
    node_grace_s: float
    root_ca: str


_PLANNED: Final[dict[str, Callable[[ControllerContext], Controller]]] = {
    "cronjobs": lambda context: CronJobs(context.informers),
    "daemonsets": lambda context: DaemonSets(context.informers),
    "deployments": lambda context: Deployments(context.informers),
    "disruptionbudgets": lambda context: DisruptionBudgets(context.informers),
    "endpoints": lambda context: EndpointsController(context.informers),
    "endpointslices": lambda context: EndpointSlices(context.informers),
    "ephemeralvolumes": lambda context: EphemeralVolumes(context.informers),
    "jobs": lambda context: Jobs(context.informers),
    "nodelifecycle": lambda context: NodeLifecycle(
        context.informers, context.clock.now, context.node_grace_s
    ),
    "podgc": lambda context: PodGC(context.informers),
    "replicasets": lambda context: ReplicaSets(context.informers),
    "replicationcontrollers": lambda context: ReplicationControllers(context.informers),
    "resourceclaims": lambda context: ResourceClaims(context.informers),
    "rootcapublisher": lambda context: RootCAPublisher(context.informers, context.root_ca),
    "serviceaccounts": lambda context: ServiceAccounts(context.informers),
    "statefulsets": lambda context: StatefulSets(context.informers),
    "tainteviction": lambda context: TaintEviction(context.informers),
    "volumeprotection": lambda context: VolumeProtection(context.informers),
    "volumes": lambda context: Volumes(context.informers),
}
_SYNCHRONISING: Final[dict[str, Callable[[ControllerContext], Synchroniser]]] = {
    "garbagecollector": lambda context: Garbage(
        context.informers, context.client, context.executor
    ),
    "namespaces": lambda context: Namespaces(
        context.informers, context.client, context.kinds, context.clock
    ),
    "resourcequotas": lambda context: ResourceQuotas(
        context.informers, context.client, context.executor, context.kinds, context.clock
    ),
}
_OF_CUSTOM_KINDS: Final[
    dict[str, tuple[ResourceType, Callable[[ControllerContext], Controller]]]
] = {
    "elasticquotas": (ELASTIC_QUOTAS, lambda context: ElasticQuotas(context.informers)),
    "podgroups": (
        COSCHEDULING_POD_GROUPS,
        lambda context: CoschedulingPodGroups(context.informers),
    ),
}


def registered() -> tuple[str, ...]:
    """All names, sorted."""
    return tuple(sorted((*_PLANNED, *_SYNCHRONISING, *_OF_CUSTOM_KINDS)))


def custom_kind_of(name: str) -> ResourceType | None:
    """The kind that has to be served before a controller can be made, if it is a custom one."""
    return _OF_CUSTOM_KINDS[name][0] if name in _OF_CUSTOM_KINDS else None


def make(name: str, context: ControllerContext) -> Synchroniser:
    if name in _OF_CUSTOM_KINDS:
        return Planned(_OF_CUSTOM_KINDS[name][1](context), context.executor, context.clock)
    if name in _PLANNED:
        return Planned(_PLANNED[name](context), context.executor, context.clock)
    return _SYNCHRONISING[name](context)

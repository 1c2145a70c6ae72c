"""The controllers of a simulated cluster by name: how each is made, and which somebody means.

Help lists them all and makes none, so a controller is loaded when it is made.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podium.golang.errors import InputError, closest, did_you_mean
from podium.kubernetes.deferred import defer
from podium.kubernetes.resources.resource_types import (
    COSCHEDULING_POD_GROUPS,
    ELASTIC_QUOTAS,
    ResourceType,
)

if TYPE_CHECKING:
    from podium.client import KubeClient
    from podium.kubernetes.controllers import (
        cron_jobs,
        daemon_sets,
        deployments,
        disruption_budgets,
        elastic_quotas,
        endpoint_slices,
        endpoints,
        jobs,
        namespace_contents,
        node_lifecycle,
        pod_gc,
        pod_groups,
        replica_sets,
        resource_claims,
        stateful_sets,
        taint_eviction,
        volume_protection,
        volumes,
    )
    from podium.kubernetes.controllers.controller import Controller
    from podium.simulated import control
    from podium.simulated.clock import ClusterClock
    from podium.simulated.control import Synchroniser
    from podium.simulated.controllers import garbage, namespaces, resource_quotas
    from podium.simulated.informers import DiscoveredKinds, Informers
    from podium.simulated.request_executor import RequestExecutor
else:
    cron_jobs = defer("podium.kubernetes.controllers.cron_jobs")
    daemon_sets = defer("podium.kubernetes.controllers.daemon_sets")
    deployments = defer("podium.kubernetes.controllers.deployments")
    disruption_budgets = defer("podium.kubernetes.controllers.disruption_budgets")
    elastic_quotas = defer("podium.kubernetes.controllers.elastic_quotas")
    endpoint_slices = defer("podium.kubernetes.controllers.endpoint_slices")
    endpoints = defer("podium.kubernetes.controllers.endpoints")
    jobs = defer("podium.kubernetes.controllers.jobs")
    namespace_contents = defer("podium.kubernetes.controllers.namespace_contents")
    node_lifecycle = defer("podium.kubernetes.controllers.node_lifecycle")
    pod_gc = defer("podium.kubernetes.controllers.pod_gc")
    pod_groups = defer("podium.kubernetes.controllers.pod_groups")
    replica_sets = defer("podium.kubernetes.controllers.replica_sets")
    resource_claims = defer("podium.kubernetes.controllers.resource_claims")
    stateful_sets = defer("podium.kubernetes.controllers.stateful_sets")
    taint_eviction = defer("podium.kubernetes.controllers.taint_eviction")
    volume_protection = defer("podium.kubernetes.controllers.volume_protection")
    volumes = defer("podium.kubernetes.controllers.volumes")
    control = defer("podium.simulated.control")
    garbage = defer("podium.simulated.controllers.garbage")
    namespaces = defer("podium.simulated.controllers.namespaces")
    resource_quotas = defer("podium.simulated.controllers.resource_quotas")


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What controllers are made with."""

    informers: "Informers"
    client: "KubeClient"
    executor: "RequestExecutor"
    clock: "ClusterClock"
    kinds: "DiscoveredKinds"
    node_grace_s: float
    root_ca: str


_PLANNED: Final[dict[str, "Callable[[ControllerContext], Controller]"]] = {
    "cronjobs": lambda context: cron_jobs.CronJobs(context.informers),
    "daemonsets": lambda context: daemon_sets.DaemonSets(context.informers),
    "deployments": lambda context: deployments.Deployments(context.informers),
    "disruptionbudgets": lambda context: disruption_budgets.DisruptionBudgets(context.informers),
    "endpoints": lambda context: endpoints.EndpointsController(context.informers),
    "endpointslices": lambda context: endpoint_slices.EndpointSlices(context.informers),
    "ephemeralvolumes": lambda context: resource_claims.EphemeralVolumes(context.informers),
    "jobs": lambda context: jobs.Jobs(context.informers),
    "nodelifecycle": lambda context: node_lifecycle.NodeLifecycle(
        context.informers, context.clock.now, context.node_grace_s
    ),
    "podgc": lambda context: pod_gc.PodGC(context.informers),
    "replicasets": lambda context: replica_sets.ReplicaSets(context.informers),
    "replicationcontrollers": lambda context: replica_sets.ReplicationControllers(
        context.informers
    ),
    "resourceclaims": lambda context: resource_claims.ResourceClaims(context.informers),
    "rootcapublisher": lambda context: namespace_contents.RootCAPublisher(
        context.informers, context.root_ca
    ),
    "serviceaccounts": lambda context: namespace_contents.ServiceAccounts(context.informers),
    "statefulsets": lambda context: stateful_sets.StatefulSets(context.informers),
    "tainteviction": lambda context: taint_eviction.TaintEviction(context.informers),
    "volumeprotection": lambda context: volume_protection.VolumeProtection(context.informers),
    "volumes": lambda context: volumes.Volumes(context.informers),
}
_SYNCHRONISING: Final[dict[str, "Callable[[ControllerContext], Synchroniser]"]] = {
    "garbagecollector": lambda context: garbage.Garbage(
        context.informers, context.client, context.executor
    ),
    "namespaces": lambda context: namespaces.Namespaces(
        context.informers, context.client, context.kinds, context.clock
    ),
    "resourcequotas": lambda context: resource_quotas.ResourceQuotas(
        context.informers, context.client, context.executor, context.kinds, context.clock
    ),
}
_OF_CUSTOM_KINDS: Final[
    dict[str, "tuple[ResourceType, Callable[[ControllerContext], Controller]]"]
] = {
    "elasticquotas": (
        ELASTIC_QUOTAS,
        lambda context: elastic_quotas.ElasticQuotas(context.informers),
    ),
    "podgroups": (
        COSCHEDULING_POD_GROUPS,
        lambda context: pod_groups.CoschedulingPodGroups(context.informers),
    ),
}
ALL: Final = tuple(sorted((*_PLANNED, *_SYNCHRONISING, *_OF_CUSTOM_KINDS)))


def choose_controllers(names: Iterable[str]) -> tuple[str, ...]:
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


def custom_kind_of(name: str) -> ResourceType | None:
    """The kind that has to be served before a controller can be made, if it is a custom one."""
    return _OF_CUSTOM_KINDS[name][0] if name in _OF_CUSTOM_KINDS else None


def make(name: str, context: ControllerContext) -> "Synchroniser":
    if name in _OF_CUSTOM_KINDS:
        return control.Planned(_OF_CUSTOM_KINDS[name][1](context), context.executor, context.clock)
    if name in _PLANNED:
        return control.Planned(_PLANNED[name](context), context.executor, context.clock)
    return _SYNCHRONISING[name](context)

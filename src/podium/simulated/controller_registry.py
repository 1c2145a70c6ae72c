"""The controllers by name: how each is made, run through an API server, or left to rivals.

Controllers run through an API server: their plans are carried out, one key at a time. The loop that
wakes a controller and comes back to keys whose writes failed is the client's.

Whether somebody else already does what controllers would do here. Two controllers of the same kind
in one cluster undo each other's work. kube-controller-manager holds a lease in kube-system; while
that is renewed, Podium's controllers have no place there.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from podium.client import ControlLoop, KubeClient, RateLimitingQueue, ResourceType
from podium.client.api_errors import ApiError, Conflict, NotFound
from podium.client.resources import COSCHEDULING_POD_GROUPS, ELASTIC_QUOTAS, LEASES
from podium.kubernetes.controllers.controller import Controller, FailureReporter, Wake
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
from podium.kubernetes.controllers.nodes import Lease
from podium.kubernetes.controllers.pod_claims import EphemeralVolumes
from podium.kubernetes.controllers.pod_gc import PodGC
from podium.kubernetes.controllers.pod_groups import CoschedulingPodGroups
from podium.kubernetes.controllers.replica_sets import ReplicaSets, ReplicationControllers
from podium.kubernetes.controllers.resource_claims import ResourceClaims
from podium.kubernetes.controllers.stateful_sets import StatefulSets
from podium.kubernetes.controllers.taint_eviction import TaintEviction
from podium.kubernetes.controllers.volume_protection import VolumeProtection
from podium.kubernetes.controllers.volumes import Volumes
from podium.kubernetes.rules.timestamps import seconds_of
from podium.simulated.clock import ClusterClock
from podium.simulated.controllers.garbage import Garbage
from podium.simulated.controllers.namespaces import Namespaces
from podium.simulated.controllers.resource_quotas import ResourceQuotas
from podium.simulated.informers import Informers, ServedKinds
from podium.simulated.request_executor import RequestExecutor

_WORKERS: Final = 8
_GATHER_S: Final = 0.02
"""How long changes are gathered before they are looked at; real seconds."""
_NAMESPACE_GOES: Final = "NamespaceTerminating"


class Synchroniser(Protocol):
    """A controller that has to ask the API before it can decide."""

    name: str

    def watch(self, wake: Wake) -> None: ...

    async def sync(self, key: Any) -> float | None:
        """Do what is to be done; after how many seconds to look again."""


class Planned:
    """A controller whose plans are carried out (a `Synchroniser`)."""

    def __init__(
        self, controller: Controller, executor: RequestExecutor, clock: ClusterClock
    ) -> None:
        self.name = controller.name
        self.watch = controller.watch
        self._controller = controller
        self._executor = executor
        self._clock = clock

    async def sync(self, key: Any) -> float | None:
        plan = self._controller.plan(key, self._clock.moment())
        try:
            await self._executor.execute(plan.actions)
        except ApiError as problem:
            if problem.has_cause(_NAMESPACE_GOES):
                # upstream: nothing can be made there any more, so nothing is tried again.
                return plan.again_after_s
            # A write that came too late is no failure: it is tried again.
            is_late = isinstance(problem, Conflict | NotFound)
            if not is_late and isinstance(self._controller, FailureReporter):
                report = self._controller.plan_after_failure(key, problem, self._clock.moment())
                await self._executor.execute(report.actions)
            raise
        return plan.again_after_s


def make_control_loop(
    controller: Synchroniser, clock: ClusterClock, *, workers: int = _WORKERS
) -> ControlLoop[Any]:
    """The loop that runs a controller; changes are gathered for a moment before they count."""
    queue: RateLimitingQueue[Any] = RateLimitingQueue(clock=clock)
    gather_s = _GATHER_S * clock.speed
    controller.watch(lambda key: queue.add_after(key, gather_s))
    return ControlLoop(controller.name, controller.sync, queue, workers=workers)


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


def list_controllers() -> tuple[str, ...]:
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


_NAMESPACE: Final = "kube-system"
_NAME: Final = "kube-controller-manager"
_FRESH_S: Final = 60.0


class Rival(NamedTuple):
    name: str
    age_s: float


async def rival_of(
    client: KubeClient, controllers: Collection[str], wall: Callable[[], float] = time.time
) -> Rival | None:
    """Who is at work already, if any of these controllers is to run. Raises ApiError."""
    if not controllers:
        return None
    try:
        lease = msgspec.json.decode(await client.get(LEASES, _NAME, _NAMESPACE), type=Lease)
    except NotFound:
        return None
    if not lease.spec.holder_identity or not lease.spec.renew_time:
        return None
    age_s = wall() - seconds_of(lease.spec.renew_time)
    return Rival(_NAME, max(0.0, age_s)) if age_s < _FRESH_S else None

"""Informers: everything that the simulated cluster knows, one store for each kind.

A store comes into being when somebody first asks for it. So what the chosen controllers read is
mirrored, and nothing else is.
"""

from typing import Any, Final, Generic, TypeVar

from podium.client import ResourceType
from podium.client import resources as known
from podium.kubernetes.controllers import workloads as controlled
from podium.kubernetes.controllers.claims import ResourceClaimTemplate
from podium.kubernetes.controllers.cron_jobs import CronJob
from podium.kubernetes.controllers.endpoints import Endpoints, EndpointSlice
from podium.kubernetes.controllers.nodes import Lease, Node
from podium.kubernetes.controllers.services import Service
from podium.kubernetes.kinds import storage, workloads
from podium.kubernetes.kinds.coscheduling import SchedulingXPodGroup
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.elastic_quota import ElasticQuota
from podium.kubernetes.kinds.meta import KubeObject
from podium.kubernetes.rules.quotas import ResourceQuota
from podium.simulated_cluster.store import PodStore, Store

T = TypeVar("T", bound=KubeObject)


class Informer(Generic[T]):
    """The store of one kind, made when it is first asked for."""

    def __init__(self, resource: ResourceType, kind: type[T]) -> None:
        self.resource = resource
        self.kind = kind

    def __get__(self, informers: "Informers", _: type["Informers"] | None = None) -> Store[T]:
        return informers.store(self.resource, self.kind)


class Informers:
    nodes = Informer(known.NODES, Node)
    leases = Informer(known.LEASES, Lease)
    namespaces = Informer(known.NAMESPACES, KubeObject)
    service_accounts = Informer(known.SERVICE_ACCOUNTS, KubeObject)
    config_maps = Informer(known.CONFIG_MAPS, controlled.ConfigMap)
    replication_controllers = Informer(
        known.REPLICATION_CONTROLLERS, controlled.ReplicationController
    )
    replica_sets = Informer(known.REPLICA_SETS, controlled.ReplicaSet)
    deployments = Informer(known.DEPLOYMENTS, controlled.Deployment)
    stateful_sets = Informer(known.STATEFUL_SETS, controlled.StatefulSet)
    daemon_sets = Informer(known.DAEMON_SETS, controlled.DaemonSet)
    revisions = Informer(known.CONTROLLER_REVISIONS, controlled.ControllerRevision)
    cron_jobs = Informer(known.CRON_JOBS, CronJob)
    jobs = Informer(known.JOBS, controlled.Job)
    budgets = Informer(known.POD_DISRUPTION_BUDGETS, workloads.PodDisruptionBudget)
    services = Informer(known.SERVICES, Service)
    endpoints = Informer(known.ENDPOINTS, Endpoints)
    endpoint_slices = Informer(known.ENDPOINT_SLICES, EndpointSlice)
    quotas = Informer(known.RESOURCE_QUOTAS, ResourceQuota)
    claims = Informer(known.PERSISTENT_VOLUME_CLAIMS, storage.PersistentVolumeClaim)
    volumes = Informer(known.PERSISTENT_VOLUMES, storage.PersistentVolume)
    storage_classes = Informer(known.STORAGE_CLASSES, storage.StorageClass)
    csi_nodes = Informer(known.CSI_NODES, storage.CSINode)
    resource_claims = Informer(known.RESOURCE_CLAIMS, ResourceClaim)
    coscheduling_pod_groups = Informer(known.COSCHEDULING_POD_GROUPS, SchedulingXPodGroup)
    elastic_quotas = Informer(known.ELASTIC_QUOTAS, ElasticQuota)
    claim_templates = Informer(known.RESOURCE_CLAIM_TEMPLATES, ResourceClaimTemplate)

    def __init__(self) -> None:
        self.stores: dict[ResourceType, Store[Any]] = {}

    @property
    def pods(self) -> PodStore:
        found = self.stores.get(known.PODS)
        if not isinstance(found, PodStore):
            found = self.stores[known.PODS] = PodStore(known.PODS)
        return found

    def store(self, resource: ResourceType, kind: type[T]) -> Store[T]:
        if resource not in self.stores:
            self.stores[resource] = Store(resource, kind)
        return self.stores[resource]

    def store_of(self, resource: ResourceType) -> Store[Any]:
        """The store of any kind; where nobody reads more of it, with metadata only."""
        if resource == known.PODS:
            return self.pods
        return self.store(resource, _KINDS.get(resource, KubeObject))


_KINDS: Final[dict[ResourceType, type[KubeObject]]] = {
    each.resource: each.kind for each in vars(Informers).values() if isinstance(each, Informer)
}
"""Kinds of which more than the metadata is read."""

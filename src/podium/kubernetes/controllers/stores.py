"""What controllers know: objects of each kind with the indexes that they read.

In the simulated cluster a store is an informer, fed by a watch; offline it is a dictionary. A store
comes into being when somebody first asks for it, so what the chosen controllers read is mirrored,
and nothing else is.

Contract: listeners are told (old, new) of every change, in order; either is None when there is
none.

Services as those see them who look after their endpoints and count what they take.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers import workloads as controlled
from podium.kubernetes.controllers.indexer import NAMESPACE_INDEX, Index, Indexer
from podium.kubernetes.controllers.objects import Lease, Node
from podium.kubernetes.controllers.pod_templates import ResourceClaimTemplate
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.kinds import storage, workloads
from podium.kubernetes.kinds import workloads as read_by_engine
from podium.kubernetes.kinds.devices import ResourceClaim
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota, SchedulingXPodGroup
from podium.kubernetes.kinds.workloads import ResourceQuota
from podium.kubernetes.resources import resource_types as known
from podium.kubernetes.resources.resource_types import ResourceType

EXTERNAL_NAME = "ExternalName"
NO_ADDRESS = "None"
"""The cluster address of a service that wants none: a headless one."""


class ServicePort(KubeStruct, frozen=True):
    name: str = ""
    port: int = 0
    protocol: str = "TCP"
    app_protocol: str | None = None
    target_port: int | str | None = None
    node_port: int = 0


class ServiceSpec(read_by_engine.ServiceSpec, frozen=True):
    UNREAD = frozenset()

    type: str = "ClusterIP"
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ip_families: tuple[str, ...] | None = None
    ports: tuple[ServicePort, ...] | None = None
    publish_not_ready_addresses: bool = False
    allocate_load_balancer_node_ports: bool | None = None


class Service(KubeObject, frozen=True):
    spec: ServiceSpec = ServiceSpec()

    @property
    def is_headless(self) -> bool:
        return self.spec.cluster_ip in ("", NO_ADDRESS)


class Endpoints(KubeObject, frozen=True):
    subsets: tuple[JsonObject, ...] | None = None


class EndpointSlice(KubeObject, frozen=True):
    address_type: str = ""
    endpoints: tuple[JsonObject, ...] | None = None
    ports: tuple[JsonObject, ...] | None = None


T = TypeVar("T", bound=KubeObject)
Listener = Callable[[T | None, T | None], None]


class KindStore(Generic[T]):
    """One kind."""

    def __init__(self, indexer: Indexer[T]) -> None:
        self.indexer = indexer

    # Indexes are made when they are first read: each costs a little for every object.

    @cached_property
    def in_namespace(self) -> Index[T]:
        return self.indexer.index(NAMESPACE_INDEX)

    @cached_property
    def owned_by(self) -> Index[T]:
        return self.indexer.add_index("controller", _controller_uid)

    @cached_property
    def orphans(self) -> Index[T]:
        return self.indexer.add_index("orphans", _namespace_if_orphan)

    @cached_property
    def dependents_of(self) -> Index[T]:
        return self.indexer.add_index("owners", _owner_uids)

    def __len__(self) -> int:
        return len(self.indexer)

    def all(self) -> list[T]:
        return self.indexer.list()

    def get(self, namespace: str, name: str) -> T | None:
        return self.indexer.get(namespace, name)

    def find(self, key: tuple[str, str]) -> T | None:
        return self.indexer.get_by_key(key)

    def listen(self, listener: Listener[T]) -> None:
        raise NotImplementedError

    def put(self, obj: T) -> None:
        """An object as it is now; one that is known to be newer stays."""
        raise NotImplementedError

    def drop(self, obj: T) -> None:
        """An object that is gone."""
        raise NotImplementedError


class PodStore(KindStore[Pod]):
    """Pods, also by the node that they are on and the claims that they use."""

    @cached_property
    def on_node(self) -> Index[Pod]:
        return self.indexer.add_index("node", _node_name)

    @cached_property
    def using_claim(self) -> Index[Pod]:
        return self.indexer.add_index("claims", _claim_keys)


class StoredKind(Generic[T]):
    """The store of one kind, made when it is first asked for."""

    def __init__(self, resource: ResourceType, kind: type[T]) -> None:
        self.resource = resource
        self.kind = kind

    def __get__(self, stores: "Stores", _: type["Stores"] | None = None) -> KindStore[T]:
        return stores.store(self.resource, self.kind)


class Stores:
    nodes = StoredKind(known.NODES, Node)
    leases = StoredKind(known.LEASES, Lease)
    namespaces = StoredKind(known.NAMESPACES, KubeObject)
    service_accounts = StoredKind(known.SERVICE_ACCOUNTS, KubeObject)
    config_maps = StoredKind(known.CONFIG_MAPS, controlled.ConfigMap)
    replication_controllers = StoredKind(
        known.REPLICATION_CONTROLLERS, controlled.ReplicationController
    )
    replica_sets = StoredKind(known.REPLICA_SETS, controlled.ReplicaSet)
    deployments = StoredKind(known.DEPLOYMENTS, controlled.Deployment)
    stateful_sets = StoredKind(known.STATEFUL_SETS, controlled.StatefulSet)
    daemon_sets = StoredKind(known.DAEMON_SETS, controlled.DaemonSet)
    revisions = StoredKind(known.CONTROLLER_REVISIONS, controlled.ControllerRevision)
    cron_jobs = StoredKind(known.CRON_JOBS, controlled.CronJob)
    jobs = StoredKind(known.JOBS, controlled.Job)
    budgets = StoredKind(known.POD_DISRUPTION_BUDGETS, workloads.PodDisruptionBudget)
    services = StoredKind(known.SERVICES, Service)
    endpoints = StoredKind(known.ENDPOINTS, Endpoints)
    endpoint_slices = StoredKind(known.ENDPOINT_SLICES, EndpointSlice)
    quotas = StoredKind(known.RESOURCE_QUOTAS, ResourceQuota)
    claims = StoredKind(known.PERSISTENT_VOLUME_CLAIMS, storage.PersistentVolumeClaim)
    volumes = StoredKind(known.PERSISTENT_VOLUMES, storage.PersistentVolume)
    storage_classes = StoredKind(known.STORAGE_CLASSES, storage.StorageClass)
    csi_nodes = StoredKind(known.CSI_NODES, storage.CSINode)
    resource_claims = StoredKind(known.RESOURCE_CLAIMS, ResourceClaim)
    coscheduling_pod_groups = StoredKind(known.COSCHEDULING_POD_GROUPS, SchedulingXPodGroup)
    elastic_quotas = StoredKind(known.ELASTIC_QUOTAS, ElasticQuota)
    claim_templates = StoredKind(known.RESOURCE_CLAIM_TEMPLATES, ResourceClaimTemplate)

    @property
    def stores(self) -> Mapping[ResourceType, KindStore[Any]]:
        """Those that somebody has asked for."""
        raise NotImplementedError

    @property
    def pods(self) -> PodStore:
        raise NotImplementedError

    def store(self, resource: ResourceType, kind: type[T]) -> KindStore[T]:
        """The store of a kind, of which `kind` is read."""
        raise NotImplementedError

    def store_of(self, resource: ResourceType) -> KindStore[Any]:
        """The store of any kind; where nobody reads more of it, with metadata only."""
        if resource == known.PODS:
            return self.pods
        return self.store(resource, KINDS.get(resource, KubeObject))


KINDS: Final[dict[ResourceType, type[KubeObject]]] = {
    each.resource: each.kind for each in vars(Stores).values() if isinstance(each, StoredKind)
}
"""Kinds of which more than the metadata is read."""


def _node_name(pod: Pod) -> Iterable[str]:
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def _claim_keys(pod: Pod) -> Iterable[tuple[str, str]]:
    return tuple((pod.namespace, name) for name in pod.claim_names)


def _controller_uid(obj: KubeObject) -> Iterable[str]:
    owner = obj.metadata.controller
    return (owner.uid,) if owner is not None else ()


def _owner_uids(obj: KubeObject) -> Iterable[str]:
    return tuple(owner.uid for owner in obj.metadata.owner_references or ())


def _namespace_if_orphan(obj: KubeObject) -> Iterable[str]:
    return (obj.metadata.namespace,) if obj.metadata.controller is None else ()

"""Everything that the simulated cluster knows, one store for each kind.

A store comes into being when somebody first asks for it. So what the chosen controllers read is
mirrored, and nothing else is.
"""

from functools import cached_property
from typing import Any, Final, TypeVar

from podium.api import storage, workloads
from podium.api.devices import ResourceClaim
from podium.api.meta import KubeObject
from podium.client import ResourceType
from podium.client import resources as known
from podium.population.store import PodStore, Store
from podium.workloads import kinds
from podium.workloads.claims import ResourceClaimTemplate
from podium.workloads.nodes import Lease, Node

S = TypeVar("S", bound=Store[Any])


class World:
    def __init__(self) -> None:
        self.stores: dict[ResourceType, Store[Any]] = {}

    def _made(self, store: S) -> S:
        self.stores[store.resource] = store
        return store

    def things(self, resource: ResourceType) -> Store[Any]:
        """The store of any kind; where nobody reads more of it, with metadata only."""
        found = self.stores.get(resource)
        if found is None and resource in _TYPED:
            found = getattr(self, _TYPED[resource])
        return found if found is not None else self._made(Store(resource, KubeObject))

    @cached_property
    def pods(self) -> PodStore:
        return self._made(PodStore(known.PODS))

    @cached_property
    def nodes(self) -> Store[Node]:
        return self._made(Store(known.NODES, Node))

    @cached_property
    def leases(self) -> Store[Lease]:
        return self._made(Store(known.LEASES, Lease))

    @cached_property
    def namespaces(self) -> Store[KubeObject]:
        return self._made(Store(known.NAMESPACES, KubeObject))

    @cached_property
    def replication_controllers(self) -> Store[kinds.ReplicationController]:
        return self._made(Store(known.REPLICATION_CONTROLLERS, kinds.ReplicationController))

    @cached_property
    def replica_sets(self) -> Store[kinds.ReplicaSet]:
        return self._made(Store(known.REPLICA_SETS, kinds.ReplicaSet))

    @cached_property
    def deployments(self) -> Store[kinds.Deployment]:
        return self._made(Store(known.DEPLOYMENTS, kinds.Deployment))

    @cached_property
    def stateful_sets(self) -> Store[kinds.StatefulSet]:
        return self._made(Store(known.STATEFUL_SETS, kinds.StatefulSet))

    @cached_property
    def daemon_sets(self) -> Store[kinds.DaemonSet]:
        return self._made(Store(known.DAEMON_SETS, kinds.DaemonSet))

    @cached_property
    def revisions(self) -> Store[kinds.ControllerRevision]:
        return self._made(Store(known.CONTROLLER_REVISIONS, kinds.ControllerRevision))

    @cached_property
    def jobs(self) -> Store[kinds.Job]:
        return self._made(Store(known.JOBS, kinds.Job))

    @cached_property
    def budgets(self) -> Store[workloads.PodDisruptionBudget]:
        return self._made(Store(known.POD_DISRUPTION_BUDGETS, workloads.PodDisruptionBudget))

    @cached_property
    def claims(self) -> Store[storage.PersistentVolumeClaim]:
        return self._made(Store(known.PERSISTENT_VOLUME_CLAIMS, storage.PersistentVolumeClaim))

    @cached_property
    def volumes(self) -> Store[storage.PersistentVolume]:
        return self._made(Store(known.PERSISTENT_VOLUMES, storage.PersistentVolume))

    @cached_property
    def storage_classes(self) -> Store[storage.StorageClass]:
        return self._made(Store(known.STORAGE_CLASSES, storage.StorageClass))

    @cached_property
    def csi_nodes(self) -> Store[storage.CSINode]:
        return self._made(Store(known.CSI_NODES, storage.CSINode))

    @cached_property
    def resource_claims(self) -> Store[ResourceClaim]:
        return self._made(Store(known.RESOURCE_CLAIMS, ResourceClaim))

    @cached_property
    def claim_templates(self) -> Store[ResourceClaimTemplate]:
        return self._made(Store(known.RESOURCE_CLAIM_TEMPLATES, ResourceClaimTemplate))


_TYPED: Final = {
    known.PODS: "pods",
    known.NODES: "nodes",
    known.LEASES: "leases",
    known.NAMESPACES: "namespaces",
    known.REPLICATION_CONTROLLERS: "replication_controllers",
    known.REPLICA_SETS: "replica_sets",
    known.DEPLOYMENTS: "deployments",
    known.STATEFUL_SETS: "stateful_sets",
    known.DAEMON_SETS: "daemon_sets",
    known.CONTROLLER_REVISIONS: "revisions",
    known.JOBS: "jobs",
    known.POD_DISRUPTION_BUDGETS: "budgets",
    known.PERSISTENT_VOLUME_CLAIMS: "claims",
    known.PERSISTENT_VOLUMES: "volumes",
    known.STORAGE_CLASSES: "storage_classes",
    known.CSI_NODES: "csi_nodes",
    known.RESOURCE_CLAIMS: "resource_claims",
    known.RESOURCE_CLAIM_TEMPLATES: "claim_templates",
}
"""Kinds of which more than the metadata is read, and the store of each."""

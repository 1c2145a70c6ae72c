"""Kinds of objects as URLs name them, and those that Podium reads or writes.

Nobody needs discovery for the kinds that he knows: group, version, plural and whether objects
live in namespaces are part of Kubernetes' stable API.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class ResourceType:
    """One kind of objects; the core group is ""."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Where objects are; without a name the collection, without a namespace all of them.

        >>> PODS.path("shop", "web-0", "status")
        '/api/v1/namespaces/shop/pods/web-0/status'
        """
        start = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        parts = [start]
        if namespace and self.namespaced:
            parts.append(f"namespaces/{quote(namespace, safe='')}")
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=""))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def _core(plural: str, kind: str, *, namespaced: bool = True) -> ResourceType:
    return ResourceType("", "v1", plural, kind, namespaced)


def _storage(plural: str, kind: str, *, namespaced: bool = False) -> ResourceType:
    return ResourceType("storage.k8s.io", "v1", plural, kind, namespaced)


def _devices(plural: str, kind: str, *, namespaced: bool = True) -> ResourceType:
    return ResourceType("resource.k8s.io", "v1", plural, kind, namespaced)


CONFIG_MAPS: Final = _core("configmaps", "ConfigMap")
ENDPOINTS: Final = _core("endpoints", "Endpoints")
EVENTS: Final = _core("events", "Event")
NAMESPACES: Final = _core("namespaces", "Namespace", namespaced=False)
NODES: Final = _core("nodes", "Node", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: Final = _core("persistentvolumeclaims", "PersistentVolumeClaim")
PERSISTENT_VOLUMES: Final = _core("persistentvolumes", "PersistentVolume", namespaced=False)
PODS: Final = _core("pods", "Pod")
REPLICATION_CONTROLLERS: Final = _core("replicationcontrollers", "ReplicationController")
LIMIT_RANGES: Final = _core("limitranges", "LimitRange")
RESOURCE_QUOTAS: Final = _core("resourcequotas", "ResourceQuota")
SERVICE_ACCOUNTS: Final = _core("serviceaccounts", "ServiceAccount")
SERVICES: Final = _core("services", "Service")

CONTROLLER_REVISIONS: Final = ResourceType(
    "apps", "v1", "controllerrevisions", "ControllerRevision"
)
DAEMON_SETS: Final = ResourceType("apps", "v1", "daemonsets", "DaemonSet")
DEPLOYMENTS: Final = ResourceType("apps", "v1", "deployments", "Deployment")
REPLICA_SETS: Final = ResourceType("apps", "v1", "replicasets", "ReplicaSet")
STATEFUL_SETS: Final = ResourceType("apps", "v1", "statefulsets", "StatefulSet")
RUNTIME_CLASSES: Final = ResourceType(
    "node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False
)
CRON_JOBS: Final = ResourceType("batch", "v1", "cronjobs", "CronJob")
ENDPOINT_SLICES: Final = ResourceType("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
JOBS: Final = ResourceType("batch", "v1", "jobs", "Job")
LEASES: Final = ResourceType("coordination.k8s.io", "v1", "leases", "Lease")
EVENTS_K8S_IO: Final = ResourceType("events.k8s.io", "v1", "events", "Event")
POD_DISRUPTION_BUDGETS: Final = ResourceType(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"
)

CSI_NODES: Final = _storage("csinodes", "CSINode")
STORAGE_CLASSES: Final = _storage("storageclasses", "StorageClass")
RESOURCE_CLAIMS: Final = _devices("resourceclaims", "ResourceClaim")
RESOURCE_CLAIM_TEMPLATES: Final = _devices("resourceclaimtemplates", "ResourceClaimTemplate")
CSI_DRIVERS: Final = _storage("csidrivers", "CSIDriver")
CSI_STORAGE_CAPACITIES: Final = _storage(
    "csistoragecapacities", "CSIStorageCapacity", namespaced=True
)
VOLUME_ATTACHMENTS: Final = _storage("volumeattachments", "VolumeAttachment")
DEVICE_CLASSES: Final = _devices("deviceclasses", "DeviceClass", namespaced=False)
RESOURCE_SLICES: Final = _devices("resourceslices", "ResourceSlice", namespaced=False)
DEVICE_TAINT_RULES: Final = ResourceType(
    "resource.k8s.io", "v1beta2", "devicetaintrules", "DeviceTaintRule", namespaced=False
)
PRIORITY_CLASSES: Final = ResourceType(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
WORKLOADS: Final = ResourceType("scheduling.k8s.io", "v1alpha2", "workloads", "Workload")
POD_GROUPS: Final = ResourceType("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup")
COSCHEDULING_POD_GROUPS: Final = ResourceType(
    "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup"
)
ELASTIC_QUOTAS: Final = ResourceType(
    "scheduling.x-k8s.io", "v1alpha1", "elasticquotas", "ElasticQuota"
)

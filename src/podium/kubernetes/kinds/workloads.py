"""What stands around pods: namespaces, services, controllers, priorities, disruption budgets.

Scheduling reads little of them: which pods they select, what a priority class is worth and how
many disruptions a budget has left. A selector is None when it was left out, which selects
nothing for some of these kinds and everything for others.

Kinds that no scheduler reads and that decide all the same what a pod asks for, or whether it is
there at all: admission reads them, and so do controllers. The engine is not given any.
"""

from typing import Final, Literal

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import Condition, KubeObject, KubeStruct, LabelSelector

AppsV1 = Literal["apps/v1"]
APPS_V1: Final = "apps/v1"
# One string for all: msgspec leaves a field out whose value is the very object of its default, and
# `Literal` has the object of the module that was imported first.

NAMESPACE_LABEL: Final = "kubernetes.io/metadata.name"
"""A namespace's own name, as a label."""


class NamespaceStatus(KubeStruct, frozen=True):
    phase: str = ""


class Namespace(KubeObject, frozen=True):
    cluster_scoped = True
    UNREAD = frozenset({"spec"})

    api_version: Literal["v1"] = "v1"
    kind: Literal["Namespace"] = "Namespace"
    status: NamespaceStatus = NamespaceStatus()


class ServiceSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "allocateLoadBalancerNodePorts",
            "clusterIP",
            "clusterIPs",
            "externalIPs",
            "externalName",
            "externalTrafficPolicy",
            "healthCheckNodePort",
            "internalTrafficPolicy",
            "ipFamilies",
            "ipFamilyPolicy",
            "loadBalancerClass",
            "loadBalancerIP",
            "loadBalancerSourceRanges",
            "ports",
            "publishNotReadyAddresses",
            "sessionAffinity",
            "sessionAffinityConfig",
            "trafficDistribution",
            "type",
        }
    )

    selector: dict[str, str] | None = None


class Service(KubeObject, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["v1"] = "v1"
    kind: Literal["Service"] = "Service"
    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"minReadySeconds", "template"})

    replicas: int | None = None
    selector: dict[str, str] | None = None


class ReplicationController(KubeObject, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: Literal["v1"] = "v1"
    kind: Literal["ReplicationController"] = "ReplicationController"
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class ReplicaSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset({"minReadySeconds", "template"})

    replicas: int | None = None
    selector: LabelSelector | None = None


class ReplicaSetStatus(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "availableReplicas",
            "fullyLabeledReplicas",
            "observedGeneration",
            "readyReplicas",
            "replicas",
            "terminatingReplicas",
        }
    )

    conditions: tuple[Condition, ...] | None = None


class ReplicaSet(KubeObject, frozen=True):
    api_version: AppsV1 = APPS_V1
    kind: Literal["ReplicaSet"] = "ReplicaSet"
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class StatefulSetSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "minReadySeconds",
            "ordinals",
            "persistentVolumeClaimRetentionPolicy",
            "podManagementPolicy",
            "revisionHistoryLimit",
            "serviceName",
            "template",
            "updateStrategy",
            "volumeClaimTemplates",
        }
    )

    replicas: int | None = None
    selector: LabelSelector | None = None


class StatefulSet(KubeObject, frozen=True):
    UNREAD = frozenset({"status"})

    api_version: AppsV1 = APPS_V1
    kind: Literal["StatefulSet"] = "StatefulSet"
    spec: StatefulSetSpec = StatefulSetSpec()


class PriorityClass(KubeObject, frozen=True):
    cluster_scoped = True
    UNREAD = frozenset({"description"})

    api_version: Literal["scheduling.k8s.io/v1"] = "scheduling.k8s.io/v1"
    kind: Literal["PriorityClass"] = "PriorityClass"
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None


class PodDisruptionBudgetSpec(KubeStruct, frozen=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(KubeStruct, frozen=True):
    """`disrupted_pods` holds pods whose eviction is under way: name to time."""

    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str | None] | None = None
    conditions: tuple[Condition, ...] | None = None


class PodDisruptionBudget(KubeObject, frozen=True):
    api_version: Literal["policy/v1"] = "policy/v1"
    kind: Literal["PodDisruptionBudget"] = "PodDisruptionBudget"
    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()


class LimitRange(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["LimitRange"] = "LimitRange"
    spec: JsonObject | None = None


class RuntimeClass(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["node.k8s.io/v1"] = "node.k8s.io/v1"
    kind: Literal["RuntimeClass"] = "RuntimeClass"
    handler: str = ""
    overhead: JsonObject | None = None
    scheduling: JsonObject | None = None


class ResourceQuotaSpec(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    scopes: tuple[str, ...] | None = None
    scope_selector: JsonObject | None = None


class ResourceQuotaStatus(KubeStruct, frozen=True):
    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class ResourceQuota(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["ResourceQuota"] = "ResourceQuota"
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


ADMISSION_KINDS: dict[tuple[str, str], type[KubeObject]] = {
    (struct().api_version, struct().kind): struct
    for struct in (LimitRange, ResourceQuota, RuntimeClass)
}

"""Pods as scheduling sees them: what they ask for, where they may go, how far they have come.

Volumes live in `volumes.py`; the arithmetic over these Structs (requests, selectors, affinity
terms) lives in modules of its own, so that this file stays a plain description of the data.
"""

from typing import Final, Literal

import msgspec

from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, LabelSelector, ResourceList
from podium.kubernetes.kinds.volumes import Volume


class ContainerResourceClaim(KubeStruct, frozen=True):
    """A claim that a container uses, by the name that its pod has for it."""

    name: str = ""
    request: str = ""


class ResourceRequirements(KubeStruct, frozen=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None
    claims: tuple[ContainerResourceClaim, ...] | None = None


class ContainerPort(KubeStruct, frozen=True):
    name: str = ""
    container_port: int = 0
    host_port: int = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class RestartRule(KubeStruct, frozen=True):
    UNREAD = frozenset({"exitCodes"})

    action: str = ""


class EnvVar(KubeStruct, frozen=True):
    UNREAD = frozenset({"valueFrom"})

    name: str = ""
    value: str = ""


class SeccompProfile(KubeStruct, frozen=True):
    type: str = ""
    localhost_profile: str = ""


class SecurityContext(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "allowPrivilegeEscalation",
            "appArmorProfile",
            "capabilities",
            "privileged",
            "procMount",
            "readOnlyRootFilesystem",
            "runAsGroup",
            "runAsNonRoot",
            "runAsUser",
            "seLinuxOptions",
            "windowsOptions",
        }
    )

    seccomp_profile: SeccompProfile | None = None


class PodSecurityContext(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "appArmorProfile",
            "fsGroup",
            "fsGroupChangePolicy",
            "runAsGroup",
            "runAsNonRoot",
            "runAsUser",
            "seLinuxChangePolicy",
            "seLinuxOptions",
            "supplementalGroups",
            "supplementalGroupsPolicy",
            "sysctls",
            "windowsOptions",
        }
    )

    seccomp_profile: SeccompProfile | None = None


class Container(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "args",
            "command",
            "envFrom",
            "imagePullPolicy",
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "resizePolicy",
            "startupProbe",
            "stdin",
            "stdinOnce",
            "terminationMessagePath",
            "terminationMessagePolicy",
            "tty",
            "volumeDevices",
            "volumeMounts",
            "workingDir",
        }
    )

    name: str = ""
    image: str = ""
    resources: ResourceRequirements | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str = ""
    restart_policy_rules: tuple[RestartRule, ...] | None = None
    env: tuple[EnvVar, ...] | None = None
    security_context: SecurityContext | None = None


class Toleration(KubeStruct, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeSelectorRequirement(KubeStruct, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(KubeStruct, frozen=True):
    match_expressions: tuple[NodeSelectorRequirement, ...] | None = None
    match_fields: tuple[NodeSelectorRequirement, ...] | None = None


class NodeSelector(KubeStruct, frozen=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(KubeStruct, frozen=True):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(KubeStruct, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: (
        tuple[PreferredSchedulingTerm, ...] | None
    ) = None


class PodAffinityTerm(KubeStruct, frozen=True):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodAffinityTerm(KubeStruct, frozen=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(KubeStruct, frozen=True):
    """Both podAffinity and podAntiAffinity: the two have the same shape."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] | None = None
    preferred_during_scheduling_ignored_during_execution: (
        tuple[WeightedPodAffinityTerm, ...] | None
    ) = None


class Affinity(KubeStruct, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(KubeStruct, frozen=True):
    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class PodSchedulingGate(KubeStruct, frozen=True):
    name: str = ""


class PodResourceClaim(KubeStruct, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(KubeStruct, frozen=True):
    pod_group_name: str | None = None


class PodSpec(KubeStruct, frozen=True):
    UNREAD = frozenset(
        {
            "automountServiceAccountToken",
            "dnsConfig",
            "dnsPolicy",
            "enableServiceLinks",
            "ephemeralContainers",
            "hostAliases",
            "hostIPC",
            "hostPID",
            "hostname",
            "hostnameOverride",
            "imagePullSecrets",
            "os",
            "readinessGates",
            "restartPolicy",
            "serviceAccount",
            "serviceAccountName",
            "setHostnameAsFQDN",
            "shareProcessNamespace",
            "subdomain",
            "terminationGracePeriodSeconds",
            "workloadRef",
        }
    )

    node_name: str = ""
    scheduler_name: str = "default-scheduler"
    priority: int | None = None
    priority_class_name: str = ""
    runtime_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    volumes: tuple[Volume, ...] | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] | None = None
    scheduling_group: PodSchedulingGroup | None = None
    host_network: bool = False
    host_users: bool | None = None
    security_context: PodSecurityContext | None = None
    active_deadline_seconds: int | None = None


POD_SCHEDULED: Final = "PodScheduled"
"""The condition in which schedulers say what came of a pod."""


class PodCondition(KubeStruct, frozen=True):
    UNREAD = frozenset({"lastProbeTime"})

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class ContainerStatus(KubeStruct, frozen=True):
    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None


class PodResourceClaimStatus(KubeStruct, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(KubeStruct, frozen=True):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(KubeStruct, frozen=True):
    resource_claim_name: str = ""
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] | None = None


class NodeAllocatableResourceClaimStatus(KubeStruct, frozen=True):
    """What a claim takes of a node's own resources, with the gate DRANodeAllocatableResources."""

    resource_claim_name: str = ""
    containers: tuple[str, ...] | None = None
    resources: ResourceList | None = None


class PodStatus(KubeStruct, frozen=True):
    phase: str = ""
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: tuple[PodCondition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] | None = None
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: (
        tuple[NodeAllocatableResourceClaimStatus, ...] | None
    ) = None


class Pod(KubeObject, frozen=True):
    api_version: Literal["v1"] = "v1"
    kind: Literal["Pod"] = "Pod"
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


def as_pending(pod: Pod) -> Pod:
    """A pod on a node as it would be if it had to find one."""
    return msgspec.structs.replace(
        pod,
        spec=msgspec.structs.replace(pod.spec, node_name=""),
        status=msgspec.structs.replace(pod.status, nominated_node_name=""),
    )

"""Feature gates that some release of Kubernetes had and 1.36 has no more.

kube-scheduler refuses a gate that it does not know, be it a slip of the pen or a switch of long
ago. Command lines and articles outlive gates, so Podium tells the two apart: a gate that is gone is
taken with a warning, which says since when and, where it was about scheduling, what does its work
today. `--strict` refuses it as kube-scheduler does.

Contract: `REPLACED_BY` are gates under another name, and set what they were renamed to; all others
change nothing.

Sources: the registered gates of every minor release from v1.4.0 to v1.36.0.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

OLD_CAPACITY_GATE: Final = "VolumeCapacityPriority"

_GONE_SINCE: Final = {
    "1.8": "AffinityInAnnotations DynamicVolumeProvisioning",
    "1.10": "AllowExtTrafficLocalEndpoints KubeletConfigFile PVCProtection",
    "1.11": "Accelerators",
    "1.12": ("DynamicProvisioningScheduling ReadOnlyAPIDataVolumes ServiceProxyAllowExternalIPs"),
    "1.14": "EnableEquivalenceClassCache Initializers MountPropagation",
    "1.16": (
        "CSIPersistentVolume CustomPodDNS DebugContainers ExperimentalCriticalPodAnnotation "
        "HugePages KubeletPluginsWatcher PodReadinessGates VolumeScheduling"
    ),
    "1.17": (
        "EnableAggregatedDiscoveryTimeout GCERegionalPersistentDisk MountContainers "
        "PersistentLocalVolumes RequestManagement"
    ),
    "1.18": (
        "CustomResourceDefaulting CustomResourcePublishOpenAPI CustomResourceSubresources "
        "CustomResourceValidation CustomResourceWebhookConversion PodPriority "
        "ResourceQuotaScopeSelectors ScheduleDaemonSetPods TaintNodesByCondition"
    ),
    "1.19": (
        "DynamicAuditing PodShareProcessNamespace ResourceLimitsPriorityFunction "
        "VolumeSubpathEnvExpansion"
    ),
    "1.20": (
        "DefaultIngressClass ServiceLoadBalancerFinalizer SupportIPVSProxyMode TaintBasedEvictions"
    ),
    "1.21": (
        "AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSIMigrationAWSComplete "
        "CSIMigrationAzureDiskComplete CSIMigrationAzureFileComplete CSIMigrationGCEComplete "
        "CSIMigrationOpenStackComplete CSINodeInfo EvenPodsSpread HyperVContainer "
        "RotateKubeletClientCertificate TokenRequest TokenRequestProjection VolumePVCDataSource "
        "WindowsGMSA WindowsRunAsUserName"
    ),
    "1.22": (
        "BalanceAttachedNodeVolumes CRIContainerLogRotation CSIMigrationvSphereComplete "
        "ExternalPolicyForExternalIP LegacyNodeRoleBehavior NodeDisruptionExclusion "
        "RootCAConfigMap RunAsGroup SCTPSupport ServiceAppProtocol ServiceNodeExclusion "
        "ServiceTopology VolumeSnapshotDataSource"
    ),
    "1.23": (
        "AllowInsecureBackendProxy BoundServiceAccountTokenVolume CronJobControllerV2 NodeLease "
        "ServiceAccountIssuerDiscovery StartupProbe SupportNodePidsLimit SupportPodPidsLimit "
        "Sysctls"
    ),
    "1.24": (
        "HugePageStorageMediumSize ImmutableEphemeralVolumes NamespaceDefaultLabelName "
        "RuntimeClass SetHostnameAsFQDN StreamingProxyRedirects ValidateProxyRedirects "
        "WarningHeaders"
    ),
    "1.25": (
        "CSIServiceAccountToken CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy EndpointSlice "
        "EndpointSliceNodeName EndpointSliceProxying GenericEphemeralVolume "
        "IngressClassNamespacedParams PodDisruptionBudget SelectorIndex "
        "StorageObjectInUseProtection TTLAfterFinished VolumeSubpath "
        "WindowsEndpointSliceProxying"
    ),
    "1.26": (
        "CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread DynamicKubeletConfig "
        "IndexedJob NonPreemptingPriority PodAffinityNamespaceSelector PodOverhead "
        "PreferNominatedNode ServiceLBNodePortControl ServiceLoadBalancerClass SuspendJob"
    ),
    "1.27": (
        "CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk "
        "ControllerManagerLeaderMigration DaemonSetUpdateSurge EphemeralContainers "
        "ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes IPv6DualStack "
        "IdentifyPodOS LocalStorageCapacityIsolation NetworkPolicyEndPort "
        "StatefulSetMinReadySeconds"
    ),
    "1.28": (
        "AdvancedAuditing CSIMigrationGCE CSIStorageCapacity DelegateFSGroupToCSIDriver "
        "DevicePlugins DisableAcceleratorUsageMetrics DryRun EndpointSliceTerminatingCondition "
        "KubeletCredentialProviders MixedProtocolLBService NetworkPolicyStatus "
        "PodHasNetworkCondition PodSecurity ServiceIPStaticSubrange "
        "ServiceInternalTrafficPolicy UserNamespacesStatelessPodsSupport "
        "WindowsHostProcessContainers"
    ),
    "1.29": (
        "CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe "
        "JobMutableNodeSchedulingDirectives JobTrackingWithFinalizers "
        "LegacyServiceAccountTokenNoAutoGeneration MultiCIDRRangeAllocator OpenAPIV3 "
        "ProbeTerminationGracePeriod RetroactiveDefaultStorageClass SeccompDefault "
        "TopologyManager"
    ),
    "1.30": (
        "APISelfSubjectReview CSIMigrationAzureFile ExpandedDNSConfig "
        "ExperimentalHostUserNamespaceDefaulting IPTablesOwnershipCleanup KubeletPodResources "
        "KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenTracking "
        "MinimizeIPTablesRestore ProxyTerminatingEndpoints RemoveSelfLink SecurityContextDeny"
    ),
    "1.31": (
        "APIPriorityAndFairness CSIMigrationRBD CSINodeExpandSecret ConsistentHTTPGetHandlers "
        "CustomResourceValidationExpressions DefaultHostNetworkHostPortsInPodTemplates "
        "InTreePluginAWSUnregister InTreePluginAzureDiskUnregister "
        "InTreePluginAzureFileUnregister InTreePluginGCEUnregister "
        "InTreePluginOpenStackUnregister InTreePluginRBDUnregister "
        "InTreePluginvSphereUnregister JobReadyPods ReadWriteOncePod "
        "ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE"
    ),
    "1.32": (
        "CloudDualStackNodeIPs DRAControlPlaneController HPAContainerMetrics KMSv2 KMSv2KDF "
        "LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread "
        "NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach PodHostIPs ServerSideApply "
        "ServerSideFieldValidation StableLoadBalancerNodeSet ValidatingAdmissionPolicy "
        "ZeroLimitedNominalConcurrencyShares"
    ),
    "1.33": (
        "APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor "
        "AppArmorFields CPUManager DisableCloudProviders DisableKubeletCloudCredentialProviders "
        "EfficientWatchResumption JobPodFailurePolicy KubeProxyDrainingTerminatingNodes "
        "PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime "
        "RemainingItemCount VolumeCapacityPriority WatchBookmark"
    ),
    "1.34": (
        "DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers "
        "PodDisruptionConditions StatefulSetStartOrdinal"
    ),
    "1.35": (
        "AllowServiceLBStatusOnNonLB ComponentSLIs CronJobsScheduledAnnotation "
        "LoadBalancerIPMode PodIndexLabel ProbeHostPodSecurityStandards SizeMemoryBackedVolumes "
        "StatefulSetAutoDeletePVC StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks "
        "UserNamespacesPodSecurityStandards"
    ),
    "1.36": (
        "CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus "
        "InTreePluginPortworxUnregister MemoryManager ServiceTrafficDistribution "
        "StructuredAuthorizationConfiguration TopologyAwareHints "
        "WatchFromStorageWithoutResourceVersion"
    ),
}
"""By the first release that no longer has them."""

REPLACED_BY: Final[Mapping[str, str]] = MappingProxyType(
    {OLD_CAPACITY_GATE: "StorageCapacityScoring"}
)
_ALWAYS: Final = "without a switch"
_DONE_BY: Final = {
    "AffinityInAnnotations": "affinity is a field of pods",
    "AttachVolumeLimit": f"NodeVolumeLimits counts volumes {_ALWAYS}",
    "BalanceAttachedNodeVolumes": "nothing balances volumes over nodes",
    "CSIStorageCapacity": f"VolumeBinding looks at CSIStorageCapacity objects {_ALWAYS}",
    "DRAControlPlaneController": "devices are allocated by DynamicResources, from ResourceSlices",
    "DefaultPodTopologySpread": f"PodTopologySpread has default constraints {_ALWAYS}",
    "DynamicProvisioningScheduling": f"VolumeBinding provisions where a pod goes {_ALWAYS}",
    "EnableEquivalenceClassCache": "similar pods share work without a switch",
    "EvenPodsSpread": f"PodTopologySpread reads topologySpreadConstraints {_ALWAYS}",
    "ExperimentalCriticalPodAnnotation": "pods are critical by their priorityClassName",
    "JobMutableNodeSchedulingDirectives": "suspended Jobs may change where their pods go",
    "LocalStorageCapacityIsolation": f"NodeResourcesFit counts ephemeral-storage {_ALWAYS}",
    "MinDomainsInPodTopologySpread": f"PodTopologySpread reads minDomains {_ALWAYS}",
    "NonPreemptingPriority": f"preemptionPolicy is read {_ALWAYS}",
    "PersistentLocalVolumes": f"VolumeBinding knows local volumes {_ALWAYS}",
    "PodAffinityNamespaceSelector": f"InterPodAffinity reads namespaceSelector {_ALWAYS}",
    "PodDisruptionBudget": f"preemption heeds budgets {_ALWAYS}",
    "PodDisruptionConditions": f"victims get the condition DisruptionTarget {_ALWAYS}",
    "PodOverhead": f"NodeResourcesFit adds overhead {_ALWAYS}",
    "PodPriority": f"pods have priorities and preempt by them {_ALWAYS}",
    "PreferNominatedNode": f"a nominated node is tried first {_ALWAYS}",
    "ReadWriteOncePod": f"VolumeRestrictions knows ReadWriteOncePod {_ALWAYS}",
    "ResourceLimitsPriorityFunction": "the plugin NodeResourceLimits scores by limits",
    "ScheduleDaemonSetPods": f"the scheduler places the pods of DaemonSets {_ALWAYS}",
    "TaintBasedEvictions": f"NoExecute taints evict {_ALWAYS}",
    "TaintNodesByCondition": f"conditions of nodes become taints {_ALWAYS}",
    "VolumeScheduling": f"VolumeBinding binds where a pod goes {_ALWAYS}",
}


_DIFFERS: Final = {
    OLD_CAPACITY_GATE: "; without a shape of one's own the fullest volume wins, as it did then"
}


class RemovedGate(NamedTuple):
    """A gate of the past: the first release without it, and what does its work, or ""."""

    name: str
    since: str
    done_by: str = ""
    replaced_by: str = ""

    def warning(self, on: bool) -> str:
        text = f"feature gate {self.name} is gone since Kubernetes {self.since}"
        if self.replaced_by:
            value = "true" if on else "false"
            differs = _DIFFERS.get(self.name, "") if on else ""
            return f"{text}; {self.replaced_by}={value} is set in its place, so write that{differs}"
        why = f" ({self.done_by})" if self.done_by else ""
        return f"{text} and has no effect{why}; leave it out"


REMOVED_GATES: Final[Mapping[str, RemovedGate]] = MappingProxyType(
    {
        name: RemovedGate(name, since, _DONE_BY.get(name, ""), REPLACED_BY.get(name, ""))
        for since, names in _GONE_SINCE.items()
        for name in names.split()
    }
)


def without_removed(overrides: Mapping[str, bool]) -> tuple[dict[str, bool], list[str]]:
    """The settings of gates that exist, and a warning for each that does not exist any more.

    A gate that is set under both its names has the value of the new one.
    """
    kept: dict[str, bool] = {}
    warnings: list[str] = []
    for name, on in overrides.items():
        gone = REMOVED_GATES.get(name)
        if gone is None:
            kept[name] = on
            continue
        warnings.append(gone.warning(on))
        if gone.replaced_by and gone.replaced_by not in overrides:
            kept[gone.replaced_by] = on
    return kept, warnings


def old_names_in_force(overrides: Mapping[str, bool]) -> frozenset[str]:
    """Gates of the past that switch on one of today which is not named itself."""
    return frozenset(
        name
        for name, on in overrides.items()
        if on and name in REPLACED_BY and REPLACED_BY[name] not in overrides
    )

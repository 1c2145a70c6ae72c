"""Pods: what is asked for, where they may run, how they are.

Templates of pods and bindings to nodes are here as well.
`schema/notation.py` explains the notation.
"""

TEXT = """
[core]
OSName, PodConditionType, PodResizeStatus, PodSELinuxChangePolicy, ResourceHealthStatus,
ResourceID = string
DNSPolicy = ClusterFirst | ClusterFirstWithHostNet | Default | None
NodeInclusionPolicy = Honor | Ignore
PodFSGroupChangePolicy = Always | OnRootMismatch
PodPhase = Failed | Pending | Running | Succeeded | Unknown
PodQOSClass = BestEffort | Burstable | Guaranteed
PreemptionPolicy = Never | PreemptLowerPriority
RestartPolicy = Always | Never | OnFailure
SupplementalGroupsPolicy = Merge | Strict
TaintEffect = NoExecute | NoSchedule | PreferNoSchedule
TolerationOperator = Equal | Exists | Gt | Lt
UnsatisfiableConstraintAction = DoNotSchedule | ScheduleAnyway
Pod object
    metadata ObjectMeta; spec PodSpec; status PodStatus
PodSpec
    volumes []Volume{name} merge retainKeys; initContainers, containers! []Container{name} merge;
    ephemeralContainers []EphemeralContainer{name} merge; restartPolicy RestartPolicy;
    terminationGracePeriodSeconds, activeDeadlineSeconds *int64; dnsPolicy DNSPolicy;
    nodeSelector map[string]string atomic; serviceAccountName, serviceAccount string;
    automountServiceAccountToken *bool; nodeName string; hostNetwork, hostPID, hostIPC bool;
    shareProcessNamespace *bool; securityContext *PodSecurityContext;
    imagePullSecrets []LocalObjectReference{name} merge; hostname, subdomain string;
    affinity *Affinity; schedulerName string; tolerations []Toleration;
    hostAliases []HostAlias{ip} merge; priorityClassName string; priority *int32;
    dnsConfig *PodDNSConfig; readinessGates []PodReadinessGate; runtimeClassName *string;
    enableServiceLinks *bool; preemptionPolicy *PreemptionPolicy; overhead ResourceList;
    topologySpreadConstraints []TopologySpreadConstraint{topologyKey whenUnsatisfiable} merge;
    setHostnameAsFQDN *bool; os *PodOS; hostUsers *bool;
    schedulingGates []PodSchedulingGate{name} merge;
    resourceClaims []PodResourceClaim{name} merge retainKeys; resources *ResourceRequirements;
    hostnameOverride *string; schedulingGroup *PodSchedulingGroup
LocalObjectReference atomic
    name string =
PodSecurityContext
    seLinuxOptions *SELinuxOptions; windowsOptions *WindowsSecurityContextOptions;
    runAsUser, runAsGroup *int64; runAsNonRoot *bool; supplementalGroups []int64;
    supplementalGroupsPolicy *SupplementalGroupsPolicy; fsGroup *int64; sysctls []Sysctl;
    fsGroupChangePolicy *PodFSGroupChangePolicy; seccompProfile *SeccompProfile;
    appArmorProfile *AppArmorProfile; seLinuxChangePolicy *PodSELinuxChangePolicy
Sysctl
    name!, value! string
Affinity
    nodeAffinity *NodeAffinity; podAffinity *PodAffinity; podAntiAffinity *PodAntiAffinity
NodeAffinity
    requiredDuringSchedulingIgnoredDuringExecution *NodeSelector;
    preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
PreferredSchedulingTerm
    weight! int32; preference! NodeSelectorTerm
PodAffinity
    requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
    preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAffinityTerm
    labelSelector *LabelSelector; namespaces []string; topologyKey! string;
    namespaceSelector *LabelSelector; matchLabelKeys, mismatchLabelKeys []string
WeightedPodAffinityTerm
    weight! int32; podAffinityTerm! PodAffinityTerm
PodAntiAffinity
    requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm;
    preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
Toleration
    key string; operator TolerationOperator; value string; effect TaintEffect;
    tolerationSeconds *int64
HostAlias
    ip! string; hostnames []string
PodDNSConfig
    nameservers, searches []string; options []PodDNSConfigOption
PodDNSConfigOption
    name string; value *string
PodReadinessGate
    conditionType! PodConditionType
TopologySpreadConstraint
    maxSkew! int32; topologyKey! string; whenUnsatisfiable! UnsatisfiableConstraintAction;
    labelSelector *LabelSelector; minDomains *int32;
    nodeAffinityPolicy, nodeTaintsPolicy *NodeInclusionPolicy; matchLabelKeys []string
PodOS
    name! OSName
PodSchedulingGate
    name! string
PodResourceClaim
    name! string; resourceClaimName, resourceClaimTemplateName *string
PodSchedulingGroup
    podGroupName *string
PodStatus
    observedGeneration int64; phase PodPhase; conditions []PodCondition{type} merge;
    message, reason, nominatedNodeName, hostIP string; hostIPs []HostIP merge=ip; podIP string;
    podIPs []PodIP{ip} merge; startTime *Time;
    initContainerStatuses, containerStatuses []ContainerStatus; qosClass PodQOSClass;
    ephemeralContainerStatuses []ContainerStatus; resize PodResizeStatus;
    resourceClaimStatuses []PodResourceClaimStatus{name} merge retainKeys;
    extendedResourceClaimStatus *PodExtendedResourceClaimStatus; allocatedResources ResourceList;
    resources *ResourceRequirements;
    nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus
PodCondition
    type! PodConditionType; observedGeneration int64; status! ConditionStatus;
    lastProbeTime, lastTransitionTime Time; reason, message string
HostIP
    ip! string
PodIP
    ip! string
ContainerStatus
    name! string; state, lastState ContainerState; ready! bool; restartCount! int32;
    image!, imageID!, containerID string; started *bool; allocatedResources ResourceList;
    resources *ResourceRequirements; volumeMounts []VolumeMountStatus{mountPath} merge;
    user *ContainerUser; allocatedResourcesStatus []ResourceStatus{name} merge; stopSignal *Signal
ContainerState
    waiting *ContainerStateWaiting; running *ContainerStateRunning;
    terminated *ContainerStateTerminated
ContainerStateWaiting
    reason, message string
ContainerStateRunning
    startedAt Time
ContainerStateTerminated
    exitCode!, signal int32; reason, message string; startedAt, finishedAt Time;
    containerID string
VolumeMountStatus
    name!, mountPath! string; readOnly bool; recursiveReadOnly *RecursiveReadOnlyMode;
    volumeStatus *VolumeStatus
VolumeStatus
    image *ImageVolumeStatus
ImageVolumeStatus
    imageRef!? string
ContainerUser
    linux *LinuxContainerUser
LinuxContainerUser
    uid!, gid! int64; supplementalGroups []int64
ResourceStatus
    name! ResourceName; resources []ResourceHealth{resourceID}
ResourceHealth
    resourceID! ResourceID; health ResourceHealthStatus; message *string
PodResourceClaimStatus
    name! string; resourceClaimName *string
PodExtendedResourceClaimStatus
    requestMappings! []ContainerExtendedResourceRequest; resourceClaimName! string
ContainerExtendedResourceRequest
    containerName!, resourceName!, requestName! string
NodeAllocatableResourceClaimStatus
    resourceClaimName! string; containers []string{}; resources! map[ResourceName]Quantity
PodTemplate object
    metadata ObjectMeta; template PodTemplateSpec
PodTemplateSpec
    metadata ObjectMeta; spec PodSpec
Binding object
    metadata ObjectMeta; target! ObjectReference
"""

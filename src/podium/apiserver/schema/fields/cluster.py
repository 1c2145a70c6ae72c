"""The rest of the core group: nodes, namespaces, services, configuration, quotas, events.

Only pods and volumes have files of their own.
`schema/notation.py` explains the notation.
"""

TEXT = """
[core]
FinalizerName, LimitType, LoadBalancerIPMode, NamespaceConditionType, NodeAddressType,
NodeConditionType, ReplicationControllerConditionType, SecretType, UniqueVolumeName = string
IPFamily =  | IPv4 | IPv6
IPFamilyPolicy = PreferDualStack | RequireDualStack | SingleStack
NamespacePhase = Active | Terminating
NodePhase = Pending | Running | Terminated
ResourceQuotaScope = BestEffort | CrossNamespacePodAffinity | NotBestEffort | NotTerminating |
  PriorityClass | Terminating | VolumeAttributesClass
ScopeSelectorOperator = DoesNotExist | Exists | In | NotIn
ServiceAffinity = ClientIP | None
ServiceExternalTrafficPolicy = Cluster | Local
ServiceInternalTrafficPolicy = Cluster | Local
ServiceType = ClusterIP | ExternalName | LoadBalancer | NodePort
Node object
    metadata ObjectMeta; spec NodeSpec; status NodeStatus
NodeSpec
    podCIDR string; podCIDRs []string{} merge; providerID string; unschedulable bool;
    taints []Taint; configSource *NodeConfigSource; externalID string
Taint
    key!, value string; effect! TaintEffect; timeAdded *Time
NodeConfigSource
    configMap *ConfigMapNodeConfigSource
ConfigMapNodeConfigSource
    namespace!, name! string; uid UID; resourceVersion, kubeletConfigKey! string
NodeStatus
    capacity, allocatable ResourceList; phase NodePhase; conditions []NodeCondition{type} merge;
    addresses []NodeAddress{type} merge; daemonEndpoints NodeDaemonEndpoints;
    nodeInfo NodeSystemInfo; images []ContainerImage; volumesInUse []UniqueVolumeName;
    volumesAttached []AttachedVolume; config *NodeConfigStatus;
    runtimeHandlers []NodeRuntimeHandler; features *NodeFeatures; declaredFeatures []string
NodeCondition
    type! NodeConditionType; status! ConditionStatus; lastHeartbeatTime, lastTransitionTime Time;
    reason, message string
NodeAddress
    type! NodeAddressType; address! string
NodeDaemonEndpoints
    kubeletEndpoint DaemonEndpoint
DaemonEndpoint
    Port! int32
NodeSystemInfo
    machineID!, systemUUID!, bootID!, kernelVersion!, osImage! string;
    containerRuntimeVersion!, kubeletVersion!, kubeProxyVersion! string;
    operatingSystem!, architecture! string; swap *NodeSwapStatus
NodeSwapStatus
    capacity *int64
ContainerImage
    names+ []string; sizeBytes int64
AttachedVolume
    name! UniqueVolumeName; devicePath! string
NodeConfigStatus
    assigned, active, lastKnownGood *NodeConfigSource; error string
NodeRuntimeHandler
    name+ string; features *NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures
    recursiveReadOnlyMounts, userNamespaces *bool
NodeFeatures
    supplementalGroupsPolicy *bool
Namespace object
    metadata ObjectMeta; spec NamespaceSpec; status NamespaceStatus
NamespaceSpec
    finalizers []FinalizerName
NamespaceStatus
    phase NamespacePhase; conditions []NamespaceCondition{type} merge
NamespaceCondition
    type! NamespaceConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
Service object
    metadata ObjectMeta; spec ServiceSpec; status ServiceStatus
ServiceSpec
    ports []ServicePort{port protocol} merge; selector map[string]string atomic; clusterIP string;
    clusterIPs []string; type ServiceType; externalIPs []string; sessionAffinity ServiceAffinity;
    loadBalancerIP string; loadBalancerSourceRanges []string; externalName string;
    externalTrafficPolicy ServiceExternalTrafficPolicy; healthCheckNodePort int32;
    publishNotReadyAddresses bool; sessionAffinityConfig *SessionAffinityConfig;
    ipFamilies []IPFamily; ipFamilyPolicy *IPFamilyPolicy; allocateLoadBalancerNodePorts *bool;
    loadBalancerClass *string; internalTrafficPolicy *ServiceInternalTrafficPolicy;
    trafficDistribution *string
ServicePort
    name string; protocol Protocol =TCP; appProtocol *string; port! int32; targetPort IntOrString;
    nodePort int32
SessionAffinityConfig
    clientIP *ClientIPConfig
ClientIPConfig
    timeoutSeconds *int32
ServiceStatus
    loadBalancer LoadBalancerStatus; conditions []Condition{type} merge
LoadBalancerStatus
    ingress []LoadBalancerIngress
LoadBalancerIngress
    ip, hostname string; ipMode *LoadBalancerIPMode; ports []PortStatus
PortStatus
    port! int32; protocol! Protocol; error *string
Endpoints object
    metadata ObjectMeta; subsets []EndpointSubset
EndpointSubset
    addresses, notReadyAddresses []EndpointAddress; ports []EndpointPort
EndpointAddress atomic
    ip!, hostname string; nodeName *string; targetRef *ObjectReference
EndpointPort atomic
    name string; port! int32; protocol Protocol; appProtocol *string
ConfigMap object
    metadata ObjectMeta; immutable *bool; data map[string]string; binaryData map[string][]byte
Secret object
    metadata ObjectMeta; immutable *bool; data map[string][]byte; stringData map[string]string;
    type SecretType
ServiceAccount object
    metadata ObjectMeta; secrets []ObjectReference{name} merge;
    imagePullSecrets []LocalObjectReference; automountServiceAccountToken *bool
Event object
    metadata! ObjectMeta; involvedObject! ObjectReference; reason, message string;
    source EventSource; firstTimestamp, lastTimestamp Time; count int32; type string;
    eventTime MicroTime; series *EventSeries; action string; related *ObjectReference;
    reportingComponent+, reportingInstance+ string
EventSource
    component, host string
EventSeries
    count int32; lastObservedTime MicroTime
ResourceQuota object
    metadata ObjectMeta; spec ResourceQuotaSpec; status ResourceQuotaStatus
ResourceQuotaSpec
    hard ResourceList; scopes []ResourceQuotaScope; scopeSelector *ScopeSelector
ScopeSelector atomic
    matchExpressions []ScopedResourceSelectorRequirement
ScopedResourceSelectorRequirement
    scopeName! ResourceQuotaScope; operator! ScopeSelectorOperator; values []string
ResourceQuotaStatus
    hard, used ResourceList
LimitRange object
    metadata ObjectMeta; spec LimitRangeSpec
LimitRangeSpec
    limits! []LimitRangeItem
LimitRangeItem
    type! LimitType; max, min, default, defaultRequest, maxLimitRequestRatio ResourceList
ReplicationController object
    metadata ObjectMeta; spec ReplicationControllerSpec; status ReplicationControllerStatus
ReplicationControllerSpec
    replicas *int32 =1; minReadySeconds int32 =0; selector map[string]string atomic;
    template *PodTemplateSpec
ReplicationControllerStatus
    replicas!, fullyLabeledReplicas, readyReplicas, availableReplicas int32;
    observedGeneration int64; conditions []ReplicationControllerCondition{type} merge
ReplicationControllerCondition
    type! ReplicationControllerConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
"""

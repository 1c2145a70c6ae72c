"""Storage classes and CSI, priority classes, leases, events, endpoint slices.

Small groups, each with a section of its own.
`schema/notation.py` explains the notation.
"""

TEXT = """
[storage]
FSGroupPolicy, VolumeLifecycleMode = string
VolumeBindingMode = Immediate | WaitForFirstConsumer
StorageClass object
    metadata ObjectMeta; provisioner! string; parameters map[string]string;
    reclaimPolicy *PersistentVolumeReclaimPolicy; mountOptions []string;
    allowVolumeExpansion *bool; volumeBindingMode *VolumeBindingMode;
    allowedTopologies []TopologySelectorTerm
CSINode object
    metadata ObjectMeta; spec! CSINodeSpec
CSINodeSpec
    drivers! []CSINodeDriver{name} merge
CSINodeDriver
    name!, nodeID! string; topologyKeys+ []string; allocatable *VolumeNodeResources
VolumeNodeResources
    count *int32
CSIDriver object
    metadata ObjectMeta; spec! CSIDriverSpec
CSIDriverSpec
    attachRequired, podInfoOnMount *bool; volumeLifecycleModes []VolumeLifecycleMode{};
    storageCapacity *bool; fsGroupPolicy *FSGroupPolicy; tokenRequests []TokenRequest;
    requiresRepublish, seLinuxMount *bool; nodeAllocatableUpdatePeriodSeconds *int64;
    serviceAccountTokenInSecrets, preventPodSchedulingIfMissing *bool
TokenRequest
    audience! string; expirationSeconds *int64
CSIStorageCapacity object
    metadata ObjectMeta; nodeTopology *LabelSelector; storageClassName! string;
    capacity, maximumVolumeSize *Quantity
VolumeAttachment object
    metadata ObjectMeta; spec! VolumeAttachmentSpec; status VolumeAttachmentStatus
VolumeAttachmentSpec
    attacher! string; source! VolumeAttachmentSource; nodeName! string
VolumeAttachmentSource
    persistentVolumeName *string; inlineVolumeSpec *PersistentVolumeSpec
VolumeAttachmentStatus
    attached! bool; attachmentMetadata map[string]string; attachError, detachError *VolumeError
VolumeError
    time Time; message string; errorCode *int32
VolumeAttributesClass object
    metadata ObjectMeta; driverName! string; parameters map[string]string

[core]
TopologySelectorTerm atomic
    matchLabelExpressions []TopologySelectorLabelRequirement
TopologySelectorLabelRequirement
    key! string; values! []string

[node]
RuntimeClass object
    metadata ObjectMeta; handler! string; overhead *Overhead; scheduling *Scheduling
Overhead
    podFixed ResourceList
Scheduling
    nodeSelector map[string]string atomic; tolerations []Toleration

[scheduling]
PriorityClass object
    metadata ObjectMeta; value+ int32; globalDefault bool; description string;
    preemptionPolicy *PreemptionPolicy

[coordination]
CoordinatedLeaseStrategy = string
Lease object
    metadata ObjectMeta; spec LeaseSpec
LeaseSpec
    holderIdentity *string; leaseDurationSeconds *int32; acquireTime, renewTime *MicroTime;
    leaseTransitions *int32; strategy *CoordinatedLeaseStrategy; preferredHolder *string

[events]
Event object
    metadata+ ObjectMeta; eventTime! MicroTime; series *EventSeries;
    reportingController, reportingInstance, action, reason string; regarding ObjectReference;
    related *ObjectReference; note, type string; deprecatedSource EventSource;
    deprecatedFirstTimestamp, deprecatedLastTimestamp Time; deprecatedCount int32
EventSeries
    count! int32; lastObservedTime! MicroTime

[discovery]
AddressType = FQDN | IPv4 | IPv6
EndpointSlice object
    metadata ObjectMeta; addressType! AddressType; endpoints+ []Endpoint; ports+ []EndpointPort
Endpoint
    addresses! []string{}; conditions EndpointConditions; hostname *string;
    targetRef *ObjectReference; deprecatedTopology map[string]string; nodeName, zone *string;
    hints *EndpointHints
EndpointConditions
    ready, serving, terminating *bool
EndpointHints
    forZones []ForZone; forNodes []ForNode
ForZone
    name! string
ForNode
    name! string
EndpointPort atomic
    name *string; protocol *Protocol; port *int32; appProtocol *string
"""

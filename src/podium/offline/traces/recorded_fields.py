"""Which fields of objects are written into a trace: the allow-list, and the only one.

Contract: what is not named here is never written, whatever an API server sends and whatever the
Structs of `kubernetes.kinds` learn to read some day. Nothing that can hold a secret is named: no
command, argument or environment, no message, no mount option, no parameter of a driver, no name of
a Secret; of annotations only the keys of `recorded_annotations.py` pass.
"""

from typing import Final

RECORDED_FIELDS: Final = """
Pod: metadata spec status
PodSpec: nodeName schedulerName priority priorityClassName preemptionPolicy nodeSelector affinity
  tolerations topologySpreadConstraints containers initContainers overhead resources volumes
  resourceClaims schedulingGates schedulingGroup hostNetwork hostUsers securityContext
Affinity: nodeAffinity podAffinity podAntiAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution
  preferredDuringSchedulingIgnoredDuringExecution
NodeSelector: nodeSelectorTerms
NodeSelectorTerm: matchExpressions matchFields
NodeSelectorRequirement: key operator values
PreferredSchedulingTerm: weight preference
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution
  preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm: labelSelector namespaces topologyKey namespaceSelector matchLabelKeys
  mismatchLabelKeys
WeightedPodAffinityTerm: weight podAffinityTerm
Toleration: key operator value effect tolerationSeconds
TopologySpreadConstraint: maxSkew topologyKey whenUnsatisfiable labelSelector minDomains
  nodeAffinityPolicy nodeTaintsPolicy matchLabelKeys
Container: name image resources ports restartPolicy restartPolicyRules securityContext
ResourceRequirements: requests limits claims
ContainerResourceClaim: name request
ContainerPort: containerPort hostPort protocol hostIP
RestartRule: action
SecurityContext: seccompProfile
SeccompProfile: type localhostProfile
PodResourceClaim: name resourceClaimName resourceClaimTemplateName
PodSchedulingGate: name
PodSchedulingGroup: podGroupName
PodSecurityContext: seccompProfile
PodStatus: phase startTime nominatedNodeName conditions containerStatuses initContainerStatuses
  resources allocatedResources resourceClaimStatuses extendedResourceClaimStatus
  nodeAllocatableResourceClaimStatuses
PodCondition: type status reason lastTransitionTime
ContainerStatus: name resources allocatedResources
PodResourceClaimStatus: name resourceClaimName
PodExtendedResourceClaimStatus: resourceClaimName requestMappings
ContainerExtendedResourceRequest: containerName resourceName requestName
NodeAllocatableResourceClaimStatus: resourceClaimName containers resources
ObjectMeta: name namespace uid labels annotations ownerReferences creationTimestamp
  deletionTimestamp generation deletionGracePeriodSeconds
OwnerReference: apiVersion kind name uid controller blockOwnerDeletion
LabelSelector: matchLabels matchExpressions
LabelSelectorRequirement: key operator values
Condition: type status reason lastTransitionTime
Volume: name persistentVolumeClaim ephemeral gcePersistentDisk awsElasticBlockStore rbd iscsi
  azureDisk azureFile cinder vsphereVolume portworxVolume csi image
PersistentVolumeClaimReference: claimName
EphemeralSource: volumeClaimTemplate
PersistentVolumeClaimTemplate: metadata spec
PersistentVolumeClaimSpec: accessModes selector resources volumeName storageClassName volumeMode
  volumeAttributesClassName
VolumeResources: requests
GCEPersistentDiskSource: pdName readOnly
AWSElasticBlockStoreSource: volumeID readOnly
RBDSource: monitors pool image readOnly
ISCSISource: iqn readOnly
AzureDiskSource: diskName diskURI kind
AzureFileSource: shareName
CinderSource: volumeID
VsphereSource: volumePath
PortworxSource: volumeID
CSIEphemeralSource: driver
ImageSource: reference
CSIPersistentSource: driver volumeHandle
Node: metadata spec status
NodeSpec: unschedulable taints
Taint: key value effect
NodeStatus: capacity allocatable images conditions declaredFeatures
ContainerImage: names sizeBytes
NodeCondition: type status
Namespace: metadata status
NamespaceStatus: phase
Service: metadata spec
ServiceSpec: selector
ReplicationController: metadata spec
ReplicationControllerSpec: replicas selector
ReplicaSet: metadata spec
ReplicaSetSpec: replicas selector
StatefulSet: metadata spec
StatefulSetSpec: replicas selector
PriorityClass: metadata value globalDefault preemptionPolicy
PodDisruptionBudget: metadata spec status
PodDisruptionBudgetSpec: minAvailable maxUnavailable selector unhealthyPodEvictionPolicy
PodDisruptionBudgetStatus: observedGeneration disruptionsAllowed currentHealthy desiredHealthy
  expectedPods disruptedPods conditions
PersistentVolume: metadata spec status
PersistentVolumeSpec: capacity accessModes claimRef storageClassName volumeMode
  volumeAttributesClassName persistentVolumeReclaimPolicy nodeAffinity gcePersistentDisk
  awsElasticBlockStore rbd iscsi azureDisk azureFile cinder vsphereVolume portworxVolume csi
ObjectReference: apiVersion kind namespace name uid
VolumeNodeAffinity: required
PersistentVolumeStatus: phase
PersistentVolumeClaim: metadata spec status
PersistentVolumeClaimStatus: phase
StorageClass: metadata provisioner reclaimPolicy volumeBindingMode allowedTopologies
TopologySelectorTerm: matchLabelExpressions
TopologySelectorLabelRequirement: key values
CSINode: metadata spec
CSINodeSpec: drivers
CSINodeDriver: name topologyKeys allocatable
CSINodeAllocatable: count
CSIDriver: metadata spec
CSIDriverSpec: storageCapacity preventPodSchedulingIfMissing
CSIStorageCapacity: metadata nodeTopology storageClassName capacity maximumVolumeSize
VolumeAttachment: metadata spec status
VolumeAttachmentSpec: attacher nodeName source
VolumeAttachmentSource: persistentVolumeName
VolumeAttachmentStatus: attached
ResourceClaim: metadata spec status
ResourceClaimSpec: devices
DeviceClaim: requests constraints
DeviceRequest: name exactly firstAvailable
ExactDeviceRequest: deviceClassName selectors allocationMode count adminAccess tolerations capacity
DeviceSelector: cel
CELDeviceSelector: expression
DeviceToleration: key operator value effect tolerationSeconds
CapacityRequirements: requests
DeviceSubRequest: name deviceClassName selectors allocationMode count tolerations capacity
DeviceConstraint: requests matchAttribute distinctAttribute
ResourceClaimStatus: allocation reservedFor devices
AllocationResult: devices nodeSelector allocationTimestamp
DeviceAllocationResult: results
DeviceRequestAllocationResult: request driver pool device adminAccess tolerations bindingConditions
  bindingFailureConditions shareID consumedCapacity
ResourceClaimConsumerReference: apiGroup resource name uid
AllocatedDeviceStatus: driver pool device shareID conditions
DeviceCondition: type status observedGeneration lastTransitionTime reason
ResourceClaimTemplate: metadata spec
ResourceClaimTemplateSpec: metadata spec
ResourceSlice: metadata spec
ResourceSliceSpec: driver pool nodeName nodeSelector allNodes perDeviceNodeSelection devices
  sharedCounters
ResourcePool: name generation resourceSliceCount
Device: name attributes capacity consumesCounters nodeName nodeSelector allNodes taints bindsToNode
  bindingConditions bindingFailureConditions allowMultipleAllocations
  nodeAllocatableResourceMappings
DeviceAttribute: int bool string version ints bools strings versions
DeviceCapacity: value requestPolicy
CapacityRequestPolicy: default validValues validRange
CapacityRequestPolicyRange: min max step
DeviceCounterConsumption: counterSet counters
Counter: value
DeviceTaint: key value effect timeAdded
NodeAllocatableResourceMapping: capacityKey allocationMultiplier
CounterSet: name counters
DeviceClass: metadata spec
DeviceClassSpec: selectors extendedResourceName
DeviceTaintRule: metadata spec
DeviceTaintRuleSpec: deviceSelector taint
DeviceTaintSelector: driver pool device
PodGroup: metadata spec status
PodGroupSpec: podGroupTemplateRef schedulingPolicy schedulingConstraints resourceClaims
  disruptionMode priorityClassName priority
PodGroupTemplateReference: workload
WorkloadPodGroupTemplateReference: workloadName podGroupTemplateName
PodGroupSchedulingPolicy: basic gang
BasicSchedulingPolicy:
GangSchedulingPolicy: minCount
PodGroupSchedulingConstraints: topology
TopologyConstraint: key
PodGroupResourceClaim: name resourceClaimName resourceClaimTemplateName
PodGroupStatus: conditions resourceClaimStatuses
PodGroupCondition: type status observedGeneration lastTransitionTime reason
PodGroupResourceClaimStatus: name resourceClaimName
Workload: metadata spec
WorkloadSpec: controllerRef podGroupTemplates
TypedLocalObjectReference: apiGroup kind name
PodGroupTemplate: name schedulingPolicy schedulingConstraints resourceClaims disruptionMode
  priorityClassName priority
SchedulingXPodGroup: metadata spec status
CoschedulingPodGroupSpec: minMember minResources scheduleTimeoutSeconds
CoschedulingPodGroupStatus: phase occupiedBy running succeeded failed scheduleStartTime scheduled
ElasticQuota: metadata spec status
ElasticQuotaSpec: min max
ElasticQuotaStatus: used
"""
"""One Struct of `kubernetes.kinds` after the other, with the names that its fields have in JSON;
every object has `apiVersion` and `kind` besides."""

"""An object as it is written into a trace: the fields of the allow-list, and no others.

For each Struct that `RECORDED_FIELDS` names, a writer is made once that copies just those fields
into plain JSON. Fields that have their default are left out, as everywhere in
`podium.kubernetes.kinds`.

This is the only allow-list. Contract: what
is not named here is never written, whatever an API server sends and whatever the Structs of
`kubernetes.kinds` learn to read some day. Nothing that can hold a secret is named: no command,
argument or environment, no message, no mount option, no parameter of a driver, no name of a Secret;
of annotations only the keys of `recorded_annotations.py` pass.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from msgspec import inspect

from podium.client import ResourceType, resources
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta
from podium.kubernetes.kinds.pod import PodCondition, PodStatus
from podium.kubernetes.kinds.scheduler_plugins import ElasticQuota, SchedulingXPodGroup
from podium.kubernetes.kinds.typed_objects import KINDS, decode_as
from podium.offline.simulate.read_kinds import READ
from podium.offline.traces.recorded_annotations import select_annotations

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


RECORDED_STRUCTS: Final[dict[ResourceType, type[KubeObject]]] = {
    **{resource: KINDS[resource.api_version, resource.kind] for resource in READ},
    resources.COSCHEDULING_POD_GROUPS: SchedulingXPodGroup,
    resources.ELASTIC_QUOTAS: ElasticQuota,
}
"""What is recorded, the longest lists first."""
RECORDED_CONDITIONS: Final = frozenset({"PodScheduled", "DisruptionTarget"})
"""Of pods: what a scheduler did, or could not do, and since when."""

Copy = Callable[[Any], Any]


def resource_name(resource: ResourceType) -> str:
    """As kubectl and roles write it: `pods`, `podgroups.scheduling.k8s.io`."""
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


def recorded_object(obj: KubeObject) -> JsonObject:
    """Raises KeyError for a kind that is not recorded."""
    fields: JsonObject = {"apiVersion": obj.api_version, "kind": obj.kind}
    fields.update(_WRITERS[type(obj)](obj))
    return fields


class RecordedMeta(msgspec.Struct, frozen=True, gc=False):
    """What tells an object and its versions apart."""

    name: str
    namespace: str
    uid: str
    resource_version: str


class RecordedObject(msgspec.Struct, frozen=True, gc=False):
    """What is kept of an object: the JSON that is written of it."""

    metadata: RecordedMeta
    written: bytes


def decode_recorded(raw: msgspec.Raw | bytes, struct: type[KubeObject]) -> RecordedObject:
    """An object of an API server. Raises ObjectError."""
    obj = decode_as(raw, struct)
    own = obj.metadata
    metadata = RecordedMeta(own.name, own.namespace, own.uid, own.resource_version)
    return RecordedObject(metadata, msgspec.json.encode(recorded_object(obj)))


class _FieldWriter:
    """Copies the fields of one Struct that are recorded."""

    def __init__(self, struct: type[KubeStruct], names: frozenset[str]) -> None:
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        known = {field.encode_name for field in info.fields}
        if names - known:
            raise ValueError(f"{struct.__name__} has no fields {sorted(names - known)}")
        self._fields: tuple[tuple[str, str, object, Copy | None], ...] = tuple(
            (field.name, field.encode_name, _default_of(field), _copy_of(struct, field))
            for field in info.fields
            if field.encode_name in names
        )

    def __call__(self, value: KubeStruct) -> JsonObject:
        written: JsonObject = {}
        for attribute, name, default, copy in self._fields:
            found = getattr(value, attribute)
            if found is not None and found != default:
                written[name] = found if copy is None else copy(found)
        return written


def _default_of(field: inspect.Field) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _copy_of(struct: type[KubeStruct], field: inspect.Field) -> Copy | None:
    if struct is ObjectMeta and field.name == "annotations":
        return select_annotations
    if struct is PodStatus and field.name == "conditions":
        return _copy_pod_conditions
    return _copy_by_type(field.type)


def _copy_by_type(info: inspect.Type) -> Copy | None:
    """None for what is copied as it is."""
    match info:
        case inspect.UnionType():
            nested = [copy for each in info.types if (copy := _copy_by_type(each)) is not None]
            return nested[0] if nested else None
        case inspect.StructType():
            return _WRITERS[info.cls]
        case inspect.VarTupleType():
            return _copy_items(_copy_by_type(info.item_type))
        case inspect.DictType():
            return _copy_values(_copy_by_type(info.value_type))
    return None


def _copy_items(copy: Copy | None) -> Copy:
    return list if copy is None else lambda items: [copy(item) for item in items]


def _copy_values(copy: Copy | None) -> Copy | None:
    return None if copy is None else lambda items: {key: copy(items[key]) for key in items}


def _copy_pod_conditions(conditions: tuple[PodCondition, ...]) -> list[JsonObject]:
    copy = _WRITERS[PodCondition]
    return [copy(each) for each in conditions if each.type in RECORDED_CONDITIONS]


class _Writers(dict[type, _FieldWriter]):
    """Writers by Struct, each made when it is first needed."""

    def __missing__(self, struct: type[KubeStruct]) -> _FieldWriter:
        made = self[struct] = _FieldWriter(struct, _NAMES[struct.__name__])
        return made


def _parse_fields(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for paragraph in text.strip().replace("\n  ", " ").splitlines():
        struct, _, names = paragraph.partition(":")
        yield struct, frozenset(names.split())


_NAMES: Final = dict(_parse_fields(RECORDED_FIELDS))
_WRITERS: Final = _Writers()

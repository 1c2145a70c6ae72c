"""Dynamic resource allocation: claims, slices of devices, classes.

Group resource.k8s.io.
`schema/notation.py` explains the notation.
"""

TEXT = """
[resource]
FullyQualifiedName, QualifiedName = string
AllocationConfigSource = FromClaim | FromClass
DeviceAllocationMode = All | ExactCount
DeviceTaintEffect = NoExecute | NoSchedule | None
DeviceTolerationOperator = Equal | Exists
ResourceClaim object
    metadata ObjectMeta; spec! ResourceClaimSpec; status ResourceClaimStatus
ResourceClaimSpec
    devices+ DeviceClaim
DeviceClaim
    requests+ []DeviceRequest; constraints []DeviceConstraint; config []DeviceClaimConfiguration
DeviceRequest
    name! string; exactly *ExactDeviceRequest; firstAvailable []DeviceSubRequest
ExactDeviceRequest
    deviceClassName! string; selectors []DeviceSelector; allocationMode DeviceAllocationMode;
    count int64; adminAccess *bool; tolerations []DeviceToleration; capacity *CapacityRequirements
DeviceSelector
    cel *CELDeviceSelector
CELDeviceSelector
    expression! string
DeviceToleration
    key string; operator DeviceTolerationOperator =Equal; value string; effect DeviceTaintEffect;
    tolerationSeconds *int64
CapacityRequirements
    requests map[QualifiedName]Quantity
DeviceSubRequest
    name!, deviceClassName! string; selectors []DeviceSelector;
    allocationMode DeviceAllocationMode; count int64; tolerations []DeviceToleration;
    capacity *CapacityRequirements
DeviceConstraint
    requests []string; matchAttribute, distinctAttribute *FullyQualifiedName
DeviceClaimConfiguration
    requests []string; opaque *OpaqueDeviceConfiguration
OpaqueDeviceConfiguration
    driver! string; parameters! RawExtension
ResourceClaimStatus
    allocation *AllocationResult; reservedFor []ResourceClaimConsumerReference{uid} merge;
    devices []AllocatedDeviceStatus{driver device pool shareID}
AllocationResult
    devices DeviceAllocationResult; nodeSelector *NodeSelector; allocationTimestamp *Time
DeviceAllocationResult
    results []DeviceRequestAllocationResult; config []DeviceAllocationConfiguration
DeviceRequestAllocationResult
    request!, driver!, pool!, device! string; adminAccess *bool; tolerations []DeviceToleration;
    bindingConditions, bindingFailureConditions []string; shareID *UID;
    consumedCapacity map[QualifiedName]Quantity
DeviceAllocationConfiguration
    source! AllocationConfigSource; requests []string; opaque *OpaqueDeviceConfiguration
ResourceClaimConsumerReference
    apiGroup, resource!, name! string; uid! UID
AllocatedDeviceStatus
    driver!, pool!, device! string; shareID *string; conditions+ []Condition{type};
    data *RawExtension; networkData *NetworkDeviceData
NetworkDeviceData
    interfaceName string; ips []string; hardwareAddress string
ResourceClaimTemplate object
    metadata ObjectMeta; spec! ResourceClaimTemplateSpec
ResourceClaimTemplateSpec
    metadata ObjectMeta; spec! ResourceClaimSpec
ResourceSlice object
    metadata ObjectMeta; spec! ResourceSliceSpec
ResourceSliceSpec
    driver! string; pool! ResourcePool; nodeName *string; nodeSelector *NodeSelector;
    allNodes *bool; devices []Device; perDeviceNodeSelection *bool; sharedCounters []CounterSet
ResourcePool
    name! string; generation!, resourceSliceCount! int64
Device
    name! string; attributes map[QualifiedName]DeviceAttribute;
    capacity map[QualifiedName]DeviceCapacity; consumesCounters []DeviceCounterConsumption;
    nodeName *string; nodeSelector *NodeSelector; allNodes *bool; taints []DeviceTaint;
    bindsToNode *bool; bindingConditions, bindingFailureConditions []string;
    allowMultipleAllocations *bool;
    nodeAllocatableResourceMappings map[ResourceName]NodeAllocatableResourceMapping
DeviceAttribute
    int *int64; bool *bool; string, version *string; ints []int64; bools []bool;
    strings, versions []string
DeviceCapacity
    value! Quantity; requestPolicy *CapacityRequestPolicy
CapacityRequestPolicy
    default+ *Quantity; validValues []Quantity; validRange *CapacityRequestPolicyRange
CapacityRequestPolicyRange
    min!?, max, step *Quantity
DeviceCounterConsumption
    counterSet! string; counters!? map[string]Counter
Counter
    value! Quantity
DeviceTaint
    key!, value string; effect! DeviceTaintEffect; timeAdded *Time
NodeAllocatableResourceMapping
    capacityKey *QualifiedName; allocationMultiplier *Quantity
CounterSet
    name! string; counters!? map[string]Counter
DeviceClass object
    metadata ObjectMeta; spec! DeviceClassSpec
DeviceClassSpec
    selectors []DeviceSelector; config []DeviceClassConfiguration; extendedResourceName *string
DeviceClassConfiguration
    opaque *OpaqueDeviceConfiguration
[resource/v1beta2]
DeviceTaintRule object
    metadata ObjectMeta; spec! DeviceTaintRuleSpec; status DeviceTaintRuleStatus
DeviceTaintRuleSpec
    deviceSelector *DeviceTaintSelector; taint resource.DeviceTaint
DeviceTaintSelector
    driver, pool, device *string
DeviceTaintRuleStatus
    conditions []Condition{type} merge
"""

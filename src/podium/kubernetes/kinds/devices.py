"""Devices and the claims on them: the resource.k8s.io/v1 objects of dynamic resource allocation.

Slices say what devices exist, classes and claims say what is wanted, and a claim's status says
what was given. Unlike other objects a claim's status is also written by the scheduler, so its
Structs keep every field: decoding and encoding one loses nothing.
"""

from typing import Literal

import msgspec

from podium.golang.json_values import DecodedValue
from podium.kubernetes.kinds.meta import KubeObject, KubeStruct, ObjectMeta, Quantity, ResourceList
from podium.kubernetes.kinds.pod import NodeSelector


class CapacityRequestPolicyRange(KubeStruct, frozen=True):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(KubeStruct, frozen=True):
    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] | None = None
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(KubeStruct, frozen=True):
    value: Quantity = 0
    request_policy: CapacityRequestPolicy | None = None


class DeviceAttribute(KubeStruct, frozen=True):
    """One typed value: exactly one field is set. The list forms are an alpha feature."""

    int_: int | None = msgspec.field(default=None, name="int")
    bool_: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    ints: tuple[int, ...] | None = None
    bools: tuple[bool, ...] | None = None
    strings: tuple[str, ...] | None = None
    versions: tuple[str, ...] | None = None


class Counter(KubeStruct, frozen=True):
    value: Quantity = 0


class CounterSet(KubeStruct, frozen=True):
    name: str = ""
    counters: dict[str, Counter] | None = None


class DeviceCounterConsumption(KubeStruct, frozen=True):
    counter_set: str = ""
    counters: dict[str, Counter] | None = None


class DeviceTaint(KubeStruct, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class DeviceTaintSelector(KubeStruct, frozen=True):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(KubeStruct, frozen=True):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(KubeObject, frozen=True):
    """Served in v1beta2 only; read with the gate DRADeviceTaintRules."""

    cluster_scoped = True
    UNREAD = frozenset({"status"})

    api_version: Literal["resource.k8s.io/v1beta2"] = "resource.k8s.io/v1beta2"
    kind: Literal["DeviceTaintRule"] = "DeviceTaintRule"
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()


class NodeAllocatableResourceMapping(KubeStruct, frozen=True):
    capacity_key: str | None = None
    allocation_multiplier: Quantity | None = None


class Device(KubeStruct, frozen=True):
    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: tuple[DeviceCounterConsumption, ...] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] | None = None
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool | None = None
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] | None = None


class ResourcePool(KubeStruct, frozen=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(KubeStruct, frozen=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[CounterSet, ...] | None = None


class ResourceSlice(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceSlice"] = "ResourceSlice"
    spec: ResourceSliceSpec = ResourceSliceSpec()


class CELDeviceSelector(KubeStruct, frozen=True):
    expression: str = ""


class DeviceSelector(KubeStruct, frozen=True):
    cel: CELDeviceSelector | None = None


class OpaqueDeviceConfiguration(KubeStruct, frozen=True):
    """Parameters nobody but the driver understands; they are handed on as they came."""

    driver: str = ""
    parameters: DecodedValue = None


class DeviceClassConfiguration(KubeStruct, frozen=True):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(KubeStruct, frozen=True):
    selectors: tuple[DeviceSelector, ...] | None = None
    config: tuple[DeviceClassConfiguration, ...] | None = None
    extended_resource_name: str | None = None


class DeviceClass(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["DeviceClass"] = "DeviceClass"
    spec: DeviceClassSpec = DeviceClassSpec()


class DeviceToleration(KubeStruct, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class CapacityRequirements(KubeStruct, frozen=True):
    requests: ResourceList | None = None


class ExactDeviceRequest(KubeStruct, frozen=True):
    """`admin_access` written as false is not the same as left out when the feature is off."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    capacity: CapacityRequirements | None = None


class DeviceSubRequest(KubeStruct, frozen=True):
    """One alternative of a `firstAvailable` request."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: int = 0
    tolerations: tuple[DeviceToleration, ...] | None = None
    capacity: CapacityRequirements | None = None


class DeviceRequest(KubeStruct, frozen=True):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None


class DeviceConstraint(KubeStruct, frozen=True):
    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(KubeStruct, frozen=True):
    requests: tuple[str, ...] | None = None
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(KubeStruct, frozen=True):
    requests: tuple[DeviceRequest, ...] | None = None
    constraints: tuple[DeviceConstraint, ...] | None = None
    config: tuple[DeviceClaimConfiguration, ...] | None = None


class ResourceClaimSpec(KubeStruct, frozen=True):
    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(KubeStruct, frozen=True):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: ResourceList | None = None


class DeviceAllocationConfiguration(KubeStruct, frozen=True):
    source: str = ""
    requests: tuple[str, ...] | None = None
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(KubeStruct, frozen=True):
    results: tuple[DeviceRequestAllocationResult, ...] | None = None
    config: tuple[DeviceAllocationConfiguration, ...] | None = None


class AllocationResult(KubeStruct, frozen=True):
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(KubeStruct, frozen=True):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceCondition(KubeStruct, frozen=True):
    type: str = ""
    status: str = ""
    observed_generation: int = 0
    last_transition_time: str | None = None
    reason: str = ""
    message: str = ""


class AllocatedDeviceStatus(KubeStruct, frozen=True):
    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[DeviceCondition, ...] | None = None
    data: DecodedValue = None
    network_data: DecodedValue = None


class ResourceClaimStatus(KubeStruct, frozen=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] | None = None
    devices: tuple[AllocatedDeviceStatus, ...] | None = None


class ResourceClaim(KubeObject, frozen=True):
    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceClaim"] = "ResourceClaim"
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(KubeStruct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject, frozen=True):
    api_version: Literal["resource.k8s.io/v1"] = "resource.k8s.io/v1"
    kind: Literal["ResourceClaimTemplate"] = "ResourceClaimTemplate"
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()

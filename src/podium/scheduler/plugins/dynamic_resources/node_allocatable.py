"""What devices take of their node's own resources, and whether the node has it left.

A device may stand for cpu, memory and the like that its node also lists as allocatable
(DRANodeAllocatableResources): whoever gets the device gets those resources with it, beside what
its containers request. The check is made here and not by NodeResourcesFit, because only the search
knows which devices a node would give. What is taken is told in the pod's status, and from there on
it counts with the pod (`rules/requests.py`); so a claim of this kind is for one pod only.
Rejections for want of room can be resolved by preemption, unlike others of this plugin. Source:
`pkg/scheduler/framework/plugins/dynamicresources/nodeallocatabledynamicresources.go`.

Worked example: two devices with {cpu: {allocationMultiplier: 4}} are 8 cpus; one with {memory:
{capacityKey: size, allocationMultiplier: 2}} of which a claim consumes 3Gi is 6Gi.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from podium.kubernetes.kinds.devices import (
    AllocationResult,
    DeviceRequestAllocationResult,
    NodeAllocatableResourceMapping,
    ResourceClaim,
)
from podium.kubernetes.kinds.meta import Quantity
from podium.kubernetes.kinds.pod import NodeAllocatableResourceClaimStatus, Pod
from podium.kubernetes.rules.quantity_spelling import canonical, product, total
from podium.kubernetes.rules.requests import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    RequestRules,
    pod_requests,
    to_vector,
)
from podium.scheduler.cluster.nodes import NodeTable
from podium.scheduler.cluster.usage import Usage
from podium.scheduler.framework.status import Status, error, unresolvable, unschedulable
from podium.scheduler.plugins.dynamic_resources.claim_state import claim_key
from podium.scheduler.plugins.dynamic_resources.inventory import Inventory

INSUFFICIENT = "Insufficient {}"
NOT_REFERENCED = (
    "claim {}: node-allocatable resource claim not referenced by any container within the pod"
)
NOT_COVERED = (
    "pod level request for {} is insufficient to cover the aggregated container and"
    " node-allocatable DRA requests"
)
USED_BY_ANOTHER = "node allocatable resource claim {} is already used by another pod"
USED_BY_SEVERAL = "node allocatable resource claim {} shared by multiple pods"

_NATIVE = (CPU, MEMORY, EPHEMERAL_STORAGE)

Allocated = Iterable[tuple[ResourceClaim, AllocationResult]]


class Footprint(NamedTuple):
    """What a pod would take of a node with its claims."""

    statuses: tuple[NodeAllocatableResourceClaimStatus, ...]
    demand: Mapping[str, int]
    """The pod's requests and what its claims take, as the table counts."""


class _Unreadable(Exception):
    """An allocation that says nothing about what it takes."""


class NodeAllocatable:
    """The check for the nodes of one cluster."""

    def __init__(self, nodes: NodeTable, inventory: Inventory, rules: RequestRules) -> None:
        self._nodes = nodes
        self._inventory = inventory
        self._rules = rules

    def footprint(
        self, pod: Pod, names: Mapping[str, str], allocated: Allocated
    ) -> Footprint | Status | None:
        """What these allocations take of their node, or why the pod cannot have them; None if they
        take nothing. `names` are the UIDs of claims by the names that the pod has for them."""
        found: list[NodeAllocatableResourceClaimStatus] = []
        # A claim that the pod names twice counts once.
        for claim, allocation in {
            claim.metadata.uid: (claim, a) for claim, a in allocated
        }.values():
            results = allocation.devices.results or ()
            if not any(self._mappings(result) for result in results):
                continue
            try:
                resources = self._sum_taken(claim, results)
            except _Unreadable as problem:
                return error(str(problem))
            if resources:
                found.append(
                    NodeAllocatableResourceClaimStatus(
                        resource_claim_name=claim.metadata.name,
                        containers=_containers(pod, names, claim.metadata.uid),
                        resources=resources,
                    )
                )
        if not found:
            return None
        statuses = tuple(sorted(found, key=lambda status: status.resource_claim_name))
        for status in statuses:
            if not status.containers:
                return unresolvable(NOT_REFERENCED.format(status.resource_claim_name))
        return self._total(pod, statuses)

    def _total(
        self, pod: Pod, statuses: tuple[NodeAllocatableResourceClaimStatus, ...]
    ) -> Footprint | Status:
        claimed = [status.resources for status in statuses if status.resources]
        wanted = pod_requests(pod, status_resources=False, rules=self._rules, claimed=claimed)
        own = pod.spec.resources
        if self._rules.pod_level and own is not None and own.requests is not None:
            plain = self._rules._replace(pod_level=False)
            parts = pod_requests(pod, status_resources=False, rules=plain, claimed=claimed)
            for name in sorted(wanted):
                if parts.get(name, 0) > wanted[name]:
                    return unresolvable(NOT_COVERED.format(name))
        return Footprint(statuses, to_vector(wanted))

    def _sum_taken(
        self, claim: ResourceClaim, results: Sequence[DeviceRequestAllocationResult]
    ) -> dict[str, Quantity]:
        taken: dict[str, str] = {}
        for result in results:
            mappings = self._mappings(result)
            if mappings is None:
                raise _Unreadable(
                    f"claim {claim_key(claim)}, device {result.device}: device {result.device} not"
                    f" found in pool {result.pool}"
                )
            for name, mapping in sorted(mappings.items()):
                amount = _amount(claim, result, name, mapping)
                if amount is not None:
                    taken[name] = total(taken[name], amount) if name in taken else amount
        return dict(taken)

    def _mappings(
        self, result: DeviceRequestAllocationResult
    ) -> Mapping[str, NodeAllocatableResourceMapping] | None:
        """What a device stands for; None if there is no such device."""
        slices = self._inventory.in_pool(result.driver, result.pool)
        for entry in sorted(slices, key=lambda entry: -entry.generation):
            for device in entry.devices:
                if device.id.device == result.device:
                    return device.device.node_allocatable_resource_mappings or {}
        return None

    def lack(self, footprint: Footprint, usage: Usage, row: int) -> Status | None:
        """What the node in a row has not left."""
        usage.grow()
        reasons: list[str] = []
        hopeless = False
        for name, amount in _in_order(footprint.demand):
            column = self._nodes.resources.find(name)
            allocatable = int(self._nodes.allocatable[column, row]) if column >= 0 else 0
            used = int(usage.requested[column, row]) if column >= 0 else 0
            if amount > allocatable - used:
                reasons.append(INSUFFICIENT.format(name))
                hopeless |= amount > allocatable
        if not reasons:
            return None
        return unresolvable(*reasons) if hopeless else unschedulable(*reasons)


def used_by_others(claim: ResourceClaim, uid: str, usage: Usage) -> Iterator[tuple[int, Status]]:
    """(row, why a pod cannot use an allocated claim there): pods on the node have it already."""
    for row, users in usage.claim_users.of(claim_key(claim)):
        if len(users) > 1:
            yield row, unresolvable(USED_BY_SEVERAL.format(claim.metadata.name))
        elif uid not in users:
            yield row, unresolvable(USED_BY_ANOTHER.format(claim.metadata.name))


def _in_order(demand: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What is looked at, in the order in which shortages are told."""
    for name in _NATIVE:
        if demand.get(name, 0) > 0:
            yield name, demand[name]
    # upstream: huge pages that the pod asks for with 0 are looked at too
    for name in sorted(demand):
        if name.startswith("hugepages-"):
            yield name, demand[name]


def _amount(
    claim: ResourceClaim,
    result: DeviceRequestAllocationResult,
    name: str,
    mapping: NodeAllocatableResourceMapping,
) -> str | None:
    """What one device takes of a resource; None where the mapping is not about the allocation."""
    multiplier = mapping.allocation_multiplier
    if not mapping.capacity_key:
        return canonical(multiplier) if multiplier is not None else "0"
    if result.consumed_capacity is None:
        raise _Unreadable(
            f"claim {claim_key(claim)}, device {result.device}: ConsumedCapacity is nil, but"
            f" Capacity key '{mapping.capacity_key}' is set in NodeAllocatableResourceMappings for"
            f" resource {name}"
        )
    consumed = result.consumed_capacity.get(mapping.capacity_key)
    if consumed is None:
        return None
    return canonical(consumed) if multiplier is None else product(str(consumed), multiplier)


def _containers(pod: Pod, names: Mapping[str, str], uid: str) -> tuple[str, ...]:
    """Containers that refer to a claim, as often as they do."""
    spec = pod.spec
    return tuple(
        container.name
        for container in (*(spec.init_containers or ()), *(spec.containers or ()))
        for reference in (container.resources.claims if container.resources else None) or ()
        if names.get(reference.name) == uid
    )

"""Extended resources that devices serve instead of a device plugin.

A pod that asks for `example.com/gpu: 2` gets a claim of its own on nodes where no device plugin
offers the resource but a device class stands for it. Which requests the claim has depends on the
node, because each node decides per resource who serves it.

Source: `pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from podium.kubernetes.kinds.devices import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from podium.kubernetes.kinds.meta import ObjectMeta, OwnerReference
from podium.kubernetes.kinds.pod import Container, ContainerExtendedResourceRequest, Pod
from podium.kubernetes.rules.quantity import value
from podium.kubernetes.rules.requests import ALL_REQUESTS, is_extended, pod_requests, to_vector
from podium.scheduler.plugins.dynamic_resources.claim_state import EXTENDED_RESOURCE_ANNOTATION
from podium.scheduler.plugins.resources.extended_resource_classes import (
    IMPLICIT_PREFIX,
    ExtendedResourceClasses,
)

IN_MEMORY_NAME = "<extended-resources>"
"""No valid name, so that it cannot clash with that of a claim in the API server."""


@dataclass(frozen=True, slots=True)
class NodeRequests:
    """The claim as one node has to serve it, and which container uses which request."""

    claim: ResourceClaim
    mappings: tuple[ContainerExtendedResourceRequest, ...]


def is_served_name(name: str) -> bool:
    """Whether devices may serve a resource of this name at all."""
    return is_extended(name) or name.startswith(IMPLICIT_PREFIX)


def extended_requests(pod: Pod, classes: ExtendedResourceClasses) -> Mapping[str, int] | None:
    """The pod's extended resources if a device class stands for one of them, else None."""
    containers = (*(pod.spec.containers or ()), *(pod.spec.init_containers or ()))
    if not any("/" in n for c in containers for n in _requests(c)):
        return None
    # Gates change what is read of native resources alone.
    requests = to_vector(pod_requests(pod, status_resources=False, rules=ALL_REQUESTS))
    found = {name: n for name, n in requests.items() if n and is_served_name(name)}
    if not any(classes.find(name) is not None for name in found):
        return None
    return found


def claim_in_memory(pod: Pod) -> ResourceClaim:
    """The claim for a pod's extended resources before the API server knows it."""
    owner = OwnerReference(
        api_version="v1",
        kind="Pod",
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        controller=True,
    )
    return ResourceClaim(
        metadata=ObjectMeta(
            name=IN_MEMORY_NAME,
            namespace=pod.metadata.namespace,
            uid=f"{pod.metadata.uid or pod.metadata.name}{IN_MEMORY_NAME}",
            annotations={EXTENDED_RESOURCE_ANNOTATION: "true"},
            owner_references=(owner,),
        )
    )


def requests_on_node(
    claim: ResourceClaim, pod: Pod, resources: Sequence[str], classes: ExtendedResourceClasses
) -> NodeRequests:
    """The claim with requests for the resources that devices have to serve on a node."""
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(resources):
        class_ = classes.find(resource)
        if class_ is not None:
            _add_resource(pod, resource, class_.metadata.name, requests, mappings)
    requests.sort(key=lambda request: request.name)
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests) or None))
    return NodeRequests(replace(claim, spec=spec), tuple(mappings))


def _add_resource(
    pod: Pod,
    resource: str,
    class_name: str,
    requests: list[DeviceRequest],
    mappings: list[ContainerExtendedResourceRequest],
) -> None:
    """Requests of all containers for one resource.

    Containers that run for the pod's whole life each have their own devices. One that finishes
    before they start borrows theirs; what it needs beyond that is requested once, for the one that
    needs most.
    """
    init = pod.spec.init_containers or ()
    containers = (*init, *(pod.spec.containers or ()))
    lasting: list[tuple[int, DeviceRequest]] = []
    for index, container in enumerate(containers):
        count = _count_asked(container, resource)
        if count and not _is_brief(index, container, len(init)):
            request = _request(index, container, resource, class_name, count)
            lasting.append((index, request))
            mappings.append(_map_request(container, resource, request.name))
    extra: list[DeviceRequest] = []
    borrowed: list[ContainerExtendedResourceRequest] = []
    for index, container in enumerate(containers):
        count = _count_asked(container, resource)
        if not count or not _is_brief(index, container, len(init)):
            continue
        for position, request in lasting:
            if position >= index and count > 0:
                borrowed.append(_map_request(container, resource, request.name))
                count -= _count(request)
        if count > 0:
            extra.append(_request(index, container, resource, class_name, count))
            borrowed.append(_map_request(container, resource, extra[-1].name))
    if extra:
        largest = max(extra, key=_count)
        names = {request.name for request in extra}
        requests.append(largest)
        borrowed = [
            replace(mapping, request_name=largest.name)
            if mapping.request_name in names
            else mapping
            for mapping in borrowed
        ]
    requests.extend(request for _, request in lasting)
    mappings.extend(borrowed)


def _is_brief(index: int, container: Container, init_count: int) -> bool:
    """Whether the container ends before the pod's main containers start."""
    return index < init_count and container.restart_policy != "Always"


def _requests(container: Container) -> Mapping[str, str | int | float]:
    return (container.resources.requests or {}) if container.resources is not None else {}


def _count_asked(container: Container, resource: str) -> int:
    written = _requests(container).get(resource)
    return 0 if written is None else value(written)


def _request(
    index: int, container: Container, resource: str, class_name: str, count: int
) -> DeviceRequest:
    position = sorted(_requests(container)).index(resource)
    return DeviceRequest(
        name=f"container-{index}-request-{position}",
        exactly=ExactDeviceRequest(
            device_class_name=class_name, allocation_mode="ExactCount", count=count
        ),
    )


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _map_request(
    container: Container, resource: str, request: str
) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(
        container_name=container.name, resource_name=resource, request_name=request
    )

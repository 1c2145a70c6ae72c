"""Requests that an API server derives: from limits, and for the pod as a whole.

The rules are upstream's defaults (`pkg/apis/core/v1/defaults.go`). A container's limit stands in
for a request it lacks. With pod-level limits, a pod-level request that is left out is what the
containers ask for together, or else the limit itself.

Worked example: a container {limits: cpu 1, memory 1Gi; requests: cpu 500m} ends with requests
cpu 500m, memory 1Gi.
"""

from msgspec.structs import replace

from podium.api.meta import ResourceList
from podium.api.pod import Container, ContainerPort, Pod, PodSpec
from podium.api.requests import CPU, MEMORY, pod_requests

_HUGE = "hugepages-"


def default_container(container: Container, *, host_network: bool) -> Container:
    """The container with requests from its limits and, on the host's network, host ports."""
    resources = container.resources
    if resources is not None and resources.limits:
        requests = {**resources.limits, **(resources.requests or {})}
        if requests != resources.requests:
            container = replace(container, resources=replace(resources, requests=requests))
    if host_network and container.ports:
        container = replace(container, ports=tuple(map(_host_port, container.ports)))
    return container


def _host_port(port: ContainerPort) -> ContainerPort:
    return port if port.host_port else replace(port, host_port=port.container_port)


def default_pod_level(spec: PodSpec) -> PodSpec:
    resources = spec.resources
    if resources is None or not resources.limits:
        return spec
    requests: ResourceList = dict(resources.requests or {})
    bare = Pod(spec=replace(spec, resources=None, overhead=None))
    for name, amount in pod_requests(bare, status_resources=False).items():
        if name in (CPU, MEMORY):
            requests.setdefault(name, f"{amount}n")
    for name, limit in resources.limits.items():
        if name in (CPU, MEMORY) or name.startswith(_HUGE):
            requests.setdefault(name, limit)
    if not requests:
        return spec
    return replace(spec, resources=replace(resources, requests=requests))

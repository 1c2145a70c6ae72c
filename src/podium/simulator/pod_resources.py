"""What an API server derives in a pod's spec: requests from limits, host ports, selectors.

A container's limit stands in for a request it lacks (`pkg/apis/core/v1/defaults.go`). What concerns
the pod as a whole is decided in `podium.kubernetes.rules.pod_level_resources` and `label_keys`.

Worked example: a container {limits: cpu 1, memory 1Gi; requests: cpu 500m} ends with requests
cpu 500m, memory 1Gi.
"""

from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from podium.kubernetes.kinds.pod import Container, ContainerPort, PodSpec
from podium.kubernetes.rules.label_keys import merge_label_keys
from podium.kubernetes.rules.pod_level_resources import set_pod_level_defaults


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


def default_spec(spec: PodSpec, labels: Mapping[str, str]) -> PodSpec:
    """The spec with requests of the pod as a whole and selectors with label keys merged in."""
    has_resources = spec.resources is not None
    if not has_resources and not _has_label_keys(spec):
        return spec
    body = msgspec.to_builtins(spec)
    if has_resources:
        set_pod_level_defaults(body)
    merge_label_keys(body, labels)
    return msgspec.convert(body, PodSpec)


def _has_label_keys(spec: PodSpec) -> bool:
    if any(each.match_label_keys for each in spec.topology_spread_constraints or ()):
        return True
    affinity = spec.affinity
    return affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)

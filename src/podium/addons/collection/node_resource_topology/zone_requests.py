"""What a pod asks of NUMA zones: as a whole, and container by container.

Amounts are those of zones: cpu in milli, others in units. For pods that are not Guaranteed the
kubelet aligns neither cpu nor memory nor huge pages. Storage, and extended resources that no zone
reports, belong to the whole node (`numaresources.go` of the collection).
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium.addons.collection.node_resource_topology.topologies import amount_of
from podium.kubernetes.kinds.pod import Container
from podium.kubernetes.rules.quality_of_service import BEST_EFFORT, GUARANTEED, qos_class_of
from podium.kubernetes.rules.quantity import milli_of_nano, value_of_nano
from podium.kubernetes.rules.requests import pod_requests
from podium.plugin import PodInfo

Amounts = Mapping[str, int]

_STORAGE: Final = ("ephemeral-storage", "storage")


class ContainerRequest(NamedTuple):
    """`kind` is `init`, `sidecar`, or empty for a container of the pod's own work."""

    kind: str
    amounts: tuple[tuple[str, int], ...]


class ZoneRequests(NamedTuple):
    """All that the rules read of a pod; pods with equal ones get equal answers."""

    guaranteed: bool
    is_exempt: bool
    whole: tuple[tuple[str, int], ...]
    containers: tuple[ContainerRequest, ...]


def zone_requests_of(pod: PodInfo) -> ZoneRequests:
    spec = pod.pod.spec
    qos = qos_class_of(pod.pod)
    containers = (
        *(
            _request(c, "sidecar" if c.restart_policy == "Always" else "init")
            for c in spec.init_containers or ()
        ),
        *(_request(c, "") for c in spec.containers or ()),
    )
    names = {name for container in containers for name, _ in container.amounts}
    is_exempt = qos == BEST_EFFORT and not any(not is_native(name) for name in names)
    return ZoneRequests(qos == GUARANTEED, is_exempt, _sorted(effective_request(pod)), containers)


def effective_request(pod: PodInfo) -> dict[str, int]:
    nanos = pod_requests(pod.pod, status_resources=False, rules=pod.shape.rules)
    return {
        name: milli_of_nano(amount) if name == "cpu" else value_of_nano(amount)
        for name, amount in nanos.items()
    }


def is_native(resource: str) -> bool:
    return "/" not in resource or "kubernetes.io/" in resource


def is_of_node(resource: str) -> bool:
    """Whether a resource that no zone reports is one of the whole node."""
    return resource in _STORAGE or not is_native(resource)


def is_of_zone(resource: str) -> bool:
    """Whether the kubelet aligns a resource for Guaranteed pods alone."""
    return resource in ("cpu", "memory") or resource.startswith("hugepages-")


def _request(container: Container, kind: str) -> ContainerRequest:
    requests = container.resources.requests if container.resources is not None else None
    amounts = {name: amount_of(name, quantity) for name, quantity in (requests or {}).items()}
    return ContainerRequest(kind, _sorted(amounts))


def _sorted(amounts: Amounts) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts.items()))


def takes_exclusively(pod: PodInfo, reported: Iterable[str]) -> bool:
    """Whether a container that runs for the pod's life has something to itself, given the
    resources that its node's zones report."""
    requests = zone_requests_of(pod)
    known = frozenset(reported)
    return any(
        _is_exclusive(name, amount, requests.guaranteed, known)
        for container in requests.containers
        if container.kind != "init"
        for name, amount in container.amounts
    )


def exclusive_amounts(
    container: Container, guaranteed: bool, reported: frozenset[str]
) -> dict[str, int]:
    """What a container has to itself."""
    return {
        name: amount
        for name, amount in _request(container, "").amounts
        if _is_exclusive(name, amount, guaranteed, reported)
    }


def _is_exclusive(name: str, amount: int, guaranteed: bool, reported: frozenset[str]) -> bool:
    if not is_native(name):
        return name in reported
    if not guaranteed or amount <= 0:
        return False
    return amount % 1000 == 0 if name == "cpu" else is_of_zone(name)

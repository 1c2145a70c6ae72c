"""Endpoints: for each service with a selector an object of its name with the pods behind it."""

from collections.abc import Sequence
from typing import Final

from podium.client.resources import ENDPOINTS
from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.endpoints import (
    HEADLESS,
    Endpoints,
    endpoint_subsets,
    has_endpoints,
    is_selected,
    truncate_subsets,
)
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.services import Service
from podium.kubernetes.rules.moment import Moment
from podium.simulated_cluster.actions import NOTHING, Create, Patch, Plan, delete
from podium.simulated_cluster.control import Wake
from podium.simulated_cluster.informers import Informers

_MANAGED_BY: Final = {"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
_OVER_CAPACITY: Final = "endpoints.kubernetes.io/over-capacity"


def decide(service: Service, pods: Sequence[Pod], known: Endpoints | None) -> Plan:
    """`pods` are those that the service selects."""
    if not has_endpoints(service):
        return NOTHING
    subsets, is_truncated = truncate_subsets(endpoint_subsets(service, pods))
    labels = {**(service.metadata.labels or {}), **_MANAGED_BY}
    labels.pop(HEADLESS, None)
    if service.is_headless:
        labels[HEADLESS] = ""
    mark = "truncated" if is_truncated else None
    if known is None:
        metadata: JsonObject = {"name": service.name, "labels": labels}
        if mark:
            metadata["annotations"] = {_OVER_CAPACITY: mark}
        body = {"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata, "subsets": subsets}
        return Plan([Create(ENDPOINTS, service.namespace, body)])
    same_mark = known.metadata.annotation(_OVER_CAPACITY) == (mark or "")
    if list(known.subsets or ()) == subsets and known.metadata.labels == labels and same_mark:
        return NOTHING
    change = {
        "metadata": {
            "labels": {**dict.fromkeys(known.metadata.labels or {}), **labels},
            "annotations": {_OVER_CAPACITY: mark},
        },
        "subsets": subsets or None,
    }
    return Plan([Patch(ENDPOINTS, service.namespace, service.name, change)])


def wake_services(informers: Informers, wake: Wake) -> None:
    """Wake services when they change, and when a pod does that they select or selected."""

    def service_changed(old: Service | None, new: Service | None) -> None:
        changed = new or old
        if changed is not None:
            wake(changed.metadata.key)

    def pod_changed(old: Pod | None, new: Pod | None) -> None:
        seen = [pod for pod in (old, new) if pod is not None]
        if len(seen) == 2 and _as_seen(seen[0]) == _as_seen(seen[1]):
            return
        for service in informers.services.in_namespace.of(seen[0].namespace):
            if has_endpoints(service) and any(is_selected(service, pod) for pod in seen):
                wake(service.metadata.key)

    informers.services.listen(service_changed)
    informers.pods.listen(pod_changed)


def _as_seen(pod: Pod) -> object:
    """What of a pod endpoints tell."""
    status = pod.status
    return (
        pod.metadata.labels,
        pod.metadata.is_terminating,
        pod.spec.node_name,
        (status.phase, status.pod_ip, status.pod_ips, pod.is_ready),
    )


def selected_pods(informers: Informers, service: Service) -> list[Pod]:
    pods = informers.pods.in_namespace.of(service.namespace)
    return [pod for pod in pods if is_selected(service, pod)]


class EndpointsController:
    """Keys are the namespace and name of a service."""

    name = "endpoints"

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._services, self._endpoints = informers.services, informers.endpoints

    def watch(self, wake: Wake) -> None:
        def endpoints_changed(old: Endpoints | None, new: Endpoints | None) -> None:
            changed = new or old
            if changed is not None:
                wake(changed.metadata.key)

        wake_services(self._informers, wake)
        self._endpoints.listen(endpoints_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        del moment
        service, known = self._services.find(key), self._endpoints.find(key)
        if service is None:
            if known is None or not _MANAGED_BY.items() <= (known.metadata.labels or {}).items():
                return NOTHING
            return Plan([delete(ENDPOINTS, known)])
        if service.metadata.is_terminating:
            return NOTHING
        return decide(service, selected_pods(self._informers, service), known)

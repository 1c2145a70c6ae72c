"""Endpoints: for each service with a selector an object of its name with the pods behind it.

Endpoints objects and endpoint slices (`endpoint_slices.py`) say the same in two forms. Both leave
out pods that have ended or have no address yet; Endpoints leave out pods on their way out as well,
slices say that they are (`pkg/controller/endpoint`, `staging/src/k8s.io/endpointslice`).
"""

from collections.abc import Iterable, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.urls import parse_ip
from podium.kubernetes.controllers.controller import (
    NOTHING,
    CreateAction,
    PatchAction,
    Plan,
    Wake,
    delete,
)
from podium.kubernetes.controllers.pods import Container, Pod
from podium.kubernetes.controllers.stores import (
    EXTERNAL_NAME,
    Endpoints,
    Service,
    ServicePort,
    Stores,
)
from podium.kubernetes.resources.resource_types import ENDPOINTS
from podium.kubernetes.rules.timestamps import Moment

HEADLESS: Final = "service.kubernetes.io/headless"
SERVICE_NAME: Final = "kubernetes.io/service-name"
IPV4: Final = "IPv4"
IPV6: Final = "IPv6"
MAX_ADDRESSES: Final = 1000
Ports = tuple[tuple[str, int, str, str | None], ...]


def has_endpoints(service: Service) -> bool:
    """Whether its endpoints are for a controller to write: not without a selector."""
    return service.spec.type != EXTERNAL_NAME and service.spec.selector is not None


def is_selected(service: Service, pod: Pod) -> bool:
    labels = pod.metadata.labels or {}
    return (service.spec.selector or {}).items() <= labels.items()


def belongs(pod: Pod, *, terminating: bool) -> bool:
    """Whether a pod can be reached; `terminating`: also while it is on its way out."""
    if pod.is_ended or not (pod.status.pod_ip or pod.status.pod_ips):
        return False
    return terminating or not pod.metadata.is_terminating


def address_types(service: Service) -> list[str]:
    families = [each for each in service.spec.ip_families or () if each in (IPV4, IPV6)]
    if families:
        return families
    if service.is_headless:
        return [IPV4, IPV6]
    return [_family(service.spec.cluster_ip)]


def _family(address: str) -> str:
    return IPV6 if ":" in address else IPV4


def addresses_of(pod: Pod, family: str) -> list[str]:
    written = [each.ip for each in pod.status.pod_ips or ()] or [pod.status.pod_ip]
    return [str(parse_ip(each)) for each in written if each and _family(each) == family]


def ports_for(service: Service, pod: Pod) -> Ports:
    """The ports of a pod that a service leads to; one that the pod does not name is left out."""
    found = ((port, _number(port, pod)) for port in service.spec.ports or ())
    return tuple(
        (port.name, number, port.protocol, port.app_protocol)
        for port, number in found
        if number is not None
    )


def _number(port: ServicePort, pod: Pod) -> int | None:
    target = port.port if port.target_port is None else port.target_port
    if isinstance(target, int):
        return target
    for container in _serving_containers(pod):
        for each in container.ports or ():
            if (each.name, each.protocol) == (target, port.protocol):
                return each.container_port
    return None


def _serving_containers(pod: Pod) -> Iterable[Container]:
    yield from pod.spec.containers or ()
    for container in pod.spec.init_containers or ():
        if container.is_sidecar:
            yield container


def _target(pod: Pod) -> JsonObject:
    metadata = pod.metadata
    names = {"kind": "Pod", "namespace": metadata.namespace, "name": metadata.name}
    return {**names, "uid": metadata.uid}


def _hostname(service: Service, pod: Pod) -> JsonObject:
    named = pod.spec.hostname and pod.spec.subdomain == service.name
    return {"hostname": pod.spec.hostname} if named else {}


# --- Endpoints --------------------------------------------------------------------------------


def endpoint_subsets(service: Service, pods: Sequence[Pod]) -> list[JsonObject]:
    """Addresses that share all their ports are together; `pods` are those it selects."""
    unready = service.spec.publish_not_ready_addresses
    family = address_types(service)[0]
    by_port: dict[object, dict[tuple[str, str], tuple[JsonObject, bool]]] = {}
    for pod in pods:
        addresses = addresses_of(pod, family) if belongs(pod, terminating=unready) else []
        if not addresses:
            continue
        address = {"ip": addresses[0], **_hostname(service, pod)}
        if pod.spec.node_name:
            address["nodeName"] = pod.spec.node_name
        address["targetRef"] = _target(pod)
        wanted: tuple[object, ...] = ports_for(service, pod)
        if not service.spec.ports:
            wanted = (None,) if service.spec.cluster_ip == "None" else ()
        for port in wanted:
            key = (address["ip"], pod.metadata.uid)
            by_port.setdefault(port, {})[key] = (address, unready or pod.is_ready)
    together: dict[tuple[object, ...], list[object]] = {}
    for port, found in by_port.items():
        same = tuple(sorted((key, is_ready) for key, (_, is_ready) in found.items()))
        together.setdefault(same, []).append(port)
    subsets = [_subset(by_port[ports[0]], ports) for ports in together.values()]
    return sorted(subsets, key=lambda each: str(each.get("ports")))


def _subset(
    found: dict[tuple[str, str], tuple[JsonObject, bool]], ports: Sequence[object]
) -> JsonObject:
    subset: JsonObject = {}
    for field, wanted in (("addresses", True), ("notReadyAddresses", False)):
        chosen = [found[key][0] for key in sorted(found) if found[key][1] is wanted]
        if chosen:
            subset[field] = chosen
    written = [_port(port) for port in ports if isinstance(port, tuple)]
    if written:
        subset["ports"] = sorted(written, key=lambda each: (each.get("name", ""), each["port"]))
    return subset


def truncate_subsets(subsets: Sequence[JsonObject]) -> tuple[list[JsonObject], bool]:
    """No more than 1000 addresses, the ready ones first; and whether some were left out."""
    room = MAX_ADDRESSES
    total = sum(len(each.get(f) or ()) for each in subsets for f in _ADDRESS_FIELDS)
    if total <= room:
        return list(subsets), False
    kept = [dict(each) for each in subsets]
    for field in _ADDRESS_FIELDS:
        for each in kept:
            addresses = (each.pop(field, None) or [])[:room]
            room -= len(addresses)
            if addresses:
                each[field] = addresses
    return kept, True


_ADDRESS_FIELDS: Final = ("addresses", "notReadyAddresses")


def _port(port: tuple[object, ...]) -> JsonObject:
    name, number, protocol, app_protocol = port
    written: JsonObject = {"port": number, "protocol": protocol}
    if name:
        written["name"] = name
    if app_protocol is not None:
        written["appProtocol"] = app_protocol
    return written


# --- endpoint slices --------------------------------------------------------------------------


def slice_ports(ports: Ports) -> list[JsonObject]:
    """As a slice has them: a port without a name has an empty one."""
    return [{"name": "", **_port(port)} for port in ports]


def slice_endpoint(service: Service, pod: Pod, family: str, zone: str) -> JsonObject:
    """upstream: what is on its way out is never ready, unless nobody waits for readiness."""
    serving, terminating = pod.is_ready, pod.metadata.is_terminating
    ready = service.spec.publish_not_ready_addresses or (serving and not terminating)
    endpoint: JsonObject = {
        "addresses": addresses_of(pod, family),
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        **_hostname(service, pod),
        "targetRef": _target(pod),
    }
    if pod.spec.node_name:
        endpoint["nodeName"] = pod.spec.node_name
    if zone:
        endpoint["zone"] = zone
    return endpoint


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
        return Plan([CreateAction(ENDPOINTS, service.namespace, body)])
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
    return Plan([PatchAction(ENDPOINTS, service.namespace, service.name, change)])


def wake_services(stores: Stores, wake: Wake) -> None:
    """Wake services when they change, and when a pod does that they select or selected."""

    def service_changed(old: Service | None, new: Service | None) -> None:
        changed = new or old
        if changed is not None:
            wake(changed.metadata.key)

    def pod_changed(old: Pod | None, new: Pod | None) -> None:
        seen = [pod for pod in (old, new) if pod is not None]
        if len(seen) == 2 and _as_seen(seen[0]) == _as_seen(seen[1]):
            return
        for service in stores.services.in_namespace.of(seen[0].namespace):
            if has_endpoints(service) and any(is_selected(service, pod) for pod in seen):
                wake(service.metadata.key)

    stores.services.listen(service_changed)
    stores.pods.listen(pod_changed)


def _as_seen(pod: Pod) -> object:
    """What of a pod endpoints tell."""
    status = pod.status
    return (
        pod.metadata.labels,
        pod.metadata.is_terminating,
        pod.spec.node_name,
        (status.phase, status.pod_ip, status.pod_ips, pod.is_ready),
    )


def selected_pods(stores: Stores, service: Service) -> list[Pod]:
    pods = stores.pods.in_namespace.of(service.namespace)
    return [pod for pod in pods if is_selected(service, pod)]


class EndpointsController:
    """Keys are the namespace and name of a service."""

    name = "endpoints"

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._services, self._endpoints = stores.services, stores.endpoints

    def watch(self, wake: Wake) -> None:
        def endpoints_changed(old: Endpoints | None, new: Endpoints | None) -> None:
            changed = new or old
            if changed is not None:
                wake(changed.metadata.key)

        wake_services(self._stores, wake)
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
        return decide(service, selected_pods(self._stores, service), known)

"""Endpoint slices: the pods behind a service, a hundred to a slice.

An endpoint stays in the slice that it is in; new ones fill slices that have room before others are
made. A service without endpoints has one empty slice (`staging/src/k8s.io/endpointslice`).
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from podium.golang.json_values import JsonObject
from podium.kubernetes.controllers.controller import (
    NOTHING,
    Action,
    CreateAction,
    PatchAction,
    Plan,
    Wake,
    delete,
)
from podium.kubernetes.controllers.endpoints import (
    HEADLESS,
    SERVICE_NAME,
    address_types,
    addresses_of,
    belongs,
    has_endpoints,
    ports_for,
    selected_pods,
    slice_endpoint,
    slice_ports,
    wake_services,
)
from podium.kubernetes.controllers.objects import OwnerKind, owner_reference
from podium.kubernetes.controllers.pods import Pod
from podium.kubernetes.controllers.stores import EndpointSlice, Service, Stores
from podium.kubernetes.resources.resource_types import ENDPOINT_SLICES
from podium.kubernetes.rules.timestamps import Moment

SERVICE: Final = OwnerKind("v1", "Service")
MAX_ENDPOINTS: Final = 100
_MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
_CONTROLLER: Final = "endpointslice-controller.k8s.io"
_RESERVED: Final = (SERVICE_NAME, _MANAGED_BY, HEADLESS)
_ZONE: Final = "topology.kubernetes.io/zone"
Zone = Callable[[str], str]


class _Group(NamedTuple):
    """Endpoints that may share a slice, by the pods that they are."""

    family: str
    ports: list[JsonObject]
    endpoints: dict[str, JsonObject]


def decide(
    service: Service, pods: Sequence[Pod], known: Sequence[EndpointSlice], zone: Zone
) -> Plan:
    """`pods` are those that the service selects, `known` the slices that it owns."""
    if not has_endpoints(service):
        return NOTHING
    groups = _groups(service, pods, zone)
    labels = _labels(service)
    actions: list[Action] = []
    left = list(known)
    for group in groups:
        fitting = [each for each in left if _is_of(each, group)]
        left = [each for each in left if each not in fitting]
        actions += _distribute_endpoints(service, group, fitting, labels)
    removal: list[Action] = [delete(ENDPOINT_SLICES, each) for each in left]
    return Plan([*actions, *removal])


def _groups(service: Service, pods: Sequence[Pod], zone: Zone) -> list[_Group]:
    groups: list[_Group] = []
    for family in address_types(service):
        found: dict[object, _Group] = {}
        for pod in pods:
            if not belongs(pod, terminating=True) or not addresses_of(pod, family):
                continue
            ports = ports_for(service, pod)
            group = found.setdefault(ports, _Group(family, slice_ports(ports), {}))
            where = zone(pod.spec.node_name)
            group.endpoints[pod.metadata.uid] = slice_endpoint(service, pod, family, where)
        groups += list(found.values()) or [_Group(family, [], {})]
    return groups


def _is_of(known: EndpointSlice, group: _Group) -> bool:
    ports = [{"name": "", **each} for each in known.ports or ()]
    return (known.address_type, _in_order(ports)) == (group.family, _in_order(group.ports))


def _in_order(ports: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(ports, key=lambda each: (each["name"], each.get("port") or 0))


def _distribute_endpoints(
    service: Service, group: _Group, known: Sequence[EndpointSlice], labels: dict[str, str]
) -> list[Action]:
    """Writes after which each endpoint of a group is in one slice."""
    new = dict(group.endpoints)
    kept: list[tuple[EndpointSlice, list[JsonObject]]] = []
    for each in sorted(known, key=lambda each: each.name):
        uids = [_uid_of(endpoint) for endpoint in each.endpoints or ()]
        kept.append((each, [new.pop(uid) for uid in uids if uid in new]))
    for _, endpoints in kept:
        while new and len(endpoints) < MAX_ENDPOINTS:
            endpoints.append(new.pop(next(iter(new))))
    rest = list(new.values())
    made = [rest[at : at + MAX_ENDPOINTS] for at in range(0, len(rest), MAX_ENDPOINTS)]
    if not kept and not made:
        made = [[]]
    filled = [each for each in kept if each[1]] or kept[:1]
    surplus = [each for each, _ in kept if all(each is not one for one, _ in filled)]
    actions: list[Action] = []
    for each, endpoints in filled:
        if endpoints != list(each.endpoints or ()) or each.metadata.labels != labels:
            actions.append(_change(each, endpoints, labels))
    actions += [delete(ENDPOINT_SLICES, each) for each in surplus]
    return [*actions, *(_new_slice(service, group, each, labels) for each in made)]


def _change(known: EndpointSlice, endpoints: list[JsonObject], labels: dict[str, str]) -> Action:
    wanted = {**dict.fromkeys(known.metadata.labels or {}), **labels}
    body = {"metadata": {"labels": wanted}, "endpoints": endpoints}
    return PatchAction(ENDPOINT_SLICES, known.namespace, known.name, body)


def _new_slice(
    service: Service, group: _Group, endpoints: list[JsonObject], labels: dict[str, str]
) -> Action:
    body = {
        "apiVersion": ENDPOINT_SLICES.api_version,
        "kind": ENDPOINT_SLICES.kind,
        "metadata": {
            "generateName": f"{service.name}-",
            "labels": labels,
            "ownerReferences": [owner_reference(SERVICE, service.metadata)],
        },
        "addressType": group.family,
        "endpoints": endpoints,
        "ports": group.ports,
    }
    return CreateAction(ENDPOINT_SLICES, service.namespace, body)


def _labels(service: Service) -> dict[str, str]:
    own = service.metadata.labels or {}
    labels = {key: value for key, value in own.items() if key not in _RESERVED}
    if service.is_headless:
        labels[HEADLESS] = ""
    return {**labels, SERVICE_NAME: service.name, _MANAGED_BY: _CONTROLLER}


def _uid_of(endpoint: JsonObject) -> str:
    return str((endpoint.get("targetRef") or {}).get("uid") or "")


class EndpointSlices:
    """Keys are the namespace and name of a service."""

    name = "endpointslices"

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._services, self._slices = stores.services, stores.endpoint_slices
        self._nodes = stores.nodes

    def watch(self, wake: Wake) -> None:
        def slice_changed(old: EndpointSlice | None, new: EndpointSlice | None) -> None:
            changed = new or old
            if changed is not None and changed.metadata.label(SERVICE_NAME):
                wake((changed.namespace, changed.metadata.label(SERVICE_NAME)))

        wake_services(self._stores, wake)
        self._slices.listen(slice_changed)

    def plan(self, key: tuple[str, str], moment: Moment) -> Plan:
        del moment
        service = self._services.find(key)
        if service is None or service.metadata.is_terminating:
            return NOTHING
        known = [
            each
            for each in self._slices.owned_by.of(service.metadata.uid)
            if each.metadata.label(_MANAGED_BY) == _CONTROLLER and not each.metadata.is_terminating
        ]
        return decide(service, selected_pods(self._stores, service), known, self._zone)

    def _zone(self, node_name: str) -> str:
        node = self._nodes.get("", node_name)
        return node.metadata.label(_ZONE) if node is not None else ""

"""NUMA zones: what an agent says of those of its node, and what a pod asks of them.

How the kubelet aligns is told by attributes, or by one of the older `topologyPolicies`; attributes
that make no sense are passed over (`nodeconfig/topologymanager.go` of the collection).

What a pod asks of NUMA zones: as a whole, and container by container. Amounts are those of zones:
cpu in milli, others in units. For pods that are not Guaranteed the kubelet aligns neither cpu nor
memory nor huge pages. Storage, and extended resources that no zone reports, belong to the whole
node (`numaresources.go` of the collection).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from podium.addons.collection.custom_kinds import (
    NUMBER,
    QUANTITY,
    TEXT,
    definition,
    list_schema,
    object_schema,
)
from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.meta import KubeStruct, Quantity
from podium.kubernetes.kinds.pod import Container
from podium.kubernetes.rules.pod_level_resources import BEST_EFFORT, GUARANTEED, qos_class_of
from podium.kubernetes.rules.quantity import milli_of_nano, milli_value, value, value_of_nano
from podium.kubernetes.rules.requests import pod_requests
from podium.plugin import KubeObject, PodInfo, WatchedKind

SINGLE_NUMA_NODE: Final = "single-numa-node"
POD_SCOPE: Final = "pod"
CONTAINER_SCOPE: Final = "container"
DEFAULT_MAX_NUMA_NODES: Final = 8
MAX_NUMA_NODES: Final = 1024
MAX_NUMA_ID: Final = 64

_POLICIES: Final = ("none", "best-effort", "restricted", SINGLE_NUMA_NODE)
_OLD_POLICIES: Final = {
    f"{old}{level}": (policy, scope)
    for old, policy in (
        ("SingleNUMANode", SINGLE_NUMA_NODE),
        ("BestEffort", "best-effort"),
        ("Restricted", "restricted"),
    )
    for level, scope in (("PodLevel", POD_SCOPE), ("ContainerLevel", CONTAINER_SCOPE))
}
_ZONE_NAME: Final = re.compile(r"node-([0-9]{1,9})", re.ASCII)
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class Attribute(KubeStruct, frozen=True):
    name: str = ""
    value: str = ""


class Cost(KubeStruct, frozen=True):
    name: str = ""
    value: int = 0


class ZoneResource(KubeStruct, frozen=True):
    name: str = ""
    capacity: Quantity = 0
    allocatable: Quantity = 0
    available: Quantity = 0


class Zone(KubeStruct, frozen=True):
    UNREAD = frozenset({"parent"})

    name: str = ""
    type: str = ""
    attributes: tuple[Attribute, ...] | None = None
    costs: tuple[Cost, ...] | None = None
    resources: tuple[ZoneResource, ...] | None = None


class NodeResourceTopology(KubeObject, frozen=True):
    cluster_scoped = True

    api_version: Literal["topology.node.k8s.io/v1alpha2"] = "topology.node.k8s.io/v1alpha2"
    kind: Literal["NodeResourceTopology"] = "NodeResourceTopology"
    topology_policies: tuple[str, ...] | None = None
    attributes: tuple[Attribute, ...] | None = None
    zones: tuple[Zone, ...] | None = None


class TopologyManager(NamedTuple):
    """How a kubelet aligns what it gives to pods."""

    policy: str = "none"
    scope: str = CONTAINER_SCOPE
    max_numa_nodes: int = DEFAULT_MAX_NUMA_NODES


class NumaZone(NamedTuple):
    """One zone; amounts of cpu are in milli, others in units. `costs` go by id of a zone."""

    numa_id: int
    available: Mapping[str, int]
    allocatable: Mapping[str, int]
    costs: Mapping[int, int]


def topology_manager_of(topology: NodeResourceTopology) -> TopologyManager:
    policy, scope, most = TopologyManager()
    for old in (topology.topology_policies or ())[:1]:
        policy, scope = _OLD_POLICIES.get(old, (policy, scope))
    for attribute in topology.attributes or ():
        text = attribute.value
        match attribute.name:
            case "topologyManagerPolicy" if text in _POLICIES:
                policy = text
            case "topologyManagerScope" if text in (POD_SCOPE, CONTAINER_SCOPE):
                scope = text
            case "topologyManagerMaxNUMANodes" if _WHOLE.fullmatch(text) and int(text) > 1:
                most = min(int(text), MAX_NUMA_NODES)
    return TopologyManager(policy, scope, most)


def zones_of(topology: NodeResourceTopology) -> list[NumaZone]:
    """The NUMA zones by id; others, and those without an id, are passed over."""
    found: dict[int, NumaZone] = {}
    for zone in topology.zones or ():
        numa_id = numa_id_of(zone.name) if zone.type == "Node" else None
        if numa_id is not None:
            available = {
                each.name: amount_of(each.name, each.available) for each in zone.resources or ()
            }
            allocatable = {
                each.name: amount_of(each.name, each.allocatable) for each in zone.resources or ()
            }
            ids = ((numa_id_of(cost.name), cost.value) for cost in zone.costs or ())
            costs = {other: value for other, value in ids if other is not None}
            found[numa_id] = NumaZone(numa_id, available, allocatable, costs)
    return [found[numa_id] for numa_id in sorted(found)]


def attribute_of(attributes: Sequence[Attribute] | None, name: str) -> str | None:
    return next((each.value for each in attributes or () if each.name == name), None)


def amount_of(resource: str, quantity: Quantity) -> int:
    return milli_value(quantity) if resource == "cpu" else value(quantity)


def numa_id_of(name: str) -> int | None:
    found = _ZONE_NAME.fullmatch(name)
    return int(found[1]) if found and int(found[1]) <= MAX_NUMA_ID else None


def _definition() -> JsonObject:
    attributes = list_schema(object_schema(name=TEXT, value=TEXT))
    amounts = object_schema(name=TEXT, capacity=QUANTITY, allocatable=QUANTITY, available=QUANTITY)
    zone = object_schema(
        name=TEXT,
        type=TEXT,
        parent=TEXT,
        attributes=attributes,
        costs=list_schema(object_schema(name=TEXT, value=NUMBER)),
        resources=list_schema(amounts),
    )
    return definition(
        NodeResourceTopology,
        "noderesourcetopologies",
        namespaced=False,
        short_names=("node-res-topo",),
        approved="https://github.com/kubernetes/enhancements/pull/1870",
        properties={
            "topologyPolicies": list_schema(TEXT),
            "attributes": attributes,
            "zones": list_schema(zone),
        },
    )


TOPOLOGIES: Final = WatchedKind(
    NodeResourceTopology, "noderesourcetopologies", namespaced=False, definition=_definition
)


Amounts = Mapping[str, int]

_STORAGE: Final = ("ephemeral-storage", "storage")


class ContainerAmounts(NamedTuple):
    """`kind` is `init`, `sidecar`, or empty for a container of the pod's own work."""

    kind: str
    amounts: tuple[tuple[str, int], ...]


class ZoneRequests(NamedTuple):
    """All that the rules read of a pod; pods with equal ones get equal answers."""

    guaranteed: bool
    is_exempt: bool
    whole: tuple[tuple[str, int], ...]
    containers: tuple[ContainerAmounts, ...]


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
    return ZoneRequests(
        qos == GUARANTEED, is_exempt, _sort_amounts(effective_request(pod)), containers
    )


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


def _request(container: Container, kind: str) -> ContainerAmounts:
    requests = container.resources.requests if container.resources is not None else None
    amounts = {name: amount_of(name, quantity) for name, quantity in (requests or {}).items()}
    return ContainerAmounts(kind, _sort_amounts(amounts))


def _sort_amounts(amounts: Amounts) -> tuple[tuple[str, int], ...]:
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

"""The pods and nodes that are sent to extenders: where they come from, how they are written.

Calls name nodes and carry typed pods. A driver that watches an API server has the objects as they
came, whole; a driver that has only typed ones writes those. The client does not mind which.

Typed objects written as an API server writes them. Extenders expect the ordinary JSON of pods and
nodes: empty fields left out, except those that the API types always write (no `omitempty` in
`staging/src/k8s.io/api/core/v1/types.go`), and quantities as strings. `kind` and `apiVersion` are
left out, as upstream leaves them out of what it sends to extenders. Only what scheduling reads is
in a typed object; a driver that keeps whole objects sends those instead.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from podium.kubernetes.kinds.meta import (
    KubeStruct,
    LabelSelectorRequirement,
    ObjectMeta,
    OwnerReference,
    ResourceList,
)
from podium.kubernetes.kinds.node import ContainerImage, Node, NodeCondition, NodeStatus, Taint
from podium.kubernetes.kinds.pod import (
    Container,
    ContainerPort,
    ContainerStatus,
    NodeSelector,
    NodeSelectorRequirement,
    Pod,
    PodAffinityTerm,
    PodCondition,
    PodResourceClaim,
    PodSchedulingGate,
    PodSpec,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from podium.kubernetes.kinds.volumes import Volume
from podium.kubernetes.rules.quantity_spelling import canonical

_REMEMBERED_PODS = 4096


class ObjectSource(Protocol):
    """JSON of objects in the API's own form, without `kind` and `apiVersion`.

    The pod has no managedFields and no node name; nodes are sent as they are.
    """

    def pod(self, pod: Pod) -> bytes: ...

    def node(self, name: str) -> bytes:
        """Raises KeyError for a node that is gone."""


class TypedObjects:
    """Objects written from their typed form; each is written once as long as it does not change."""

    def __init__(self, node: Callable[[str], Node]) -> None:
        """`node` gives the current object of a name, or raises KeyError."""
        self._node = node
        self._nodes: dict[str, tuple[Node, bytes]] = {}
        self._pods: dict[int, tuple[Pod, bytes]] = {}

    def pod(self, pod: Pod) -> bytes:
        known = self._pods.get(id(pod))
        if known is not None and known[0] is pod:
            return known[1]
        if len(self._pods) >= _REMEMBERED_PODS:
            self._pods.clear()
        written = object_json(pod)
        self._pods[id(pod)] = (pod, written)
        return written

    def node(self, name: str) -> bytes:
        try:
            node = self._node(name)
        except KeyError:
            self._nodes.pop(name, None)
            raise
        known = self._nodes.get(name)
        if known is not None and known[0] is node:
            return known[1]
        written = object_json(node)
        self._nodes[name] = (node, written)
        return written


_AMOUNTS: Final = (ResourceList, ResourceList | None)
_REQUIREMENT: Final = {"key": "", "operator": ""}
_NODE_INFO: Final = (
    "machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
    "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture",
)  # fmt: skip

# Members that are written even if nothing is in them, and what is written then
# (`staging/src/k8s.io/api/core/v1/types.go`: those without omitempty).
_ALWAYS: Final[Mapping[type[KubeStruct], Mapping[str, Any]]] = {
    Pod: {"metadata": {}, "spec": {"containers": None}, "status": {}},
    PodSpec: {"containers": None, "schedulerName": ""},
    Container: {"name": "", "resources": {}},
    ContainerPort: {"containerPort": 0},
    ContainerStatus: {"name": ""},
    NodeSelector: {"nodeSelectorTerms": None},
    NodeSelectorRequirement: _REQUIREMENT,
    LabelSelectorRequirement: _REQUIREMENT,
    PreferredSchedulingTerm: {"weight": 0, "preference": {}},
    PodAffinityTerm: {"topologyKey": ""},
    WeightedPodAffinityTerm: {"weight": 0, "podAffinityTerm": {"topologyKey": ""}},
    TopologySpreadConstraint: {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": ""},
    PodCondition: {"type": "", "status": "", "lastProbeTime": None, "lastTransitionTime": None},
    PodSchedulingGate: {"name": ""},
    PodResourceClaim: {"name": ""},
    Volume: {"name": ""},
    OwnerReference: {"apiVersion": "", "kind": "", "name": "", "uid": ""},
    Node: {"metadata": {}, "spec": {}, "status": {}},
    NodeStatus: {
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": dict.fromkeys(_NODE_INFO, ""),
    },
    NodeCondition: {
        "type": "",
        "status": "",
        "lastHeartbeatTime": None,
        "lastTransitionTime": None,
    },
    ContainerImage: {"names": None},
    Taint: {"key": "", "effect": ""},
    ObjectMeta: {},
}


class _Field(NamedTuple):
    """`amounts`: it maps resources to quantities."""

    attribute: str
    name: str
    default: Any
    amounts: bool


def object_json(thing: Pod | Node) -> bytes:
    """The object as compact JSON, without its kind."""
    return msgspec.json.encode(_members(thing))


def _members(struct: KubeStruct) -> dict[str, Any]:
    fields, always = _plan(type(struct))
    members = dict(always)
    for attribute, name, default, amounts in fields:
        value = getattr(struct, attribute)
        nothing = value == default or value in ((), {})
        if nothing and not (name in always and value is not None):
            continue
        if amounts:
            members[name] = {resource: canonical(amount) for resource, amount in value.items()}
        else:
            members[name] = _write_value(value)
    return members


def _write_value(value: Any) -> Any:
    if isinstance(value, KubeStruct):
        return _members(value)
    if isinstance(value, tuple):
        return [_write_value(inner) for inner in value]
    return value


@lru_cache(maxsize=256)
def _plan(struct: type[KubeStruct]) -> tuple[tuple[_Field, ...], Mapping[str, Any]]:
    always = next((_ALWAYS[kind] for kind in struct.__mro__ if kind in _ALWAYS), {})
    fields = tuple(
        _Field(f.name, f.encode_name, _default(f.default, f.default_factory), f.type in _AMOUNTS)
        for f in msgspec.structs.fields(struct)
        if not (issubclass(struct, Pod | Node) and f.name in ("api_version", "kind"))
    )
    return fields, always


def _default(value: Any, factory: Callable[[], Any] | Any) -> Any:
    return factory() if value is msgspec.NODEFAULT and callable(factory) else value

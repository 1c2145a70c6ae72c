"""Typed objects written as an API server writes them.

Extenders expect the ordinary JSON of pods and nodes: empty fields left out, except those that the
API types always write (no `omitempty` in `staging/src/k8s.io/api/core/v1/types.go`), and quantities
as strings. `kind` and `apiVersion` are left out, as upstream leaves them out of what it sends to
extenders. Only what scheduling reads is in a typed object; a driver that keeps whole objects sends
those instead.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
            members[name] = _written(value)
    return members


def _written(value: Any) -> Any:
    if isinstance(value, KubeStruct):
        return _members(value)
    if isinstance(value, tuple):
        return [_written(inner) for inner in value]
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

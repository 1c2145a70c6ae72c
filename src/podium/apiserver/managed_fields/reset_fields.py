"""Fields that the server resets after a write, and that nobody can therefore own by it.

A write to the object itself cannot change its status, one to the status cannot change the spec;
which else is upstream's strategies' choice, kind by kind.
"""

from functools import lru_cache
from typing import Final

from podium.apiserver.managed_fields.field_sets import LEAF, FieldSet, without
from podium.kubernetes.schema.catalogue import Schema

_STATUS: Final[FieldSet] = {"f:status": LEAF}
_SPEC: Final[FieldSet] = {"f:spec": LEAF}
_ALL_BUT_STATUS: Final[FieldSet] = {"f:metadata": LEAF, "f:spec": LEAF}
_STATUS_WRITES: Final[dict[tuple[str, str], FieldSet]] = {
    ("", "Pod"): {
        "f:spec": LEAF,
        "f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF},
    },
    ("apps", "Deployment"): {"f:spec": LEAF, "f:metadata": {"f:labels": LEAF}},
    ("storage.k8s.io", "VolumeAttachment"): _ALL_BUT_STATUS,
    ("apiregistration.k8s.io", "APIService"): _ALL_BUT_STATUS,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): _ALL_BUT_STATUS,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): _ALL_BUT_STATUS,
    ("networking.k8s.io", "ServiceCIDR"): _ALL_BUT_STATUS,
    ("resource.k8s.io", "DeviceTaintRule"): _ALL_BUT_STATUS,
    ("resource.k8s.io", "ResourceClaim"): _ALL_BUT_STATUS,
    ("scheduling.k8s.io", "PodGroup"): _ALL_BUT_STATUS,
}
_RESIZED: Final = frozenset({"f:resources", "f:resizePolicy"})


@lru_cache(maxsize=1024)
def _reset(schema: Schema, subresource: str) -> FieldSet:
    if subresource == "status":
        if schema.is_custom:
            return _ALL_BUT_STATUS
        return _STATUS_WRITES.get((schema.group, schema.kind), _SPEC)
    if subresource in ("", "finalize") and schema.has_status:
        return _STATUS
    return {}


def without_reset_fields(fields: FieldSet, schema: Schema, subresource: str) -> FieldSet:
    """The fields that a write to the object or one of its subresources can change."""
    if schema.kind == "Pod" and subresource == "resize":
        return _only_resources(fields)
    if schema.kind == "Pod" and subresource == "ephemeralcontainers":
        below = fields.get("f:spec", {}).get("f:ephemeralContainers")
        return {} if below is None else {"f:spec": {"f:ephemeralContainers": below}}
    return without(fields, _reset(schema, subresource))


def _only_resources(fields: FieldSet) -> FieldSet:
    spec: FieldSet = {}
    for step in ("f:containers", "f:initContainers"):
        containers = {}
        for name, container in fields.get("f:spec", {}).get(step, {}).items():
            kept = {key: below for key, below in container.items() if key in _RESIZED}
            if kept:
                containers[name] = kept
        if containers:
            spec[step] = containers
    return {"f:spec": spec} if spec else {}

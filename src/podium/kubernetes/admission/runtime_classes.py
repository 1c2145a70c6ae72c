"""Runtime classes of the cluster, applied to pods as they are admitted.

The rules are `podium.kubernetes.rules.runtime_classes`.
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import Resource
from podium.kubernetes.rules.runtime_classes import (
    OTHER_OVERHEAD,
    OWN_OVERHEAD,
    RuntimeClassConflict,
    apply_runtime_class,
)

_GROUP: Final = "node.k8s.io"
_PLURAL: Final = "runtimeclasses"


def apply_class(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Give a pod what its runtime class says; StatusError if there is none or it contradicts."""
    name = pod["spec"].get("runtimeClassName")
    if not name:
        return
    found = lookup.find(_GROUP, _PLURAL, "", name)
    if found is None:
        raise _refusal(resource, pod, f'pod rejected: RuntimeClass "{name}" not found')
    try:
        apply_runtime_class(pod["spec"], found)
    except RuntimeClassConflict as conflict:
        raise _refusal(resource, pod, str(conflict)) from None


def refuse_own_overhead(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Overhead comes from a pod's runtime class, never from the pod."""
    overhead = pod["spec"].get("overhead")
    name = pod["spec"].get("runtimeClassName")
    found = lookup.find(_GROUP, _PLURAL, "", name) if name else None
    fixed = ((found or {}).get("overhead") or {}).get("podFixed")
    if overhead != fixed:
        raise _refusal(resource, pod, OWN_OVERHEAD if fixed is None else OTHER_OVERHEAD)


def _refusal(resource: Resource, pod: JsonObject, why: str) -> status_errors.StatusError:
    return status_errors.forbidden(resource, pod["metadata"].get("name", ""), why)

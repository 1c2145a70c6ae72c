"""Priority classes: looked up for new pods, guarded when they are written.

What a pod gets from its class is decided in `kubernetes.rules.priorities`. Classes may change or go
later: pods keep what they got.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.kinds.workloads import PriorityClass
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.priorities import (
    PREEMPT,
    SYSTEM_PRIORITIES,
    PriorityConflict,
    default_priority_class,
    resolve_priority,
)

_GROUP: Final = "scheduling.k8s.io"
_PLURAL: Final = "priorityclasses"

SYSTEM_CLASSES: Final[tuple[JsonObject, ...]] = (
    {
        "metadata": {"name": "system-cluster-critical"},
        "value": SYSTEM_PRIORITIES["system-cluster-critical"],
        "description": (
            "Used for system critical pods that must run in the cluster, but can be moved to "
            "another node if necessary."
        ),
        "preemptionPolicy": PREEMPT,
    },
    {
        "metadata": {"name": "system-node-critical"},
        "value": SYSTEM_PRIORITIES["system-node-critical"],
        "description": (
            "Used for system critical pods that must not be moved from their current node."
        ),
        "preemptionPolicy": PREEMPT,
    },
)
"""The classes that every cluster has; recreated when they are missing."""


def refuse_deletion(resource: ApiResource, name: str) -> None:
    """Of a class that the cluster's own pods count on."""
    if (resource.group, resource.kind) == (_GROUP, "PriorityClass") and name in SYSTEM_PRIORITIES:
        why = "this is a system priority class and cannot be deleted"
        raise status_errors.forbidden(resource, name, why)


def set_priority(resource: ApiResource, pod: JsonObject, lookup: Lookup) -> None:
    """Resolve the class of a new pod."""
    spec, name = pod["spec"], pod["metadata"].get("name", "")
    chosen = class_of(resource, name, spec.get("priorityClassName"), lookup)
    if chosen is not None:
        spec["priorityClassName"] = chosen.name
    try:
        priority = resolve_priority(chosen, spec.get("priority"), spec.get("preemptionPolicy"))
    except PriorityConflict as conflict:
        raise status_errors.forbidden(resource, name, str(conflict)) from None
    spec["priority"], spec["preemptionPolicy"] = priority


def class_of(
    resource: ApiResource, name: str, class_name: str | None, lookup: Lookup
) -> PriorityClass | None:
    """The class that a new object names, or the default one; None if there is no default."""
    if not class_name:
        return lookup.get_derived(_GROUP, _PLURAL, _default_class)
    found = lookup.find(_GROUP, _PLURAL, "", class_name)
    if found is None:
        why = f"no PriorityClass with name {class_name} was found"
        raise status_errors.forbidden(resource, name, why)
    return _class(found)


def keep_priority(new: JsonObject, old: JsonObject) -> None:
    """An update that leaves the priority out does not take it away."""
    spec, before = new["spec"], old["spec"]
    for field in ("priority", "preemptionPolicy"):
        if spec.get(field) is None and before.get(field) is not None:
            spec[field] = before[field]


def refuse_second_default(resource: ApiResource, new: JsonObject, lookup: Lookup) -> None:
    """There is one default class."""
    if not new.get("globalDefault"):
        return
    current = lookup.get_derived(_GROUP, _PLURAL, _default_class)
    name = new["metadata"].get("name", "")
    if current is not None and current.name != name:
        why = (
            f"PriorityClass {current.name} is already marked as default. Only one default can exist"
        )
        raise status_errors.forbidden(resource, name, why)


def _default_class(classes: Sequence[JsonObject]) -> PriorityClass | None:
    return default_priority_class(map(_class, classes))


def _class(written: JsonObject) -> PriorityClass:
    return msgspec.convert(written, PriorityClass)

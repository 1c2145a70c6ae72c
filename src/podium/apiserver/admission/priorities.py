"""Priority: which number a pod gets from its class, and which class from nothing at all.

The class decides; a pod may repeat the number but not choose another one. Without a class the
default class of the cluster counts, and its name is written into the pod; if several claim to be
the default, the one with the lowest value. Classes may change or go later: pods keep what they got.
"""

from collections.abc import Sequence
from typing import Final

from podium.apiserver import status_errors
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.json_values import JsonObject
from podium.apiserver.resources.resource import Resource

_GROUP: Final = "scheduling.k8s.io"
_PLURAL: Final = "priorityclasses"
_PREEMPT: Final = "PreemptLowerPriority"

SYSTEM_CLASSES: Final = (
    {
        "metadata": {"name": "system-cluster-critical"},
        "value": 2_000_000_000,
        "description": (
            "Used for system critical pods that must run in the cluster, but can be moved to "
            "another node if necessary."
        ),
        "preemptionPolicy": _PREEMPT,
    },
    {
        "metadata": {"name": "system-node-critical"},
        "value": 2_000_001_000,
        "description": (
            "Used for system critical pods that must not be moved from their current node."
        ),
        "preemptionPolicy": _PREEMPT,
    },
)
"""The classes that every cluster has; recreated when they are missing."""


_SYSTEM_NAMES: Final = frozenset({"system-cluster-critical", "system-node-critical"})


def refuse_deletion(resource: Resource, name: str) -> None:
    """Of a class that the cluster's own pods count on."""
    if (resource.group, resource.kind) == (_GROUP, "PriorityClass") and name in _SYSTEM_NAMES:
        why = "this is a system priority class and cannot be deleted"
        raise status_errors.forbidden(resource, name, why)


def set_priority(resource: Resource, pod: JsonObject, lookup: Lookup) -> None:
    """Resolve the class of a new pod."""
    spec, name = pod["spec"], pod["metadata"].get("name", "")
    class_name = spec.get("priorityClassName")
    if class_name:
        chosen = lookup.find(_GROUP, _PLURAL, "", class_name)
        if chosen is None:
            why = f"no PriorityClass with name {class_name} was found"
            raise status_errors.forbidden(resource, name, why)
    else:
        chosen = lookup.derived(_GROUP, _PLURAL, _default_class)
        if chosen is not None:
            spec["priorityClassName"] = chosen["metadata"]["name"]
    priority = (chosen.get("value") or 0) if chosen is not None else 0
    policy = (chosen.get("preemptionPolicy") or _PREEMPT) if chosen is not None else _PREEMPT
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"the integer value of priority ({given}) must not be provided in pod spec; priority "
            f"admission controller computed {priority} from the given PriorityClass name"
        )
        raise status_errors.forbidden(resource, name, why)
    spec["priority"] = priority
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        why = (
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name"
        )
        raise status_errors.forbidden(resource, name, why)
    spec["preemptionPolicy"] = policy


def keep_priority(new: JsonObject, old: JsonObject) -> None:
    """An update that leaves the priority out does not take it away."""
    spec, before = new["spec"], old["spec"]
    for field in ("priority", "preemptionPolicy"):
        if spec.get(field) is None and before.get(field) is not None:
            spec[field] = before[field]


def refuse_second_default(resource: Resource, new: JsonObject, lookup: Lookup) -> None:
    """There is one default class."""
    if not new.get("globalDefault"):
        return
    current = lookup.derived(_GROUP, _PLURAL, _default_class)
    name = new["metadata"].get("name", "")
    if current is not None and current["metadata"]["name"] != name:
        why = (
            f"PriorityClass {current['metadata']['name']} is already marked as default. "
            "Only one default can exist"
        )
        raise status_errors.forbidden(resource, name, why)


def _default_class(classes: Sequence[JsonObject]) -> JsonObject | None:
    defaults = [each for each in classes if each.get("globalDefault")]
    return min(defaults, key=lambda each: each.get("value") or 0) if defaults else None

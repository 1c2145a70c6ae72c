"""LimitRanger: requests and limits that a namespace fills in, and those that it allows.

The rules are `kubernetes.rules.limit_ranges`; what a range has set is noted in an annotation. Pods
are checked when they are created, claims when they are changed as well.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes import status_errors
from podium.kubernetes.admission.lookup import Lookup
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.limit_ranges import (
    CONTAINERS,
    claim_problems,
    container_defaults,
    fill_in_defaults,
    pod_problems,
)

_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_MAX_DEFAULTS: Final = 100_000
_MAX_PROBLEMS: Final = 1000


def _ranges_by_namespace(ranges: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for each in ranges:
        limits = (each.get("spec") or {}).get("limits") or []
        if limits:
            found.setdefault(each["metadata"]["namespace"], []).append({"limits": limits})
    return found


def _ranges(namespace: str, lookup: Lookup) -> list[JsonObject]:
    return lookup.get_derived("", "limitranges", _ranges_by_namespace).get(namespace, [])


def apply_limit_ranges(pod: JsonObject, namespace: str, lookup: Lookup) -> None:
    """Give containers the requests and limits that they leave to their namespace."""
    for each in _ranges(namespace, lookup):
        requests, limits = container_defaults(each["limits"])
        _refuse_too_many(pod, len(requests) + len(limits))
        told = list(fill_in_defaults(pod["spec"], requests, limits))
        if told:
            metadata = pod["metadata"]
            annotation = f"LimitRanger plugin set: {'; '.join(told)}"
            metadata["annotations"] = {
                **(metadata.get("annotations") or {}),
                _ANNOTATION: annotation,
            }


def _refuse_too_many(pod: JsonObject, defaults: int) -> None:
    """Thousands of defaults for thousands of containers make a pod that nobody can store."""
    containers = sum(len(pod["spec"].get(field) or ()) for field, _ in CONTAINERS)
    if containers * defaults > _MAX_DEFAULTS:
        raise status_errors.internal("etcdserver: request is too large")


def refuse_beyond_limits(resource: ApiResource, obj: JsonObject, lookup: Lookup) -> None:
    """Refuse a pod or a claim that asks for more or less than a range allows."""
    check = pod_problems if resource.kind == "Pod" else claim_problems
    for each in _ranges(obj["metadata"].get("namespace") or "", lookup):
        problems = list(dict.fromkeys(islice(check(each["limits"], obj["spec"]), _MAX_PROBLEMS)))
        if problems:
            why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            raise status_errors.forbidden(resource, obj["metadata"].get("name", ""), why)

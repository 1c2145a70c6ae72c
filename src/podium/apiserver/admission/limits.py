"""Limit ranges: what containers of a namespace get, and what they may at most or must at least ask.

A range first fills in requests and limits that containers leave out, noting in an annotation what
it set. When the pod is final every range is held against it: each container by itself, the pod as a
whole, and likewise what claims ask for. Changed pods are not looked at again, changed claims are.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from podium.api.json_values import JsonObject
from podium.api.quantity import nano
from podium.apiserver import status_errors
from podium.apiserver.admission.lookup import Lookup
from podium.apiserver.resources.resource import Resource
from podium.workloads.pod_level_resources import effective_amounts

_ANNOTATION: Final = "kubernetes.io/limit-ranger"
_POD_LEVEL: Final = ("cpu", "memory")
_CONTAINERS: Final = (("containers", "container"), ("initContainers", "init container"))
_MAX_DEFAULTS: Final = 100_000
_MAX_PROBLEMS: Final = 1000

Amounts = Mapping[str, str]


def _by_namespace(ranges: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    found: dict[str, list[JsonObject]] = {}
    for each in ranges:
        limits = (each.get("spec") or {}).get("limits") or []
        if limits:
            found.setdefault(each["metadata"]["namespace"], []).append({"limits": limits})
    return found


def _ranges(namespace: str, lookup: Lookup) -> list[JsonObject]:
    return lookup.derived("", "limitranges", _by_namespace).get(namespace, [])


def fill_in(pod: JsonObject, namespace: str, lookup: Lookup) -> None:
    """Give containers the requests and limits that they leave to their namespace."""
    for each in _ranges(namespace, lookup):
        limits: dict[str, str] = {}
        requests: dict[str, str] = {}
        for limit in each["limits"]:
            if limit.get("type") == "Container":
                requests |= limit.get("defaultRequest") or {}
                limits |= limit.get("default") or {}
        _refuse_too_many(pod, len(requests) + len(limits))
        told = list(_filled(pod["spec"], requests, limits))
        if told:
            metadata = pod["metadata"]
            annotation = f"LimitRanger plugin set: {'; '.join(told)}"
            metadata["annotations"] = {
                **(metadata.get("annotations") or {}),
                _ANNOTATION: annotation,
            }


def _refuse_too_many(pod: JsonObject, defaults: int) -> None:
    """Thousands of defaults for thousands of containers make a pod that nobody can store."""
    containers = sum(len(pod["spec"].get(field) or ()) for field, _ in _CONTAINERS)
    if containers * defaults > _MAX_DEFAULTS:
        raise status_errors.internal("etcdserver: request is too large")


def _filled(spec: JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    for field, described in _CONTAINERS:
        for container in spec.get(field) or ():
            resources = container.get("resources") or {}
            for part, amounts in (("requests", requests), ("limits", limits)):
                given = resources.get(part) or {}
                added = {name: amounts[name] for name in amounts if name not in given}
                if added:
                    resources = {**resources, part: {**given, **added}}
                    names = ", ".join(sorted(added))
                    yield f"{names} {part[:-1]} for {described} {container.get('name') or ''}"
            container["resources"] = resources


def refuse_beyond(resource: Resource, obj: JsonObject, lookup: Lookup) -> None:
    """Refuse a pod or a claim that asks for more or less than a range allows."""
    check = _pod_problems if resource.kind == "Pod" else _claim_problems
    for each in _ranges(obj["metadata"].get("namespace") or "", lookup):
        problems = list(dict.fromkeys(islice(check(each["limits"], obj["spec"]), _MAX_PROBLEMS)))
        if problems:
            why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            raise status_errors.forbidden(resource, obj["metadata"].get("name", ""), why)


def _pod_problems(limits: list[JsonObject], spec: JsonObject) -> Iterator[str]:
    for limit in limits:
        kind = limit.get("type")
        if kind == "Container":
            for field, _ in _CONTAINERS:
                for container in spec.get(field) or ():
                    resources = container.get("resources") or {}
                    asked = resources.get("requests") or {}
                    yield from _problems(limit, asked, resources.get("limits") or {})
        elif kind == "Pod":
            yield from _problems(limit, _total(spec, "requests"), _total(spec, "limits"))


def _total(spec: JsonObject, part: str) -> Amounts:
    whole = (spec.get("resources") or {}).get(part) or {}
    own = {name: amount for name, amount in whole.items() if name in _POD_LEVEL}
    return {**effective_amounts(spec, part), **own}


def _problems(limit: JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    kind = limit["type"]
    for name, least in sorted((limit.get("min") or {}).items()):
        yield from _too_little(kind, name, least, requests, limits)
    for name, most in sorted((limit.get("max") or {}).items()):
        rule = f"maximum {name} usage per {kind} is {most}"
        if name not in limits:
            yield f"{rule}.  No limit is specified"
        elif nano(limits[name]) > nano(most):
            yield f"{rule}, but limit is {limits[name]}"
        elif name in requests and nano(requests[name]) > nano(most):
            yield f"{rule}, but request is {requests[name]}"
    for name, most in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
        rule = f"{name} max limit to request ratio per {kind} is {most}"
        asked, given = nano(requests.get(name, "0")), nano(limits.get(name, "0"))
        if not asked:
            yield f"{rule}, but no request is specified or request is 0"
        elif not given:
            yield f"{rule}, but no limit is specified or limit is 0"
        elif given * 10**9 > nano(most) * asked:
            yield f"{rule}, but provided ratio is {given / asked:f}"


def _too_little(
    kind: str, name: str, least: str, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    rule = f"minimum {name} usage per {kind} is {least}"
    if name not in requests:
        yield f"{rule}.  No request is specified"
    elif nano(requests[name]) < nano(least):
        yield f"{rule}, but request is {requests[name]}"
    elif name in limits and nano(limits[name]) < nano(least):
        yield f"{rule}, but limit is {limits[name]}"


def _claim_problems(limits: list[JsonObject], spec: JsonObject) -> Iterator[str]:
    requests: Amounts = (spec.get("resources") or {}).get("requests") or {}
    for limit in limits:
        if limit.get("type") != "PersistentVolumeClaim":
            continue
        for name, least in sorted((limit.get("min") or {}).items()):
            yield from _too_little(limit["type"], name, least, requests, {})
        for name, most in sorted((limit.get("max") or {}).items()):
            rule = f"maximum {name} usage per {limit['type']} is {most}"
            if name not in requests:
                yield f"{rule}.  No request is specified"
            elif nano(requests[name]) > nano(most):
                yield f"{rule}, but request is {requests[name]}"

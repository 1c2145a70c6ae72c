"""Limit ranges: what containers of a namespace get, and what they may at most or must at least ask.

A range first fills in requests and limits that containers leave out. When the pod is final every
range is held against it: each container by itself, the pod as a whole, and likewise what claims ask
for. Problems are worded as the API server words them (`plugin/pkg/admission/limitranger`).

Worked example: the range {type: Container, max: cpu 2, defaultRequest: cpu 100m} gives a container
that says nothing the limit cpu 2 and the request cpu 100m.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.pod_level_resources import effective_amounts
from podium.kubernetes.rules.quantity import nano

CONTAINERS: Final = (("containers", "container"), ("initContainers", "init container"))
_POD_LEVEL: Final = ("cpu", "memory")

Amounts = Mapping[str, str]


def derive_container_limits(item: JsonObject) -> None:
    """What an item for containers leaves out follows from the rest of it."""
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    given = item.get("defaultRequest") or {}
    requests = {**(item.get("min") or {}), **limits, **given}
    if limits:
        item["default"] = limits
    if requests:
        item["defaultRequest"] = requests


def container_defaults(limits: Sequence[JsonObject]) -> tuple[Amounts, Amounts]:
    """Requests and limits for containers that name none, of the items of one range."""
    default_limits: dict[str, str] = {}
    default_requests: dict[str, str] = {}
    for limit in limits:
        if limit.get("type") == "Container":
            default_requests |= limit.get("defaultRequest") or {}
            default_limits |= limit.get("default") or {}
    return default_requests, default_limits


def fill_in_defaults(spec: JsonObject, requests: Amounts, limits: Amounts) -> Iterator[str]:
    """Change the containers of a pod; what was set, container by container."""
    for field, described in CONTAINERS:
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


def pod_problems(limits: Sequence[JsonObject], spec: JsonObject) -> Iterator[str]:
    """Where a pod is beyond the items of a range."""
    for limit in limits:
        kind = limit.get("type")
        if kind == "Container":
            for field, _ in CONTAINERS:
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


def claim_problems(limits: Sequence[JsonObject], spec: JsonObject) -> Iterator[str]:
    """Where a PersistentVolumeClaim is."""
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

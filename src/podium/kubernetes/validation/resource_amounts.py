"""Requests and limits: which names resources may have, and which amounts."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.text_cache import cache_short_texts
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from podium.kubernetes.rules.quantity import QuantityError, is_negative, milli_value, nano
from podium.kubernetes.validation.names import label_problems
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    check_each,
    check_label_key,
)

NOT_AN_INTEGER: Final = "must be an integer"
NOT_NATIVE: Final = "must be a node allocatable resource name"

_HUGE_PAGES: Final = "hugepages-"
_FOR_CONTAINERS: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED_OBJECTS: Final = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD: Final = _COUNTED_OBJECTS | {
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.storage",
    "storage",
}
_FOR_PODS: Final = ("cpu", "hugepages-", "memory")


def is_huge_pages(name: str) -> bool:
    return name.startswith(_HUGE_PAGES)


@cache_short_texts(1024)
def is_extended(name: str) -> bool:
    """Resources outside of Kubernetes' own domain, such as `example.com/gpu`."""
    if is_native(name) or name.startswith("requests."):
        return False
    found: Errors = []
    check_label_key(found, f"requests.{name}", "")
    return not found


def is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def may_be_overcommitted(name: str) -> bool:
    return is_native(name) and not is_huge_pages(name)


def check_amount(errors: Errors, name: str, amount: str, path: str) -> None:
    """An amount is never negative; what is counted in pieces comes in whole pieces."""
    if is_negative(amount):
        errors.append(invalid(path, amount, NOT_NEGATIVE))
    if (name in _COUNTED_OBJECTS or is_extended(name)) and milli_value(amount) % 1000:
        errors.append(invalid(path, amount, NOT_AN_INTEGER))


def check_resource_name(errors: Errors, name: str, path: str) -> bool:
    """Whether the name is one of a resource at all."""
    before = len(errors)
    check_label_key(errors, name, path)
    if len(errors) == before and "/" not in name and not _is_standard(name):
        detail = "must be a standard resource type or fully qualified"
        errors.append(invalid(path, name, detail))
    return len(errors) == before


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((_HUGE_PAGES, "requests.hugepages-"))


def is_quota_resource(name: str) -> bool:
    """What a quota can count, apart from names with a domain."""
    return name != "storage" and _is_standard(name)


def check_container_name(errors: Errors, name: str, path: str) -> None:
    check_resource_name(errors, name, path)
    if "/" not in name:
        if not (name in _FOR_CONTAINERS or is_huge_pages(name)):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))


def _check_pod_level_name(errors: Errors, name: str, path: str) -> None:
    if check_resource_name(errors, name, path) and not (
        name in ("cpu", "memory") or is_huge_pages(name)
    ):
        errors.append(not_supported(path, name, _FOR_PODS))


class ClaimNames:
    """The names of a pod's resource claims; which there are is spelt once for all containers."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._in_order = tuple(names)
        self._names = frozenset(self._in_order)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    @cached_property
    def refusal(self) -> str:
        listed = f": {', '.join(sorted(self._in_order))}" if self._in_order else " which is empty"
        return f"must be one of the names in pod.spec.resourceClaims{listed}"


def check_container_resources(
    errors: Errors, resources: JsonObject, claims: ClaimNames, path: str
) -> None:
    _check_requirements(errors, resources, check_container_name, path)
    if resources.get("claims"):
        _check_claim_names(errors, resources["claims"], claims, f"{path}.claims")


def check_pod_level_resources(errors: Errors, resources: JsonObject, path: str) -> None:
    if resources.get("claims") is not None:
        detail = "claims may not be set for Resources at pod-level"
        errors.append(forbidden(f"{path}.claims", detail))
    _check_requirements(errors, resources, _check_pod_level_name, path)


def _check_requirements(
    errors: Errors,
    resources: JsonObject,
    check_name: Callable[[Errors, str, str], None],
    path: str,
) -> None:
    limits: Mapping[str, str] = resources.get("limits") or {}
    requests: Mapping[str, str] = resources.get("requests") or {}
    for name, amount in sorted(limits.items()):
        at = f"{path}.limits[{name}]"
        _check_entry(errors, name, amount, check_name, at)
        _check_huge_pages(errors, name, amount, at)
    for name, amount in sorted(requests.items()):
        at = f"{path}.requests[{name}]"
        _check_entry(errors, name, amount, check_name, at)
        _check_against_limit(errors, name, amount, limits.get(name), path)
        _check_huge_pages(errors, name, amount, at)
    names = {*limits, *requests}
    if any(map(is_huge_pages, names)) and not names & {"cpu", "memory"}:
        errors.append(forbidden(path, "HugePages require cpu or memory"))


def _check_entry(
    errors: Errors,
    name: str,
    amount: str,
    check_name: Callable[[Errors, str, str], None],
    path: str,
) -> None:
    if name in ("cpu", "memory"):  # good names everywhere, and not counted in pieces
        if is_negative(amount):
            errors.append(invalid(path, amount, NOT_NEGATIVE))
        return
    check_name(errors, name, path)
    check_amount(errors, name, amount, path)


def _check_against_limit(
    errors: Errors, name: str, amount: str, limit: str | None, path: str
) -> None:
    if limit is None:
        if not may_be_overcommitted(name):
            detail = "Limit must be set for non overcommitable resources"
            errors.append(required(f"{path}.limits", detail))
    elif amount != limit and not may_be_overcommitted(name) and nano(amount) != nano(limit):
        detail = f"must be equal to {name} limit of {limit}"
        errors.append(invalid(f"{path}.requests", amount, detail))
    elif amount != limit and nano(amount) > nano(limit):
        detail = f"must be less than or equal to {name} limit of {limit}"
        errors.append(invalid(f"{path}.requests", amount, detail))


def _check_huge_pages(errors: Errors, name: str, amount: str, path: str) -> None:
    if not is_huge_pages(name):
        return
    try:
        page = nano(name.removeprefix(_HUGE_PAGES))
    except QuantityError:
        page = 0
    if page <= 0 or nano(amount) % page:
        detail = f"{amount} is not positive integer multiple of {name}"
        errors.append(invalid(path, amount, detail))


def _check_claim_names(
    errors: Errors, claims: list[JsonObject], known: ClaimNames, path: str
) -> None:
    """The devices of a container, by the names that the pod gives to its claims."""
    seen: set[str] = set()
    with_request: set[str] = set()
    for index, claim in enumerate(claims):
        at, name, request = f"{path}[{index}]", claim.get("name") or "", claim.get("request")
        if not name:
            errors.append(required(at))
            continue
        if name in seen:
            errors.append(duplicate(at, name))
        else:
            key = name
            if request:
                check_each(errors, label_problems(request), request, f"{at}.request")
                key = f"{name}/{request}"
            if key in seen:
                errors.append(duplicate(at, key))
            elif not request and name in with_request:
                errors.append(duplicate(at, name))
            seen.add(key)
            if request:
                with_request.add(name)
        if name not in known:
            errors.append(not_found(at, name, known.refusal))

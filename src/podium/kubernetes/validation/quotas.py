"""Resource quotas and limit ranges: which resources they may name, and which amounts agree."""

from collections.abc import Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import duplicate, forbidden, immutable, invalid, required
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.resource_amounts import (
    check_amount,
    check_container_name,
    check_resource_name,
    is_quota_resource,
    may_be_overcommitted,
)

_LIMIT_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_PARTS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_EXISTING_ONLY: Final = frozenset(
    {"BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"}
)
_SCOPES: Final = _EXISTING_ONLY | {"PriorityClass", "VolumeAttributesClass"}
_OF_PODS: Final = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "pods", "requests.cpu", "requests.memory"}
)
_OF_CLAIMS: Final = frozenset({"persistentvolumeclaims", "requests.storage"})
_CONFLICTING: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_ONLY_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def quota_create_errors(quota: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(quota), True, subdomain_problems)
    _check_quota_spec(errors, quota.get("spec") or {})
    return errors


def quota_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    spec: JsonObject = new.get("spec") or {}
    _check_quota_spec(errors, spec)
    scopes = spec.get("scopes")
    if set(scopes or ()) != set((old.get("spec") or {}).get("scopes") or ()):
        errors.append(immutable("spec.scopes", scopes))
    return errors


def quota_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    for part in ("hard", "used"):
        _check_amounts(errors, status.get(part) or {}, f"status.{part}")
    return errors


def _check_amounts(errors: Errors, amounts: JsonObject, path: str) -> None:
    for name, amount in sorted(amounts.items()):
        at = f"{path}[{name}]"
        check_resource_name(errors, name, at)
        if "/" not in name and not is_quota_resource(name):
            errors.append(invalid(at, name, "must be a standard resource for quota"))
        check_amount(errors, name, amount, at)


def _check_quota_spec(errors: Errors, spec: JsonObject) -> None:
    hard: JsonObject = spec.get("hard") or {}
    _check_amounts(errors, hard, "spec.hard")
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        for _ in _beyond_scope(scope, hard):
            detail = "unsupported scope applied to resource"
            errors.append(invalid("spec.scopes", scopes, detail))
    errors.extend(
        invalid("spec.scopes", scopes, "conflicting scopes")
        for pair in _CONFLICTING
        if pair <= set(scopes)
    )
    selector = spec.get("scopeSelector")
    if selector is not None:
        _check_scope_selector(errors, spec, selector, hard)


def _check_scope_selector(
    errors: Errors, spec: JsonObject, selector: JsonObject, hard: JsonObject
) -> None:
    path = "spec.scopeSelector.matchExpressions"
    expressions: list[JsonObject] = selector.get("matchExpressions") or []
    for expression in expressions:
        scope, operator = expression.get("scopeName") or "", expression.get("operator") or ""
        values = expression.get("values") or []
        if scope not in _SCOPES:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        for _ in _beyond_scope(scope, hard):
            shown = go_form("core", "ScopeSelector", selector)
            errors.append(invalid(path, shown, "unsupported scope applied to resource"))
        if scope in _EXISTING_ONLY and operator != "Exists":
            errors.append(invalid(f"{path}.operator", operator, _ONLY_EXISTS))
        if operator in ("In", "NotIn"):
            if not values:
                detail = "must be at least one value when `operator` is 'In' or 'NotIn'"
                errors.append(required(f"{path}.values", f"{detail} for scope selector"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist'"
                errors.append(invalid(f"{path}.values", values, f"{detail} for scope selector"))
        else:
            errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    names = {expression.get("scopeName") for expression in expressions}
    errors.extend(
        invalid(path, spec.get("scopes"), "conflicting scopes")
        for pair in _CONFLICTING
        if pair <= names
    )


def _beyond_scope(scope: str, hard: JsonObject) -> Iterator[str]:
    """Resources that a scope says nothing about."""
    if scope == "BestEffort":
        covered = frozenset({"pods"})
    elif scope == "VolumeAttributesClass":
        covered = _OF_CLAIMS
    elif scope in _SCOPES:
        covered = _OF_PODS
    else:
        return
    yield from (name for name in sorted(hard) if is_quota_resource(name) and name not in covered)


def range_errors(limit_range: JsonObject) -> Errors:
    """Everything wrong with a LimitRange."""
    errors = built_in_meta_errors(meta_of(limit_range), True, subdomain_problems)
    seen: set[str] = set()
    for number, limit in enumerate((limit_range.get("spec") or {}).get("limits") or ()):
        path = f"spec.limits[{number}]"
        kind = limit.get("type") or ""
        _check_limit_type(errors, kind, f"{path}.type")
        if kind in seen:
            errors.append(duplicate(f"{path}.type", kind))
        seen.add(kind)
        _check_limit(errors, limit, kind, path)
    return errors


def range_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return [*range_errors(new), *built_in_meta_update_errors(meta_of(new), meta_of(old))]


def _check_limit_type(errors: Errors, kind: str, path: str) -> None:
    before = len(errors)
    check_label_key(errors, kind, path)
    if len(errors) == before and "/" not in kind and kind not in _LIMIT_TYPES:
        detail = "must be a standard limit type or fully qualified"
        errors.append(invalid(path, kind, detail))


def _check_limit(errors: Errors, limit: JsonObject, kind: str, path: str) -> None:
    check_name = check_container_name if kind in ("Pod", "Container") else check_resource_name
    amounts: dict[str, JsonObject] = {}
    for part in _PARTS:
        given: JsonObject = limit.get(part) or {}
        if part == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim":
            _check_storage_limit(errors, limit, path)
        if kind == "Pod" and part in ("default", "defaultRequest"):
            if given:
                detail = "may not be specified when `type` is 'Pod'"
                errors.append(forbidden(f"{path}.{part}", detail))
            given = {}
        amounts[part] = given
        for name in sorted(given):
            check_name(errors, name, f"{path}.{part}[{name}]")
    for name in sorted({name for given in amounts.values() for name in given}):
        found = {part: given[name] for part, given in amounts.items() if name in given}
        _check_agreement(errors, name, found, path)


def _check_storage_limit(errors: Errors, limit: JsonObject, path: str) -> None:
    if "storage" not in (limit.get("min") or {}) and "storage" not in (limit.get("max") or {}):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(required(f"{path}.limits", detail))


def _check_agreement(errors: Errors, name: str, found: dict[str, str], path: str) -> None:
    """The amounts of one resource must be in order: min, default request, default, max."""

    def refuse(at: str, value: str, detail: str) -> None:
        errors.append(invalid(f"{path}.{at}[{name}]", value, detail))

    def exceeds(one: str, other: str) -> bool:
        return one in found and other in found and nano(found[one]) > nano(found[other])

    least, most = found.get("min", ""), found.get("max", "")
    default, request = found.get("default", ""), found.get("defaultRequest", "")
    if exceeds("min", "max"):
        refuse("min", least, f"min value {least} is greater than max value {most}")
    if exceeds("min", "defaultRequest"):
        detail = f"min value {least} is greater than default request value {request}"
        refuse("defaultRequest", request, detail)
    if exceeds("defaultRequest", "max"):
        detail = f"default request value {request} is greater than max value {most}"
        refuse("defaultRequest", request, detail)
    if exceeds("defaultRequest", "default"):
        detail = f"default request value {request} is greater than default limit value {default}"
        refuse("defaultRequest", request, detail)
    if exceeds("min", "default"):
        refuse("default", least, f"min value {least} is greater than default value {default}")
    if exceeds("default", "max"):
        refuse("default", most, f"default value {default} is greater than max value {most}")
    ratio = found.get("maxLimitRequestRatio")
    if ratio is not None:
        if nano(ratio) < nano("1"):
            refuse("maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
        if least and most and nano(least) and nano(ratio) * nano(least) > nano(most) * nano("1"):
            detail = f"ratio {ratio} is greater than max/min = {nano(most) / nano(least):f}"
            refuse("maxLimitRequestRatio", ratio, detail)
    if default and request and not may_be_overcommitted(name) and nano(default) != nano(request):
        detail = f"default value {default} must equal to defaultRequest value {request} in {name}"
        refuse("defaultRequest", request, detail)

"""Workloads and pod groups: pods that are scheduled together."""

from collections.abc import Callable
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    immutable,
    invalid,
    not_supported,
    required,
    too_many,
)
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY
from podium.kubernetes.validation.names import (
    label_problems,
    path_segment_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_conditions,
    check_each,
    check_label_key,
    meta_of,
)

_MAX_TEMPLATES: Final = 8
_MAX_CLAIMS: Final = 4
_MODES: Final = ("Pod", "PodGroup")
_SPEC_FIELDS: Final = (
    "podGroupTemplateRef",
    "schedulingPolicy",
    "schedulingConstraints",
    "resourceClaims",
    "disruptionMode",
    "priorityClassName",
    "priority",
)


def workload_create_errors(workload: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(workload), True, subdomain_problems)
    spec: JsonObject = workload.get("spec") or {}
    controller = spec.get("controllerRef")
    if controller is not None:
        _check_controller(errors, controller)
    templates: list[JsonObject] = spec.get("podGroupTemplates") or []
    at = "spec.podGroupTemplates"
    if len(templates) > _MAX_TEMPLATES:
        errors.append(too_many(at, len(templates), _MAX_TEMPLATES))
        return errors
    if not templates:
        errors.append(required(at))
        return errors
    _check_distinct(errors, templates, at)
    for index, template in enumerate(templates):
        _check_name(errors, template, "name", label_problems, f"{at}[{index}]")
        _check_group_spec(errors, template, f"{at}[{index}]")
    return errors


def workload_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_unchanged(errors, new, old, ("controllerRef", "podGroupTemplates"))
    return errors


def group_create_errors(group: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(group), True, subdomain_problems)
    spec: JsonObject = group.get("spec") or {}
    reference = spec.get("podGroupTemplateRef")
    if reference is not None:
        _check_template_reference(errors, reference, "spec.podGroupTemplateRef")
    _check_group_spec(errors, spec, "spec")
    return errors


def group_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_unchanged(errors, new, old, _SPEC_FIELDS)
    return errors


def group_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status: JsonObject = new.get("status") or {}
    check_conditions(errors, status.get("conditions") or [], "status.conditions")
    known = {claim.get("name") for claim in (new.get("spec") or {}).get("resourceClaims") or ()}
    at = "status.resourceClaimStatuses"
    statuses: list[JsonObject] = status.get("resourceClaimStatuses") or []
    for index, each in enumerate(statuses):
        if each.get("name") not in known:
            detail = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(f"{at}[{index}].name", each.get("name") or "", detail))
    if len(statuses) > _MAX_CLAIMS:
        errors.append(too_many(at, len(statuses), _MAX_CLAIMS))
        return errors
    _check_distinct(errors, statuses, at)
    for index, each in enumerate(statuses):
        name = each.get("resourceClaimName")
        if name is not None:
            check_each(errors, subdomain_problems(name), name, f"{at}[{index}].resourceClaimName")
    return errors


def _check_unchanged(
    errors: Errors, new: JsonObject, old: JsonObject, fields: tuple[str, ...]
) -> None:
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    for field in fields:
        if (spec.get(field) or None) != (before.get(field) or None):
            errors.append(immutable(f"spec.{field}", None))


def _check_controller(errors: Errors, controller: JsonObject) -> None:
    at, group = "spec.controllerRef", controller.get("apiGroup") or ""
    if group:
        check_each(errors, subdomain_problems(group), group, f"{at}.apiGroup")
    for field in ("kind", "name"):
        _check_name(errors, controller, field, path_segment_problems, at)


def _check_template_reference(errors: Errors, reference: JsonObject, path: str) -> None:
    workload = reference.get("workload")
    if workload is None:
        errors.append(invalid(path, "", "must specify one of: `workload`"))
        return
    at = f"{path}.workload"
    _check_name(errors, workload, "workloadName", subdomain_problems, at)
    _check_name(errors, workload, "podGroupTemplateName", label_problems, at)


def _check_group_spec(errors: Errors, spec: JsonObject, path: str) -> None:
    """What groups and their templates have in common."""
    _check_policy(errors, spec.get("schedulingPolicy") or {}, f"{path}.schedulingPolicy")
    constraints = spec.get("schedulingConstraints")
    if constraints is not None:
        at, topology = f"{path}.schedulingConstraints.topology", constraints.get("topology") or []
        if len(topology) > 1:
            errors.append(too_many(at, len(topology), 1))
        else:
            for index, each in enumerate(topology):
                _check_topology_key(errors, each.get("key") or "", f"{at}[{index}].key")
    _check_claims(errors, spec.get("resourceClaims") or [], f"{path}.resourceClaims")
    mode = spec.get("disruptionMode")
    if mode is not None and mode not in _MODES:
        errors.append(not_supported(f"{path}.disruptionMode", mode, _MODES))
    name = spec.get("priorityClassName")
    if name:
        check_each(errors, subdomain_problems(name), name, f"{path}.priorityClassName")
    priority = spec.get("priority")
    if priority is not None and priority > MAX_USER_PRIORITY:
        detail = f"must be less than or equal to {MAX_USER_PRIORITY}"
        errors.append(invalid(f"{path}.priority", priority, detail))


def _check_policy(errors: Errors, policy: JsonObject, path: str) -> None:
    _check_one_of(errors, policy, ("basic", "gang"), path)
    gang = policy.get("gang")
    if gang is None:
        return
    least = gang.get("minCount") or 0
    if least == 0:
        errors.append(required(f"{path}.gang.minCount"))
    elif least < 1:
        detail = "must be greater than or equal to 1"
        errors.append(invalid(f"{path}.gang.minCount", least, detail))


def _check_topology_key(errors: Errors, key: str, path: str) -> None:
    if not key:
        errors.append(required(path))
    else:
        check_label_key(errors, key, path)


def _check_claims(errors: Errors, claims: list[JsonObject], path: str) -> None:
    if len(claims) > _MAX_CLAIMS:
        errors.append(too_many(path, len(claims), _MAX_CLAIMS))
        return
    _check_distinct(errors, claims, path)
    names = ("resourceClaimName", "resourceClaimTemplateName")
    for index, claim in enumerate(claims):
        at = f"{path}[{index}]"
        _check_one_of(errors, claim, names, at)
        _check_name(errors, claim, "name", label_problems, at)
        for field in names:
            name = claim.get(field)
            if name is not None:
                check_each(errors, subdomain_problems(name), name, f"{at}.{field}")


def _check_one_of(errors: Errors, holder: JsonObject, fields: tuple[str, ...], path: str) -> None:
    given = [field for field in fields if holder.get(field) is not None]
    choices = ", ".join(f"`{field}`" for field in fields)
    if not given:
        errors.append(invalid(path, "", f"must specify one of: {choices}"))
    elif len(given) > 1:
        shown = f"{{{', '.join(given)}}}"
        errors.append(invalid(path, shown, f"must specify exactly one of: {choices}"))


def _check_name(
    errors: Errors, holder: JsonObject, field: str, rule: Callable[[str], list[str]], path: str
) -> None:
    name = holder.get(field) or ""
    if not name:
        errors.append(required(f"{path}.{field}"))
    else:
        check_each(errors, rule(name), name, f"{path}.{field}")


def _check_distinct(errors: Errors, items: list[JsonObject], path: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(items):
        name = item.get("name") or ""
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", item))
        seen.add(name)

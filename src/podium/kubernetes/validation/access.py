"""Roles and the bindings of people and programs to them."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.kubernetes.validation.names import path_segment_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECTS: Final = ("ServiceAccount", "User", "Group")


def role_create_errors(role: JsonObject, *, namespaced: bool) -> Errors:
    """A Role or ClusterRole."""
    errors = built_in_meta_errors(meta_of(role), namespaced, path_segment_problems)
    for index, rule in enumerate(role.get("rules") or ()):
        at = f"rules[{index}]"
        if not rule.get("verbs"):
            errors.append(required(f"{at}.verbs", "verbs must contain at least one value"))
        if rule.get("nonResourceURLs"):
            _check_paths(errors, rule, f"{at}.nonResourceURLs", namespaced=namespaced)
            continue
        if not rule.get("apiGroups"):
            detail = "resource rules must supply at least one api group"
            errors.append(required(f"{at}.apiGroups", detail))
        if not rule.get("resources"):
            detail = "resource rules must supply at least one resource"
            errors.append(required(f"{at}.resources", detail))
    aggregation = role.get("aggregationRule")
    if aggregation is not None and not aggregation.get("clusterRoleSelectors"):
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        errors.append(required("aggregationRule.clusterRoleSelectors", detail))
    return errors


def role_update_errors(new: JsonObject, old: JsonObject, *, namespaced: bool) -> Errors:
    changed = built_in_meta_update_errors(meta_of(new), meta_of(old))
    return [*role_create_errors(new, namespaced=namespaced), *changed]


def _check_paths(errors: Errors, rule: JsonObject, path: str, *, namespaced: bool) -> None:
    """Of a rule about paths that are no resources."""
    paths = rule["nonResourceURLs"]
    if namespaced:
        detail = "namespaced rules cannot apply to non-resource URLs"
        errors.append(invalid(path, paths, detail))
    if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
        detail = "rules cannot apply to both regular resources and non-resource URLs"
        errors.append(invalid(path, paths, detail))


def binding_create_errors(binding: JsonObject, *, namespaced: bool) -> Errors:
    """A RoleBinding or ClusterRoleBinding."""
    errors = built_in_meta_errors(meta_of(binding), namespaced, path_segment_problems)
    reference: JsonObject = binding.get("roleRef") or {}
    group, kind = reference.get("apiGroup") or "", reference.get("kind") or ""
    if group != _GROUP:
        errors.append(not_supported("roleRef.apiGroup", group, (_GROUP,)))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if kind not in kinds:
        errors.append(not_supported("roleRef.kind", kind, kinds))
    name = reference.get("name") or ""
    if not name:
        errors.append(required("roleRef.name"))
    else:
        check_each(errors, path_segment_problems(name), name, "roleRef.name")
    for index, subject in enumerate(binding.get("subjects") or ()):
        _check_subject(errors, subject, f"subjects[{index}]", namespaced=namespaced)
    return errors


def _check_subject(errors: Errors, subject: JsonObject, path: str, *, namespaced: bool) -> None:
    name, group = subject.get("name") or "", subject.get("apiGroup") or ""
    kind = subject.get("kind") or ""
    if not name:
        errors.append(required(f"{path}.name"))
    if kind not in _SUBJECTS:
        errors.append(not_supported(f"{path}.kind", kind, _SUBJECTS))
    elif kind == "ServiceAccount":
        if name:
            check_each(errors, subdomain_problems(name), name, f"{path}.name")
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif group != _GROUP:
        errors.append(not_supported(f"{path}.apiGroup", group, (_GROUP,)))


def binding_update_errors(new: JsonObject, old: JsonObject, *, namespaced: bool) -> Errors:
    errors = binding_create_errors(new, namespaced=namespaced)
    errors.extend(built_in_meta_update_errors(meta_of(new), meta_of(old)))
    if new.get("roleRef") != old.get("roleRef"):
        reference = new.get("roleRef") or {}
        shown = {
            "APIGroup": reference.get("apiGroup") or "",
            "Kind": reference.get("kind") or "",
            "Name": reference.get("name") or "",
        }
        errors.append(invalid("roleRef", shown, "cannot change roleRef"))
    return errors

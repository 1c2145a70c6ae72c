"""The rules for writes: those of the kind, which its record names, and those that hold for all.

For a new object the rules of its kind come first, and only if they find nothing the general ones
for metadata; for a changed object the general ones come first and both are told. Kinds without
rules of their own have names like most objects.
"""

from podium.golang.json_values import JsonObject
from podium.kubernetes.kinds.record import ValidateUpdate
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.kubernetes.validation.names import path_segment_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    TooManyErrors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_errors,
    meta_of,
    meta_update_errors,
)


def validate_create(resource: ApiResource, obj: JsonObject) -> Errors:
    rule = resource.record.validation.create
    metadata = meta_of(obj)
    try:
        if rule is not None:
            errors = rule(obj)
        else:
            errors = built_in_meta_errors(metadata, resource.namespaced, subdomain_problems)
        return errors or meta_errors(metadata, resource.namespaced, path_segment_problems)
    except TooManyErrors as found:
        return found.errors


def validate_update(resource: ApiResource, new: JsonObject, old: JsonObject) -> Errors:
    return _update_errors(resource, new, old, resource.record.validation.update)


def validate_status_update(resource: ApiResource, new: JsonObject, old: JsonObject) -> Errors:
    return _update_errors(resource, new, old, resource.record.validation.status)


def validate_subresource_update(
    resource: ApiResource, subresource: str, new: JsonObject, old: JsonObject
) -> Errors:
    rule = resource.subresource_by_name[subresource].validate
    return _update_errors(resource, new, old, rule)


def _update_errors(
    resource: ApiResource, new: JsonObject, old: JsonObject, rule: ValidateUpdate | None
) -> Errors:
    metadata, before = meta_of(new), meta_of(old)
    try:
        errors = meta_errors(metadata, resource.namespaced, path_segment_problems)
        errors += meta_update_errors(metadata, before)
        if rule is not None:
            return [*errors, *rule(new, old)]
        return [*errors, *built_in_meta_update_errors(metadata, before)]
    except TooManyErrors as found:
        return found.errors


def validate_binding(binding: JsonObject) -> Errors:
    """Of a pod to a node; the node need not exist."""
    target: JsonObject = binding.get("target") or {}
    errors: Errors = []
    kind = target.get("kind") or ""
    if kind not in ("", "Node"):
        errors.append(not_supported("target.kind", kind, ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors


def validate_scale(scale: JsonObject) -> Errors:
    errors = meta_errors(meta_of(scale), True, subdomain_problems)
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if replicas < 0:
        errors.append(invalid("spec.replicas", replicas, NOT_NEGATIVE))
    return errors

"""Validating admission policies and their bindings; expressions have to compile."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel.admission_programs import BOOL, TEXT, TEXT_OR_NULL, Programs
from podium.kubernetes.rules.field_errors import (
    duplicate,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.conditions import check_conditions
from podium.kubernetes.validation.match_conditions import (
    check_expression,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_update_errors,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.policy_parts import (
    check_bound,
    check_matching,
    check_shared_expressions,
    create_errors,
    update_errors,
)

_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS: Final = ("Audit", "Deny", "Warn")
_MAX_ANNOTATIONS: Final = 20
_MAX_ANNOTATION_BYTES: Final = 5 * 1024
_NO_ITEM: Final = "validations or auditAnnotations must contain at least one item"
_DENY_AND_WARN: Final = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the"
    " API response and headers serves no purpose)"
)


def policy_create_errors(policy: JsonObject) -> Errors:
    return create_errors(policy, _check_policy)


def policy_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return update_errors(new, old, _check_policy)


def policy_status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    status = new.get("status") or {}
    checked = status.get("typeChecking") or {}
    for index, warning in enumerate(checked.get("expressionWarnings") or ()):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        for field in ("warning", "fieldRef"):
            if not (warning.get(field) or "").strip():
                errors.append(required(f"{path}.{field}"))
    check_conditions(errors, status.get("conditions") or [], "status.conditions")
    return errors


def binding_create_errors(binding: JsonObject) -> Errors:
    return create_errors(binding, _check_binding)


def binding_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return update_errors(new, old, _check_binding)


# --- policies -------------------------------------------------------------------------------------


def _check_policy(errors: Errors, policy: JsonObject) -> None:
    spec = policy.get("spec") or {}
    check_matching(errors, spec)
    programs = Programs.of(spec)
    if not check_shared_expressions(errors, spec, programs):
        return
    validations = spec.get("validations") or ()
    annotations = spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        errors.append(required("spec.validations", _NO_ITEM))
        errors.append(required("spec.auditAnnotations", _NO_ITEM))
    for index, validation in enumerate(validations):
        _check_validation(errors, validation, programs, f"spec.validations[{index}]")
    if len(annotations) > _MAX_ANNOTATIONS:
        detail = f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations"
        errors.append(invalid("spec.auditAnnotations", list(annotations), detail))
    keys: set[str] = set()
    for index, annotation in enumerate(annotations):
        path, key = f"spec.auditAnnotations[{index}]", annotation.get("key") or ""
        _check_annotation(errors, meta_of(policy).get("name") or "", annotation, programs, path)
        if key in keys:
            errors.append(duplicate(f"{path}.key", key))
        keys.add(key)


def _check_validation(
    errors: Errors, validation: JsonObject, programs: Programs, path: str
) -> None:
    source, message = validation.get("expression") or "", validation.get("message") or ""
    if not source.strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    else:
        check_expression(errors, source, BOOL, programs, f"{path}.expression")
    told = validation.get("messageExpression") or ""
    if told and not told.strip():
        errors.append(invalid(f"{path}.messageExpression", told, "must be non-empty if specified"))
    elif told:
        check_expression(
            errors, told, TEXT, programs, f"{path}.messageExpression", authorizer=False
        )
    if message and not message.strip():
        errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
    reason = validation.get("reason")
    if reason is not None and reason not in _REASONS:
        errors.append(not_supported(f"{path}.reason", reason, _REASONS))


def _check_annotation(
    errors: Errors, policy: str, annotation: JsonObject, programs: Programs, path: str
) -> None:
    key = annotation.get("key") or ""
    if policy:
        check_label_key(errors, f"{policy}/{key}", f"{path}.key")
    else:
        errors.append(invalid(f"{path}.key", key, "requires metadata.name be non-empty"))
    source = (annotation.get("valueExpression") or "").strip()
    at = f"{path}.valueExpression"
    if not source:
        errors.append(required(at, "valueExpression is not specified"))
    elif len(source.encode()) > _MAX_ANNOTATION_BYTES:
        errors.append(required(at, f"must not exceed {_MAX_ANNOTATION_BYTES} bytes in length"))
    else:
        check_expression(errors, source, TEXT_OR_NULL, programs, at)


# --- bindings -------------------------------------------------------------------------------------


def _check_binding(errors: Errors, binding: JsonObject) -> None:
    spec = binding.get("spec") or {}
    check_bound(errors, spec)
    _check_actions(errors, spec.get("validationActions") or [])


def _check_actions(errors: Errors, actions: list[str]) -> None:
    path = "spec.validationActions"
    seen: set[str] = set()
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.append(not_supported(f"{path}[{index}]", action, _ACTIONS))
        if action in seen:
            errors.append(duplicate(f"{path}[{index}]", action))
        seen.add(action)
    if {"Deny", "Warn"} <= seen:
        errors.append(invalid(path, actions, _DENY_AND_WARN))
    if not seen:
        errors.append(required(path, "at least one validation action is required"))

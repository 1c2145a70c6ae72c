"""Validating admission policies and their bindings; expressions have to compile.

What admission policies of both kinds have in common, and so do their bindings.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel import CompileError
from podium.kubernetes.cel.admission_programs import BOOL, TEXT, TEXT_OR_NULL, Programs
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.match_resources import (
    TOO_MANY,
    are_too_many,
    check_expression,
    check_match_conditions,
    check_match_resources,
)
from podium.kubernetes.validation.names import (
    dns1035_problems,
    path_segment_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_conditions,
    check_label_key,
    meta_of,
)
from podium.kubernetes.validation.selectors import check_label_selector

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


_FAILURE_POLICIES: Final = ("Fail", "Ignore")
_NOT_FOUND_ACTIONS: Final = ("Deny", "Allow")
_PARTS: Final = ("matchConditions", "variables", "validations", "auditAnnotations", "mutations")
_SOURCES: Final = ("expression", "messageExpression", "valueExpression")
_PATCHES: Final = ("applyConfiguration", "jsonPatch")
_NAME: Final = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_WORDS: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import",
        "in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void",
        "while",
    }
)  # fmt: skip
_ONE_OF: Final = "name and selector are mutually exclusive"

Check = Callable[[Errors, JsonObject], None]
"""Looks at all of a policy or binding but its metadata."""


def create_errors(obj: JsonObject, check: Check) -> Errors:
    errors = built_in_meta_errors(meta_of(obj), False, subdomain_problems)
    check(errors, obj)
    return errors


def update_errors(new: JsonObject, old: JsonObject, check: Check) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    check(errors, new)
    return errors


def check_matching(errors: Errors, spec: JsonObject) -> None:
    """Of a policy: what fails when it fails, its parameters, and what it matches."""
    failure = spec.get("failurePolicy")
    if failure not in _FAILURE_POLICIES:
        errors.append(not_supported("spec.failurePolicy", failure, _FAILURE_POLICIES))
    kind = spec.get("paramKind")
    if kind is not None:
        _check_param_kind(errors, kind)
    matched = spec.get("matchConstraints")
    if matched is None:
        errors.append(required("spec.matchConstraints"))
        return
    check_match_resources(errors, matched, "spec.matchConstraints")
    if not matched.get("resourceRules"):
        errors.append(required("spec.matchConstraints.resourceRules"))


def check_shared_expressions(errors: Errors, spec: JsonObject, programs: Programs) -> bool:
    """Of a policy: conditions and variables; False where there is too much to look at."""
    if are_too_many(_sources(spec)):
        errors.append(forbidden("spec", TOO_MANY))
        return False
    conditions = spec.get("matchConditions") or []
    check_match_conditions(errors, conditions, programs, "spec.matchConditions")
    for index, variable in enumerate(spec.get("variables") or ()):
        _check_variable(errors, variable, programs, f"spec.variables[{index}]")
    return True


def check_bound(errors: Errors, spec: JsonObject) -> None:
    """Of a binding: its policy, its parameters, and what it matches."""
    policy = spec.get("policyName") or ""
    if not policy:
        errors.append(required("spec.policyName"))
    else:
        for problem in subdomain_problems(policy):
            errors.append(invalid("spec.policyName", policy, problem))
    reference = spec.get("paramRef")
    if reference is not None:
        _check_param_ref(errors, reference)
    matched = spec.get("matchResources")
    if matched is not None:
        check_match_resources(errors, matched, "spec.matchResources")


def _sources(spec: JsonObject) -> Iterator[str]:
    for part in _PARTS:
        for each in spec.get(part) or ():
            holders = (each, *((each.get(name) or {}) for name in _PATCHES))
            yield from (holder.get(name) or "" for holder in holders for name in _SOURCES)


def _check_param_kind(errors: Errors, kind: JsonObject) -> None:
    path, written = "spec.paramKind.apiVersion", kind.get("apiVersion") or ""
    group, slash, version = written.partition("/")
    if not slash:
        group, version = "", written
    if not written:
        errors.append(required(path))
    elif written.count("/") > 1:
        errors.append(invalid(path, written, f"unexpected GroupVersion string: {written}"))
    else:
        problems = subdomain_problems(group) if group else []
        if problems:
            errors.append(invalid(path, group, ",".join(problems)))
        if not version:
            errors.append(invalid(path, written, "version must be specified"))
        elif problems := dns1035_problems(version):
            errors.append(invalid(path, version, ",".join(problems)))
    name = kind.get("kind") or ""
    if not name:
        errors.append(required("spec.paramKind.kind"))
    elif problems := dns1035_problems(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        errors.append(invalid("spec.paramKind.kind", name, detail))


def _check_variable(errors: Errors, variable: JsonObject, programs: Programs, path: str) -> None:
    name, source = variable.get("name") or "", variable.get("expression") or ""
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not _NAME.fullmatch(name) or name in _WORDS:
        errors.append(invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    if not source.strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
        return
    try:
        programs.add_variable(name, source)
    except CompileError as problem:
        errors.append(invalid(f"{path}.expression", source, f"compilation failed: {problem}"))


def _check_param_ref(errors: Errors, reference: JsonObject) -> None:
    path, name = "spec.paramRef", reference.get("name") or ""
    selector = reference.get("selector")
    if name:
        for problem in path_segment_problems(name):
            errors.append(invalid(f"{path}.name", name, problem))
        if selector is not None:
            errors.append(forbidden(f"{path}.name", _ONE_OF))
    if selector is not None:
        check_label_selector(errors, selector, f"{path}.selector")
        if name:
            errors.append(forbidden(f"{path}.selector", _ONE_OF))
    elif not name:
        errors.append(required(path, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in _NOT_FOUND_ACTIONS:
        at = f"{path}.parameterNotFoundAction"
        errors.append(not_supported(at, action, _NOT_FOUND_ACTIONS))

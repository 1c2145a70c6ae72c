"""Mutating admission policies and their bindings."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.cel.admission_programs import Programs
from podium.kubernetes.cel.structs import JSON_PATCHES, OBJECT
from podium.kubernetes.rules.field_errors import invalid, not_supported, required
from podium.kubernetes.validation.admission_policies import (
    check_bound,
    check_matching,
    check_shared_expressions,
    create_errors,
    update_errors,
)
from podium.kubernetes.validation.match_resources import REINVOCATION_POLICIES, check_expression
from podium.kubernetes.validation.object_meta import (
    Errors,
)

_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "UPDATE")
"""What is deleted cannot be changed."""
_FIELDS: Final = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
_RESULTS: Final = {"ApplyConfiguration": OBJECT, "JSONPatch": JSON_PATCHES}


def policy_create_errors(policy: JsonObject) -> Errors:
    return create_errors(policy, _check_policy)


def policy_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return update_errors(new, old, _check_policy)


def binding_create_errors(binding: JsonObject) -> Errors:
    return create_errors(binding, _check_binding)


def binding_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    return update_errors(new, old, _check_binding)


def _check_binding(errors: Errors, binding: JsonObject) -> None:
    spec = binding.get("spec") or {}
    check_bound(errors, spec)
    _check_operations(errors, spec.get("matchResources"), "spec.matchResources")


def _check_policy(errors: Errors, policy: JsonObject) -> None:
    spec = policy.get("spec") or {}
    check_matching(errors, spec)
    _check_operations(errors, spec.get("matchConstraints"), "spec.matchConstraints")
    programs = Programs.of(spec, always_has_variables=True)
    if not check_shared_expressions(errors, spec, programs):
        return
    mutations = spec.get("mutations") or ()
    if not mutations:
        errors.append(required("spec.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(mutations):
        _check_mutation(errors, mutation, programs, f"spec.mutations[{index}]")
    again = spec.get("reinvocationPolicy") or ""
    if not again:
        errors.append(required("spec.reinvocationPolicy"))
    elif again not in REINVOCATION_POLICIES:
        errors.append(not_supported("spec.reinvocationPolicy", again, REINVOCATION_POLICIES))


def _check_operations(errors: Errors, matched: JsonObject | None, path: str) -> None:
    for rule in (matched or {}).get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _OPERATIONS:
                at = f"{path}.resourceRules.operations"
                errors.append(not_supported(at, operation, _OPERATIONS))


def _check_mutation(errors: Errors, mutation: JsonObject, programs: Programs, path: str) -> None:
    kind = mutation.get("patchType") or ""
    if not kind:
        errors.append(required(f"{path}.patchType"))
        return
    if kind not in _FIELDS:
        errors.append(not_supported(f"{path}.patchType", kind, tuple(_FIELDS)))
        return
    for each, field in _FIELDS.items():
        patch = mutation.get(field)
        if each == kind and patch is None:
            told = f"must be specified when patchType is {kind}"
            errors.append(required(f"{path}.{field}", told))
        elif each == kind and patch is not None:
            _check_patch(errors, patch, kind, programs, f"{path}.{field}.expression")
    for each, field in _FIELDS.items():
        if each != kind and mutation.get(field) is not None:
            told = f"must not be specified when patchType is {kind}"
            errors.append(invalid(f"{path}.{field}", f"{{{field}}}", told))


def _check_patch(
    errors: Errors, patch: JsonObject, kind: str, programs: Programs, path: str
) -> None:
    source = (patch.get("expression") or "").strip()
    if not source:
        errors.append(required(path))
    else:
        check_expression(errors, source, _RESULTS[kind], programs, path, patch_types=True)

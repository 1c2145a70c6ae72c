"""Priority classes, disruption budgets and leases: small kinds that scheduling leans on."""

from typing import Final

from podium.kubernetes.rules.field_errors import forbidden, immutable, invalid, not_supported, required
from podium.golang.json_values import JsonObject
from podium.kubernetes.validation.go_forms import go_form
from podium.kubernetes.validation.names import subdomain_problems
from podium.kubernetes.validation.numbers import check_not_negative, check_share
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    ErrorList,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    meta_of,
)
from podium.kubernetes.validation.pod_specs import PREEMPTION_POLICIES
from podium.kubernetes.validation.selectors import check_label_selector
from podium.kubernetes.rules.priorities import MAX_USER_PRIORITY, SYSTEM_PRIORITIES

_SYSTEM: Final = "system-"
_EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
_BUDGET_COUNTS: Final = (
    "disruptionsAllowed",
    "currentHealthy",
    "desiredHealthy",
    "expectedPods",
)


def priority_class_create_errors(priority_class: JsonObject) -> Errors:
    metadata = meta_of(priority_class)
    errors = built_in_meta_errors(metadata, False, subdomain_problems)
    name, value = metadata.get("name") or "", priority_class.get("value") or 0
    if name.startswith(_SYSTEM):
        problem = _system_problem(name, value, bool(priority_class.get("globalDefault")))
        if problem:
            detail = (
                f"priority class names with '{_SYSTEM}' prefix are reserved for system use only. "
                f"error: {problem}"
            )
            errors.append(forbidden("metadata.name", detail))
    elif value > MAX_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {MAX_USER_PRIORITY}"
        errors.append(forbidden("value", detail))
    policy = priority_class.get("preemptionPolicy")
    if policy == "":
        errors.append(required("preemptionPolicy"))
    elif policy is not None and policy not in PREEMPTION_POLICIES:
        errors.append(not_supported("preemptionPolicy", policy, PREEMPTION_POLICIES))
    return errors


def _system_problem(name: str, value: int, is_default: bool) -> str:
    known = SYSTEM_PRIORITIES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def priority_class_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    if (new.get("value") or 0) != (old.get("value") or 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    if new.get("preemptionPolicy") != old.get("preemptionPolicy"):
        errors.append(immutable("preemptionPolicy", new.get("preemptionPolicy")))
    return errors


def budget_errors(budget: JsonObject) -> Errors:
    """What is wrong with a PodDisruptionBudget, new or changed; names are checked for all kinds."""
    errors: Errors = ErrorList()
    spec: JsonObject = budget.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = go_form("policy", "PodDisruptionBudgetSpec", spec)
        detail = "minAvailable and maxUnavailable cannot be both set"
        errors.append(invalid("spec", shown, detail))
    for field, share in (("minAvailable", least), ("maxUnavailable", most)):
        if share is not None:
            check_share(errors, share, f"spec.{field}")
    check_label_selector(errors, spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION_POLICIES:
        at = "spec.unhealthyPodEvictionPolicy"
        errors.append(not_supported(at, policy, _EVICTION_POLICIES))
    return errors


def budget_update_errors(new: JsonObject, _old: JsonObject) -> Errors:
    return budget_errors(new)


def budget_status_errors(new: JsonObject, _old: JsonObject) -> Errors:
    errors: Errors = ErrorList()
    check_not_negative(errors, new.get("status") or {}, _BUDGET_COUNTS, "status")
    return errors


def lease_create_errors(lease: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(lease), True, subdomain_problems)
    _check_lease_spec(errors, lease.get("spec") or {})
    return errors


def lease_update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_lease_spec(errors, new.get("spec") or {})
    return errors


def _check_lease_spec(errors: Errors, spec: JsonObject) -> None:
    duration, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if duration is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        detail = "may only be specified if `strategy` is defined"
        errors.append(forbidden("spec.preferredHolder", detail))

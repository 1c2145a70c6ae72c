"""The fields by which a pod says where it wants to run: affinity, spread, tolerations, gates.

Their errors are what users of a scheduler meet most, so texts and order are upstream's to the
letter (`pkg/apis/core/validation`).
"""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from podium.kubernetes.validation.names import label_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    check_each,
    check_label_key,
    label_value_problems,
)
from podium.kubernetes.validation.selectors import (
    check_label_selector,
    check_node_selector,
    check_node_selector_term,
)

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION: Final = ("Honor", "Ignore")
_POSITIVE: Final = "must be greater than zero"


def check_affinity(errors: Errors, affinity: JsonObject, path: str) -> None:
    node = affinity.get("nodeAffinity")
    if node:
        _check_node_affinity(errors, node, f"{path}.nodeAffinity")
    for name in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(name)
        if terms:
            _check_pod_affinity(errors, terms, f"{path}.{name}")


def _check_node_affinity(errors: Errors, affinity: JsonObject, path: str) -> None:
    wanted = affinity.get(_REQUIRED)
    if wanted is not None:
        check_node_selector(errors, wanted, f"{path}.{_REQUIRED}")
    for index, term in enumerate(affinity.get(_PREFERRED) or ()):
        at = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(errors, term, at)
        preference = term.get("preference") or {}
        check_node_selector_term(errors, preference, f"{at}.preference", any_values=True)


def _check_pod_affinity(errors: Errors, affinity: JsonObject, path: str) -> None:
    for index, term in enumerate(affinity.get(_REQUIRED) or ()):
        _check_pod_affinity_term(errors, term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        at = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(errors, weighted, at)
        term = weighted.get("podAffinityTerm") or {}
        _check_pod_affinity_term(errors, term, f"{at}.podAffinityTerm")


def _check_weight(errors: Errors, term: JsonObject, path: str) -> None:
    weight = term.get("weight") or 0
    if not 1 <= weight <= 100:
        errors.append(invalid(f"{path}.weight", weight, "must be in the range 1-100"))


def _check_pod_affinity_term(errors: Errors, term: JsonObject, path: str) -> None:
    selector = term.get("labelSelector")
    check_label_selector(errors, selector, f"{path}.labelSelector")
    check_label_selector(errors, term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for name in term.get("namespaces") or ():
        check_each(errors, label_problems(name), name, f"{path}.namespace")
    mismatched = term.get("mismatchLabelKeys") or []
    _check_match_label_keys(errors, term.get("matchLabelKeys") or [], mismatched, selector, path)
    key = term.get("topologyKey") or ""
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    check_label_key(errors, key, f"{path}.topologyKey")


def _check_match_label_keys(
    errors: Errors,
    matched: list[str],
    mismatched: list[str],
    selector: JsonObject | None,
    path: str,
) -> None:
    for field, keys in (("matchLabelKeys", matched), ("mismatchLabelKeys", mismatched)):
        if keys and selector is None:
            detail = "must not be specified when labelSelector is not set"
            errors.append(forbidden(f"{path}.{field}", detail))
        elif keys:
            for index, key in enumerate(keys):
                check_label_key(errors, key, f"{path}.{field}[{index}]")
    if selector is not None and matched:
        seen = set(selector.get("matchLabels") or ())
        places = {key: index for index, key in reversed(list(enumerate(matched)))}
        for expression in selector.get("matchExpressions") or ():
            key = expression.get("key") or ""
            if key in places and key in seen:
                detail = "exists in both matchLabelKeys and labelSelector"
                errors.append(invalid(f"{path}[{places[key]}]", key, detail))
            seen.add(key)
    refused = set(mismatched)
    for index, key in enumerate(matched):
        if key in refused:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(f"{path}.matchLabelKeys[{index}]", key, detail))


def check_spread(errors: Errors, constraints: list[JsonObject], path: str) -> None:
    """The topologySpreadConstraints of a pod."""
    last = {_spread_over(constraint): index for index, constraint in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        at = f"{path}[{index}]"
        skew = constraint.get("maxSkew") or 0
        if skew <= 0:
            errors.append(invalid(f"{at}.maxSkew", skew, _POSITIVE))
        key, action = _spread_over(constraint)
        if not key:
            errors.append(required(f"{at}.topologyKey", "can not be empty"))
        if action not in _ACTIONS:
            errors.append(not_supported(f"{at}.whenUnsatisfiable", action, _ACTIONS))
        if last[key, action] != index:
            pair = f"{at}.{{topologyKey, whenUnsatisfiable}}"
            errors.append(duplicate(pair, f"{{{key}, {action}}}"))
        _check_min_domains(errors, constraint.get("minDomains"), action, f"{at}.minDomains")
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(field)
            if policy is not None and policy not in _INCLUSION:
                errors.append(not_supported(f"{at}.{field}", policy, _INCLUSION))
        selector = constraint.get("labelSelector")
        keys = constraint.get("matchLabelKeys") or []
        _check_match_label_keys(errors, keys, [], selector, at)
        check_label_selector(errors, selector, f"{at}.labelSelector")


def _spread_over(constraint: JsonObject) -> tuple[str, str]:
    return constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""


def _check_min_domains(errors: Errors, domains: int | None, action: str, path: str) -> None:
    if domains is None:
        return
    if domains <= 0:
        errors.append(invalid(path, domains, _POSITIVE))
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, detail))


def check_tolerations(errors: Errors, tolerations: list[JsonObject], path: str) -> None:
    for index, toleration in enumerate(tolerations):
        key, operator = toleration.get("key"), toleration.get("operator") or ""
        value, effect = toleration.get("value") or "", toleration.get("effect") or ""
        if key:
            check_label_key(errors, key, f"{path}[{index}].key")
        elif operator != "Exists":
            detail = (
                'operator must be Exists when `key` is empty, which means "match all values and '
                'all keys"'
            )
            errors.append(invalid(f"{path}[{index}].operator", operator, detail))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(f"{path}[{index}].effect", effect, detail))
        if operator in ("Equal", ""):
            if wrong := label_value_problems(value):
                errors.append(invalid(f"{path}[{index}].operator", value, ";".join(wrong)))
        elif operator == "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                errors.append(invalid(f"{path}[{index}].operator", value, detail))
        else:
            # upstream: the two operators behind a gate are named only to those who use them.
            supported = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else _OPERATORS
            errors.append(not_supported(f"{path}[{index}].operator", operator, supported))
        if effect:
            check_taint_effect(errors, effect, f"{path}[{index}].effect")


_OPERATORS: Final = ("Equal", "Exists")


def check_taint_effect(errors: Errors, effect: str, path: str) -> None:
    if effect not in _EFFECTS:
        errors.append(not_supported(path, effect, _EFFECTS))


def check_taints(errors: Errors, taints: list[JsonObject], path: str) -> None:
    """The taints of a node."""
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at = f"{path}[{index}]"
        key, value = taint.get("key") or "", taint.get("value") or ""
        effect = taint.get("effect") or ""
        check_label_key(errors, key, f"{at}.key")
        if wrong := label_value_problems(value):
            errors.append(invalid(f"{at}.value", value, ";".join(wrong)))
        if not effect:
            errors.append(required(f"{at}.effect"))
        else:
            check_taint_effect(errors, effect, f"{at}.effect")
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect}
            shown["TimeAdded"] = taint.get("timeAdded")
            detail = "taints must be unique by key and effect pair"
            errors.append(duplicate(at, shown, detail))
        seen.add((key, effect))


def check_gates(errors: Errors, gates: list[JsonObject], path: str) -> None:
    """The schedulingGates of a pod."""
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name") or ""
        check_label_key(errors, name, f"{path}[{index}]")
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)

"""When the failure of a pod fails its job, and when the success of some pods is enough."""

from itertools import pairwise
from typing import Final

from podium.golang.json_values import JsonObject
from podium.golang.quoting import go_quote
from podium.kubernetes.rules.field_errors import (
    OMITTED,
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from podium.kubernetes.validation.field_values import check_not_negative
from podium.kubernetes.validation.object_meta import Errors, check_label_key

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")
_MAX_RULES: Final = 20
_MAX_EXIT_CODES: Final = 255
_MAX_INDEXES_BYTES: Final = 64 * 1024


def check_failure_policy(errors: Errors, spec: JsonObject, path: str) -> None:
    rules: list[JsonObject] = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > _MAX_RULES:
        errors.append(too_many(f"{path}.rules", len(rules), _MAX_RULES))
    template = (spec.get("template") or {}).get("spec") or {}
    names = {
        container.get("name") or ""
        for field in ("containers", "initContainers")
        for container in template.get(field) or ()
    }
    for number, rule in enumerate(rules):
        at = f"{path}.rules[{number}]"
        _check_action(errors, rule.get("action") or "", spec, f"{at}.action")
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or []
        if codes is not None:
            _check_exit_codes(errors, codes, names, f"{at}.onExitCodes")
        if conditions:
            _check_conditions(errors, conditions, f"{at}.onPodConditions")
        if codes is not None and conditions:
            detail = "specifying both OnExitCodes and OnPodConditions is not supported"
            errors.append(invalid(at, OMITTED, detail))
        if codes is None and not conditions:
            detail = "specifying one of OnExitCodes and OnPodConditions is required"
            errors.append(invalid(at, OMITTED, detail))


def _one_of(choices: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(go_quote, choices))}]"


def _check_action(errors: Errors, action: str, spec: JsonObject, path: str) -> None:
    if not action:
        errors.append(required(path, _one_of(_ACTIONS)))
    elif action == "FailIndex":
        if spec.get("backoffLimitPerIndex") is None:
            detail = "requires the backoffLimitPerIndex to be set"
            errors.append(invalid(path, action, detail))
    elif action not in _ACTIONS:
        errors.append(not_supported(path, action, _ACTIONS))


def _check_exit_codes(errors: Errors, codes: JsonObject, names: set[str], path: str) -> None:
    operator = codes.get("operator") or ""
    if not operator:
        errors.append(required(f"{path}.operator", _one_of(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    container = codes.get("containerName")
    if container is not None and container not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", container, detail))
    values: list[int] = codes.get("values") or []
    if not values:
        errors.append(invalid(f"{path}.values", values, "at least one value is required"))
    elif len(values) > _MAX_EXIT_CODES:
        errors.append(too_many(f"{path}.values", len(values), _MAX_EXIT_CODES))
    seen: set[int] = set()
    for number, value in enumerate(values):
        at = f"{path}.values[{number}]"
        if operator == "In" and value == 0:
            errors.append(invalid(at, value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(at, value))
        seen.add(value)
    if any(one > two for one, two in pairwise(values)):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))


def _check_conditions(errors: Errors, conditions: list[JsonObject], path: str) -> None:
    if len(conditions) > _MAX_RULES:
        errors.append(too_many(path, len(conditions), _MAX_RULES))
    for number, condition in enumerate(conditions):
        at = f"{path}[{number}]"
        check_label_key(errors, condition.get("type") or "", f"{at}.type")
        status = condition.get("status") or ""
        if not status:
            errors.append(required(f"{at}.status", _one_of(_STATUSES)))
        elif status not in _STATUSES:
            errors.append(not_supported(f"{at}.status", status, _STATUSES))


def check_success_policy(errors: Errors, spec: JsonObject, path: str) -> None:
    """For jobs whose pods have indexes."""
    rules: list[JsonObject] = spec["successPolicy"].get("rules") or []
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", detail))
    if len(rules) > _MAX_RULES:
        errors.append(too_many(f"{path}.rules", len(rules), _MAX_RULES))
    for number, rule in enumerate(rules):
        _check_success_rule(errors, rule, spec.get("completions") or 0, f"{path}.rules[{number}]")


def _check_success_rule(errors: Errors, rule: JsonObject, completions: int, path: str) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        detail = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(required(path, detail))
    total = 0
    if indexes is not None:
        at = f"{path}.succeededIndexes"
        if len(indexes) > _MAX_INDEXES_BYTES:
            errors.append(too_long(at, _MAX_INDEXES_BYTES))
        try:
            total = _number_of_indexes(indexes, completions)
        except ValueError as problem:
            errors.append(invalid(at, indexes, f"error parsing succeededIndexes: {problem}"))
    if count is None:
        return
    at = f"{path}.succeededCount"
    check_not_negative(errors, rule, ("succeededCount",), path)
    most = f"must be less than or equal to {completions} (the number of specified completions)"
    if count > completions:
        errors.append(invalid(at, count, most))
    if indexes is not None and count > total:
        detail = f"must be less than or equal to {total} (the number of indexes in the specified"
        errors.append(invalid(at, count, f"{detail} succeededIndexes field)"))


def _number_of_indexes(text: str, completions: int) -> int:
    """How many indexes `0,3-5` names; ValueError if they are none or out of order."""
    total, last = 0, -1
    for part in text.split(",") if text else ():
        ends = part.split("-")
        if len(ends) > 2:
            raise ValueError(
                f"the fragment {go_quote(part)} violates the requirement that an index interval can"
                " have at most two parts separated by '-'"
            )
        numbers = [_index(end, completions) for end in ends]
        first, end = numbers[0], numbers[-1]
        if len(numbers) > 1 and first >= end:
            raise ValueError(f"non-increasing order, previous: {first}, current: {end}")
        if last >= first:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def _index(text: str, completions: int) -> int:
    if not text.isascii() or not text.removeprefix("+").isdigit():
        raise ValueError(f"cannot convert string to integer for index: {go_quote(text)}")
    if int(text) >= completions:
        raise ValueError(f"too large index: {go_quote(text)}")
    return int(text)

"""Conditions of the form that newer kinds share (`meta/v1` Condition)."""

import re
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import (
    duplicate,
    invalid,
    not_supported,
    required,
    too_long,
)
from podium.kubernetes.validation.object_meta import Errors, check_each, check_label_key

_STATUSES: Final = ("False", "True", "Unknown")
_MAX_REASON: Final = 1024
_MAX_MESSAGE: Final = 32 * 1024
_REASON_FORM: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON: Final = re.compile(_REASON_FORM)
_REASON_RULE: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON_FORM}')"
)


def check_conditions(errors: Errors, conditions: list[JsonObject], path: str) -> None:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        at, kind = f"{path}[{index}]", condition.get("type") or ""
        if kind in seen:
            errors.append(duplicate(f"{at}.type", kind))
        seen.add(kind)
        _check_condition(errors, condition, kind, at)


def _check_condition(errors: Errors, condition: JsonObject, kind: str, path: str) -> None:
    check_label_key(errors, kind, f"{path}.type")
    status = condition.get("status") or ""
    if status not in _STATUSES:
        errors.append(not_supported(f"{path}.status", status, _STATUSES))
    seen = condition.get("observedGeneration") or 0
    if seen < 0:
        detail = "must be greater than or equal to zero"
        errors.append(invalid(f"{path}.observedGeneration", seen, detail))
    if not condition.get("lastTransitionTime"):
        errors.append(required(f"{path}.lastTransitionTime"))
    reason = condition.get("reason") or ""
    if not reason:
        errors.append(required(f"{path}.reason"))
    else:
        problems = () if _REASON.fullmatch(reason) else (_REASON_RULE,)
        check_each(errors, problems, reason, f"{path}.reason")
        if len(reason.encode()) > _MAX_REASON:
            errors.append(too_long(f"{path}.reason", _MAX_REASON))
    if len((condition.get("message") or "").encode()) > _MAX_MESSAGE:
        errors.append(too_long(f"{path}.message", _MAX_MESSAGE))

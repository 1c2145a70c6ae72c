"""Rules that taint devices."""

from typing import Final

from podium.kubernetes.rules.field_errors import too_many
from podium.golang.json_values import JsonObject
from podium.kubernetes.validation.conditions import check_conditions
from podium.kubernetes.validation.device_attributes import check_taint
from podium.kubernetes.validation.devices import check_pool_name
from podium.kubernetes.validation.names import label_problems, subdomain_problems
from podium.kubernetes.validation.object_meta import (
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.volumes import check_driver_name

_MAX_CONDITIONS: Final = 8


def create_errors(rule: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(rule), False, subdomain_problems)
    _check_spec(errors, rule.get("spec") or {})
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_spec(errors, new.get("spec") or {})
    return errors


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    conditions = (new.get("status") or {}).get("conditions") or []
    check_conditions(errors, conditions, "status.conditions")
    if len(conditions) > _MAX_CONDITIONS:
        errors.append(too_many("status.conditions", len(conditions), _MAX_CONDITIONS))
    return errors


def _check_spec(errors: Errors, spec: JsonObject) -> None:
    selector, path = spec.get("deviceSelector") or {}, "spec.deviceSelector"
    if selector.get("driver") is not None:
        check_driver_name(errors, selector["driver"], f"{path}.driver")
    if selector.get("pool") is not None:
        check_pool_name(errors, selector["pool"], f"{path}.pool")
    if selector.get("device") is not None:
        name = selector["device"]
        check_each(errors, label_problems(name), name, f"{path}.device")
    check_taint(errors, spec.get("taint") or {}, "spec.taint")

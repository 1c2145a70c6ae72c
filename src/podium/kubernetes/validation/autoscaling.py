"""Autoscalers, in the form of v2: whom they scale, by which metrics, how fast."""

from collections.abc import Callable, Mapping
from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.rules.field_errors import forbidden, invalid, not_supported, required
from podium.kubernetes.rules.quantity import is_negative, nano
from podium.kubernetes.validation.field_values import check_not_negative
from podium.kubernetes.validation.names import (
    label_problems,
    path_segment_problems,
    subdomain_problems,
)
from podium.kubernetes.validation.object_meta import (
    NOT_NEGATIVE,
    Errors,
    built_in_meta_errors,
    built_in_meta_update_errors,
    check_each,
    meta_of,
)
from podium.kubernetes.validation.resource_amounts import check_container_name

_MAX_PERIOD_S: Final = 1800
_MAX_WINDOW_S: Final = 3600
_SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
_POLICY_TYPES: Final = ("Percent", "Pods")
_TARGET_TYPES: Final = ("Utilization", "Value", "AverageValue")
_NO_GROUP: Final = "apiVersion must specify API group"


def create_errors(autoscaler: JsonObject) -> Errors:
    errors = built_in_meta_errors(meta_of(autoscaler), True, subdomain_problems)
    _check_spec(errors, autoscaler.get("spec") or {}, {})
    return errors


def update_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    _check_spec(errors, new.get("spec") or {}, old.get("spec") or {})
    return errors


def status_errors(new: JsonObject, old: JsonObject) -> Errors:
    errors = built_in_meta_update_errors(meta_of(new), meta_of(old))
    counts = ("currentReplicas", "desiredReplicas")
    check_not_negative(errors, new.get("status") or {}, counts, "status")
    return errors


def _check_spec(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    lowest = 0 if before.get("minReplicas") == 0 else 1
    if least is not None and least < lowest:
        detail = f"must be greater than or equal to {lowest}"
        errors.append(invalid("spec.minReplicas", least, detail))
    if most == 0:
        errors.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if least is not None and most < least:
        detail = "must be greater than or equal to `minReplicas`"
        errors.append(invalid("spec.maxReplicas", most, detail))
    _check_target(errors, spec.get("scaleTargetRef") or {}, before.get("scaleTargetRef"))
    _check_metrics(errors, spec, before)
    for direction in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(direction)
        if rules is not None:
            _check_rules(errors, rules, f"spec.behavior.{direction}")


def _check_target(errors: Errors, target: JsonObject, before: JsonObject | None) -> None:
    at = "spec.scaleTargetRef"
    _check_reference(errors, target, at)
    kind, version = target.get("kind") or "", target.get("apiVersion") or ""
    if before is not None and (before.get("kind") or "", before.get("apiVersion") or "") == (
        kind,
        version,
    ):
        return
    problem = _version_problem(version, needs_group=kind != "ReplicationController")
    if problem:
        errors.append(invalid(f"{at}.apiVersion", version, problem))


def _check_reference(errors: Errors, reference: JsonObject, path: str) -> None:
    for field in ("kind", "name"):
        value = reference.get(field) or ""
        if not value:
            errors.append(required(f"{path}.{field}"))
        else:
            check_each(errors, path_segment_problems(value), value, f"{path}.{field}")


def _version_problem(version: str, *, needs_group: bool) -> str:
    if version.count("/") > 1:
        return f"unexpected GroupVersion string: {version}"
    has_group = "/" in version and not version.startswith("/")
    return _NO_GROUP if needs_group and not has_group else ""


# --- metrics -------------------------------------------------------------------------------------


def _check_metrics(errors: Errors, spec: JsonObject, before: JsonObject) -> None:
    metrics: list[JsonObject] = spec.get("metrics") or []
    loose = any(map(_has_bad_version, before.get("metrics") or ()))
    for index, metric in enumerate(metrics):
        _check_metric(errors, metric, f"spec.metrics[{index}]", loose=loose)
    if spec.get("minReplicas") == 0:
        outside = ("Object", "External")
        if not any(metric.get("type") in outside for metric in metrics):
            detail = (
                "must specify at least one Object or External metric to support scaling to zero "
                "replicas"
            )
            errors.append(forbidden("spec.metrics", detail))


def _has_bad_version(metric: JsonObject) -> bool:
    described: JsonObject = (metric.get("object") or {}).get("describedObject") or {}
    return bool(_version_problem(described.get("apiVersion") or "", needs_group=False))


def _check_metric(errors: Errors, metric: JsonObject, path: str, *, loose: bool) -> None:
    kind = metric.get("type") or ""
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    supported = sorted(_FIELDS)
    if kind not in _FIELDS:
        errors.append(not_supported(f"{path}.type", kind, supported))
    present = [field for field in ("object", *_CHECKS) if metric.get(field) is not None]
    if present and present[0] == "object":
        _check_object(errors, metric["object"], f"{path}.object", loose=loose)
    elif present:
        first = present[0]
        _CHECKS[first](errors, metric[first], f"{path}.{first}")
    expected = _FIELDS.get(kind)
    if expected is None:
        errors.append(not_supported(f"{path}.type", kind, supported))
    elif metric.get(expected) is None:
        told = "must populate information for the given metric source"
        errors.append(required(f"{path}.{expected}", told))
    if len(present) != 1:
        for field in present:
            if field != expected:
                told = "must populate the given metric source only"
                errors.append(forbidden(f"{path}.{field}", told))


def _check_object(errors: Errors, source: JsonObject, path: str, *, loose: bool) -> None:
    described: JsonObject = source.get("describedObject") or {}
    _check_reference(errors, described, f"{path}.describedObject")
    version = described.get("apiVersion") or ""
    problem = "" if loose else _version_problem(version, needs_group=False)
    if problem:
        errors.append(invalid(f"{path}.describedObject.apiVersion", version, problem))
    _check_identifier(errors, source, path)
    amount, average, _ = _checked_target(errors, source, path)
    if amount is None and average is None:
        told = "must set either a target value or averageValue"
        errors.append(required(f"{path}.target.averageValue", told))


def _check_external(errors: Errors, source: JsonObject, path: str) -> None:
    _check_identifier(errors, source, path)
    amount, average, _ = _checked_target(errors, source, path)
    if amount is None and average is None:
        told = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", told))
    if amount is not None and average is not None:
        told = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", told))


def _check_pods(errors: Errors, source: JsonObject, path: str) -> None:
    _check_identifier(errors, source, path)
    _, average, _ = _checked_target(errors, source, path)
    if average is None:
        told = "must specify a positive target averageValue"
        errors.append(required(f"{path}.target.averageValue", told))


def _check_resource(errors: Errors, source: JsonObject, path: str) -> None:
    if not source.get("name"):
        errors.append(required(f"{path}.name", "must specify a resource name"))
    _check_use(errors, source, path)


def _check_container(errors: Errors, source: JsonObject, path: str) -> None:
    name, container = source.get("name") or "", source.get("container") or ""
    if not name:
        errors.append(required(f"{path}.name", "must specify a resource name"))
    else:
        check_container_name(errors, name, f"{path}.name")
    if not container:
        errors.append(required(f"{path}.container", "must specify a container"))
    else:
        check_each(errors, label_problems(container), container, f"{path}.container")
    _check_use(errors, source, path)


def _check_use(errors: Errors, source: JsonObject, path: str) -> None:
    _, average, use = _checked_target(errors, source, path)
    if use is None and average is None:
        told = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.target.averageUtilization", told))
    if use is not None and average is not None:
        told = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.target.averageValue", told))


_CHECKS: Final[Mapping[str, Callable[[Errors, JsonObject, str], None]]] = {
    "external": _check_external,
    "pods": _check_pods,
    "resource": _check_resource,
    "containerResource": _check_container,
}
_FIELDS: Final[Mapping[str, str]] = {
    f"{name[0].upper()}{name[1:]}": name for name in ("object", *_CHECKS)
}


def _check_identifier(errors: Errors, source: JsonObject, path: str) -> None:
    name = (source.get("metric") or {}).get("name") or ""
    if not name:
        errors.append(required(f"{path}.metric.name", "must specify a metric name"))
    else:
        check_each(errors, path_segment_problems(name), name, f"{path}.metric.name")


def _checked_target(
    errors: Errors, source: JsonObject, path: str
) -> tuple[str | None, str | None, int | None]:
    """The value, average value and average utilisation to aim at."""
    target: JsonObject = source.get("target") or {}
    at, kind = f"{path}.target", target.get("type") or ""
    if not kind:
        errors.append(required(f"{at}.type", "must specify a metric target type"))
    if kind not in _TARGET_TYPES:
        detail = "must be either Utilization, Value, or AverageValue"
        errors.append(invalid(f"{at}.type", kind, detail))
    amount, average = target.get("value"), target.get("averageValue")
    for field, found in (("value", amount), ("averageValue", average)):
        if found is not None and nano(found) <= 0:
            errors.append(invalid(f"{at}.{field}", found, "must be positive"))
    use = target.get("averageUtilization")
    if use is not None and use < 1:
        errors.append(invalid(f"{at}.averageUtilization", use, "must be greater than 0"))
    return amount, average, use


# --- behaviour -----------------------------------------------------------------------------------


def _check_rules(errors: Errors, rules: JsonObject, path: str) -> None:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None and not 0 <= window <= _MAX_WINDOW_S:
        bound = "greater than or equal to zero"
        if window > _MAX_WINDOW_S:
            bound = f"less than or equal to {_MAX_WINDOW_S}"
        errors.append(invalid(f"{path}.stabilizationWindowSeconds", window, f"must be {bound}"))
    choice = rules.get("selectPolicy")
    if choice is not None and choice not in _SELECT_POLICIES:
        errors.append(not_supported(f"{path}.selectPolicy", choice, _SELECT_POLICIES))
    policies = rules.get("policies") or []
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        _check_policy(errors, policy, f"{path}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and is_negative(tolerance):
        errors.append(invalid(f"{path}.tolerance", tolerance, NOT_NEGATIVE))


def _check_policy(errors: Errors, policy: JsonObject, path: str) -> None:
    kind = policy.get("type") or ""
    if kind not in _POLICY_TYPES:
        errors.append(not_supported(f"{path}.type", kind, _POLICY_TYPES))
    for field in ("value", "periodSeconds"):
        amount = policy.get(field) or 0
        if amount <= 0:
            errors.append(invalid(f"{path}.{field}", amount, "must be greater than zero"))
    period = policy.get("periodSeconds") or 0
    if period > _MAX_PERIOD_S:
        detail = f"must be less than or equal to {_MAX_PERIOD_S}"
        errors.append(invalid(f"{path}.periodSeconds", period, detail))

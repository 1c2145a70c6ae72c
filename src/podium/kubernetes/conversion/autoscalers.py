"""Autoscalers: stored in the form of v2, of which v1 shows what it has fields for.

The rest of a v2 autoscaler, other metrics than the use of CPU, its behaviour, conditions and what
was last measured, is in annotations of its v1 form, as JSON. An annotation
that cannot be read counts as absent.

The metrics of autoscalers, in the form of v2 and in the older one that v1 keeps in annotations. The
older form names amounts by what they are (`targetAverageValue`), the newer one by a target with a
type. Fields are written in the order in which Go writes them, since they end as text.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from podium.golang.json_reader import JSONSyntaxError, read_whole
from podium.golang.json_values import JsonObject, JsonValue, copy_json
from podium.kubernetes.defaulting.workloads import DEFAULT_METRIC
from podium.kubernetes.rules.field_errors import go_json
from podium.kubernetes.rules.quantity import nano
from podium.kubernetes.schema.catalogue import built_in_struct
from podium.kubernetes.schema.decoding import DecodeError, read_struct
from podium.kubernetes.validation.go_forms import go_form

_METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
_MEASURED: Final = "autoscaling.alpha.kubernetes.io/current-metrics"
_BEHAVIOR: Final = "autoscaling.alpha.kubernetes.io/behavior"
_CONDITIONS: Final = "autoscaling.alpha.kubernetes.io/conditions"
_ANNOTATIONS: Final = frozenset({_METRICS, _MEASURED, _BEHAVIOR, _CONDITIONS})
_SHARED_SPEC: Final = ("scaleTargetRef", "minReplicas", "maxReplicas")
_SHARED_STATUS: Final = ("observedGeneration", "lastScaleTime")

T = TypeVar("T")


def as_v1_autoscaler(value: JsonObject) -> JsonObject:
    """An autoscaler of v2 as v1 shows it."""
    spec: JsonObject = value.get("spec") or {}
    status: JsonObject = value.get("status") or {}
    metrics: list[JsonObject] = spec.get("metrics") or []
    measured: list[JsonObject] = status.get("currentMetrics") or []
    shown: JsonObject = {name: spec[name] for name in _SHARED_SPEC if name in spec}
    use = next((use for use in map(_wanted_use, metrics) if use is not None), None)
    if use is not None:
        shown["targetCPUUtilizationPercentage"] = use
    seen: JsonObject = {name: status[name] for name in _SHARED_STATUS if name in status}
    for name in ("currentReplicas", "desiredReplicas"):
        seen[name] = status.get(name) or 0
    for each in measured:
        found = _measured_use(each)
        if found is not None:
            seen["currentCPUUtilizationPercentage"] = found
    annotations = _own_annotations(value)
    others = [as_old_metric(each) for each in metrics if _wanted_use(each) is None]
    for name, listed in (
        (_METRICS, others),
        (_MEASURED, [as_old_measurement(each) for each in measured]),
        (_CONDITIONS, status.get("conditions")),
    ):
        if listed:
            annotations[name] = go_json(listed)
    if spec.get("behavior") is not None:
        form = go_form("autoscaling/v2", "HorizontalPodAutoscalerBehavior", spec["behavior"])
        annotations[_BEHAVIOR] = go_json(form)
    return _assemble_autoscaler(value, annotations, shown, seen)


def as_v2_autoscaler(value: JsonObject) -> JsonObject:
    """An autoscaler of v1 in the form of v2."""
    spec: JsonObject = value.get("spec") or {}
    status: JsonObject = value.get("status") or {}
    annotations: JsonObject = (value.get("metadata") or {}).get("annotations") or {}
    shown: JsonObject = {name: spec[name] for name in _SHARED_SPEC if name in spec}
    metrics = _read_list(annotations, _METRICS, "MetricSpec", as_new_metric) or []
    use = spec.get("targetCPUUtilizationPercentage")
    if use is not None:
        metrics = [*metrics, _use_of_cpu(use)]
    shown["metrics"] = metrics or [copy_json(DEFAULT_METRIC)]
    behavior = _read_behavior(annotations)
    if behavior:
        shown["behavior"] = behavior
    seen: JsonObject = {name: status[name] for name in _SHARED_STATUS if name in status}
    if status.get("currentReplicas"):
        seen["currentReplicas"] = status["currentReplicas"]
    seen["desiredReplicas"] = status.get("desiredReplicas") or 0
    seen["currentMetrics"] = _read_list(annotations, _MEASURED, "MetricStatus", as_new_measurement)
    found = status.get("currentCPUUtilizationPercentage")
    if seen["currentMetrics"] is None and found is not None:
        resource = {"name": "cpu", "current": {"averageUtilization": found}}
        seen["currentMetrics"] = [{"type": "Resource", "resource": resource}]
    conditions = _read_conditions(annotations)
    if conditions:
        seen["conditions"] = conditions
    return _assemble_autoscaler(value, _own_annotations(value), shown, seen)


def _assemble_autoscaler(
    value: JsonObject, annotations: JsonObject, spec: JsonObject, status: JsonObject
) -> JsonObject:
    metadata = {
        name: found
        for name, found in (value.get("metadata") or {}).items()
        if name != "annotations"
    }
    if annotations:
        metadata["annotations"] = annotations
    return {**value, "metadata": metadata, "spec": spec, "status": status}


def _own_annotations(value: JsonObject) -> JsonObject:
    annotations: JsonObject = (value.get("metadata") or {}).get("annotations") or {}
    return {name: text for name, text in annotations.items() if name not in _ANNOTATIONS}


def _use_of_cpu(percent: int) -> JsonObject:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _wanted_use(metric: JsonObject) -> int | None:
    """The percentage, if the metric is the one that v1 has a field for."""
    resource: JsonObject = metric.get("resource") or {}
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    found: int | None = (resource.get("target") or {}).get("averageUtilization")
    return found


def _measured_use(measurement: JsonObject) -> int | None:
    resource: JsonObject = measurement.get("resource") or {}
    if measurement.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    found: int | None = (resource.get("current") or {}).get("averageUtilization")
    return found


# --- annotations ---------------------------------------------------------------------------------


def _read_list(
    annotations: JsonObject, name: str, struct: str, converted: Callable[[JsonObject], T]
) -> list[T] | None:
    """The items of an annotation in the form of v2; None if there is none that can be read."""
    read = _read(annotations, name, "autoscaling", struct)
    return None if read is None else [converted(each) for each in read]


def _read_conditions(annotations: JsonObject) -> Sequence[JsonObject] | None:
    section = "autoscaling/v2"
    return _read(annotations, _CONDITIONS, section, "HorizontalPodAutoscalerCondition")


def _read(annotations: JsonObject, name: str, section: str, struct: str) -> list[JsonObject] | None:
    found = _json_of(annotations, name)
    if not isinstance(found, list):
        return None
    of = built_in_struct(section, struct)
    try:
        return [read_struct({} if each is None else each, of).value for each in found]
    except DecodeError:
        return None


def _read_behavior(annotations: JsonObject) -> JsonObject | None:
    found = _json_of(annotations, _BEHAVIOR)
    if not isinstance(found, dict):
        return None
    try:
        struct = built_in_struct("autoscaling/v2", "HorizontalPodAutoscalerBehavior")
        return read_struct(_with_json_names(found), struct).value
    except DecodeError:
        return None


def _with_json_names(value: JsonValue) -> JsonValue:
    """upstream: behaviour is written with the names that Go's internal types have."""
    if isinstance(value, list):
        return [_with_json_names(item) for item in value]
    if isinstance(value, dict):
        return {
            f"{key[:1].lower()}{key[1:]}": _with_json_names(item) for key, item in value.items()
        }
    return value


def _json_of(annotations: JsonObject, name: str) -> JsonValue:
    text = annotations.get(name)
    if not text:
        return None
    try:
        found: JsonValue = read_whole(text)
    except (JSONSyntaxError, RecursionError):
        return None
    return found


_SOURCES: Final = ("object", "pods", "resource", "containerResource", "external")
_BY_NAME: Final = ("resource", "containerResource")
"""Those of a resource, which have no metric of their own."""


def as_old_metric(metric: JsonObject) -> JsonObject:
    """What to scale by, in the older form."""
    return _convert_metric(metric, _old_source)


def as_new_metric(metric: JsonObject) -> JsonObject:
    return _convert_metric(metric, _new_source)


def as_old_measurement(measurement: JsonObject) -> JsonObject:
    """What was last measured, in the older form."""
    return _convert_metric(measurement, _old_status)


def as_new_measurement(measurement: JsonObject) -> JsonObject:
    return _convert_metric(measurement, _new_status)


def _convert_metric(
    metric: JsonObject, convert: Callable[[str, JsonObject], JsonObject]
) -> JsonObject:
    found: JsonObject = {
        field: convert(field, metric[field]) for field in _SOURCES if field in metric
    }
    return {"type": metric.get("type") or "", **found}


def _old_source(field: str, source: JsonObject) -> JsonObject:
    metric: JsonObject = source.get("metric") or {}
    target: JsonObject = source.get("target") or {}
    if field in _BY_NAME:
        return _set(
            name=source.get("name") or "",
            targetAverageUtilization=target.get("averageUtilization"),
            targetAverageValue=target.get("averageValue"),
            container=_container(field, source),
        )
    name, selector = metric.get("name") or "", metric.get("selector")
    if field == "external":
        return _set(
            metricName=name,
            metricSelector=selector,
            targetValue=target.get("value"),
            targetAverageValue=target.get("averageValue"),
        )
    if field == "pods":
        average = target.get("averageValue") or "0"
        return _set(metricName=name, targetAverageValue=average, selector=selector)
    return _set(
        target=_reference(source.get("describedObject")),
        metricName=name,
        targetValue=target.get("value") or "0",
        selector=selector,
        averageValue=target.get("averageValue"),
    )


def _new_source(field: str, source: JsonObject) -> JsonObject:
    average = source.get("targetAverageValue")
    if field in _BY_NAME:
        use = source.get("targetAverageUtilization")
        kind = "AverageValue" if use is None else "Utilization"
        target = _set(type=kind, averageValue=average, averageUtilization=use)
        container = _container(field, source)
        return _set(name=source.get("name") or "", target=target, container=container)
    if field == "pods":
        target = {"type": "AverageValue", "averageValue": average}
        return {"metric": _metric(source, "selector"), "target": target}
    amount = source.get("targetValue")
    if field == "external":
        kind = "AverageValue" if amount is None else "Value"
        target = _set(type=kind, value=amount, averageValue=average)
        return {"metric": _metric(source, "metricSelector"), "target": target}
    average = source.get("averageValue")
    if average is not None and nano(str(amount)) == 0:
        amount = None  # upstream: the older form cannot leave it out
    kind = "Value" if average is None else "AverageValue"
    return {
        "describedObject": _reference(source.get("target")),
        "target": _set(type=kind, value=amount, averageValue=average),
        "metric": _metric(source, "selector"),
    }


def _old_status(field: str, source: JsonObject) -> JsonObject:
    metric: JsonObject = source.get("metric") or {}
    current: JsonObject = source.get("current") or {}
    average = current.get("averageValue")
    if field in _BY_NAME:
        return _set(
            name=source.get("name") or "",
            currentAverageUtilization=current.get("averageUtilization"),
            currentAverageValue=average or "0",
            container=_container(field, source),
        )
    name, selector = metric.get("name") or "", metric.get("selector")
    if field == "pods":
        return _set(metricName=name, currentAverageValue=average or "0", selector=selector)
    amount = current.get("value") or "0"
    if field == "external":
        return _set(
            metricName=name,
            metricSelector=selector,
            currentValue=amount,
            currentAverageValue=average,
        )
    return _set(
        target=_reference(source.get("describedObject")),
        metricName=name,
        currentValue=amount,
        selector=selector,
        averageValue=average,
    )


def _new_status(field: str, source: JsonObject) -> JsonObject:
    average = source.get("currentAverageValue")
    if field in _BY_NAME:
        use = source.get("currentAverageUtilization")
        if use is not None and nano(str(average)) == 0:
            average = None  # the older form cannot leave it out
        current = _set(averageValue=average, averageUtilization=use)
        container = _container(field, source)
        return _set(name=source.get("name") or "", current=current, container=container)
    if field == "pods":
        return {"metric": _metric(source, "selector"), "current": _set(averageValue=average)}
    amount = source.get("currentValue")
    if field == "external":
        current = _set(value=amount, averageValue=average)
        return {"metric": _metric(source, "metricSelector"), "current": current}
    return {
        "metric": _metric(source, "selector"),
        "current": _set(value=amount, averageValue=source.get("averageValue")),
        "describedObject": _reference(source.get("target")),
    }


def _set(**fields: JsonValue) -> JsonObject:
    """Those that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _container(field: str, source: JsonObject) -> JsonValue:
    return source.get("container") or "" if field == "containerResource" else None


def _metric(source: JsonObject, selector: str) -> JsonObject:
    return _set(name=source.get("metricName") or "", selector=source.get(selector))


def _reference(found: JsonObject | None) -> JsonObject:
    reference: JsonObject = found or {}
    return _set(
        kind=reference.get("kind") or "",
        name=reference.get("name") or "",
        apiVersion=reference.get("apiVersion") or None,
    )

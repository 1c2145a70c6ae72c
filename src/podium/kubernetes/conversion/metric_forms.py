"""The metrics of autoscalers, in the form of v2 and in the older one that v1 keeps in annotations.

The older form names amounts by what they are (`targetAverageValue`), the newer one by a target with
a type. Fields are written in the order in which Go writes them, since they end as text.
"""

from collections.abc import Callable
from typing import Final

from podium.golang.json_values import JsonObject, JsonValue
from podium.kubernetes.rules.quantity import nano

_SOURCES: Final = ("object", "pods", "resource", "containerResource", "external")
_BY_NAME: Final = ("resource", "containerResource")
"""Those of a resource, which have no metric of their own."""


def as_old_metric(metric: JsonObject) -> JsonObject:
    """What to scale by, in the older form."""
    return _converted(metric, _old_source)


def as_new_metric(metric: JsonObject) -> JsonObject:
    return _converted(metric, _new_source)


def as_old_measurement(measurement: JsonObject) -> JsonObject:
    """What was last measured, in the older form."""
    return _converted(measurement, _old_status)


def as_new_measurement(measurement: JsonObject) -> JsonObject:
    return _converted(measurement, _new_status)


def _converted(metric: JsonObject, convert: Callable[[str, JsonObject], JsonObject]) -> JsonObject:
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

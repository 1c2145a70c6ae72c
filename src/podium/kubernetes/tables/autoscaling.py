"""Autoscalers, in both versions."""

from typing import Final

from podium.golang.json_values import JsonObject
from podium.kubernetes.conversion.autoscalers import as_v2_autoscaler
from podium.kubernetes.kinds.record import Cells, Printer
from podium.kubernetes.tables.printer import (
    NONE,
    UNKNOWN,
    UNSET,
    age_of,
    columns_of,
    name_of,
    spec_of,
    status_of,
)

_SHOWN: Final = 2
_FIELDS: Final = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_COLUMNS: Final = columns_of(
    "Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age"
)


def _autoscaler(obj: JsonObject, now: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    target = spec.get("scaleTargetRef") or {}
    least = spec.get("minReplicas")
    return [
        name_of(obj),
        f"{target.get('kind') or ''}/{target.get('name') or ''}",
        _targets(spec.get("metrics") or [], status.get("currentMetrics") or []),
        UNSET if least is None else str(least),
        spec.get("maxReplicas") or 0,
        status.get("currentReplicas") or 0,
        age_of(obj, now),
    ]


def _targets(metrics: list[JsonObject], measured: list[JsonObject]) -> str:
    if not metrics:
        return NONE
    shown = [
        _target(metric, measured[index] if index < len(measured) else {})
        for index, metric in enumerate(metrics)
    ]
    text = ", ".join(shown[:_SHOWN])
    return f"{text} + {len(shown) - _SHOWN} more..." if len(shown) > _SHOWN else text


def _target(metric: JsonObject, measurement: JsonObject) -> str:
    field = _FIELDS.get(metric.get("type") or "")
    if field is None:
        return "<unknown type>"
    source, current = metric[field], (measurement.get(field) or {}).get("current")
    target = source.get("target") or {}
    average = target.get("averageValue")
    if field in ("resource", "containerResource"):
        name = source.get("name") or ""
        if average is not None:
            return f"{name}: {_amount(current, 'averageValue')}/{average}"
        return f"{name}: {_percent(current, UNKNOWN)}/{_percent(target, '<auto>')}"
    if field == "pods":
        return f"{_amount(current, 'averageValue')}/{average}"
    if average is not None:
        found = (current or {}).get("averageValue")
        return f"{UNKNOWN if found is None else found}/{average} (avg)"
    return f"{_amount(current, 'value')}/{target.get('value')}"


def _amount(current: JsonObject | None, field: str) -> str:
    """What was measured; an amount that is missing in a measurement counts as none."""
    return UNKNOWN if current is None else str(current.get(field) or "0")


def _percent(holder: JsonObject | None, otherwise: str) -> str:
    use = (holder or {}).get("averageUtilization")
    return otherwise if use is None else f"{use}%"


def _old_autoscaler(obj: JsonObject, now: float) -> Cells:
    return _autoscaler(as_v2_autoscaler(obj), now)


AUTOSCALER: Final = Printer(_COLUMNS, _autoscaler)
OLD_AUTOSCALER: Final = Printer(_COLUMNS, _old_autoscaler)

"""Defaults of autoscalers: the use of CPU to aim at, and how fast to scale."""

from typing import Final

from podium.golang.json_values import JsonObject, copied

_CPU_PERCENT: Final = 80
DEFAULT_METRIC: Final[JsonObject] = {
    "type": "Resource",
    "resource": {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": _CPU_PERCENT},
    },
}
"""By what is scaled if nothing else is said. Not to be changed."""

_PERIOD_S: Final = 15
_ALL_AT_ONCE: Final[JsonObject] = {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S}
_SCALE_UP: Final[JsonObject] = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [{"type": "Pods", "value": 4, "periodSeconds": _PERIOD_S}, _ALL_AT_ONCE],
}
_SCALE_DOWN: Final[JsonObject] = {"selectPolicy": "Max", "policies": [_ALL_AT_ONCE]}


def set_v1_autoscaler_defaults(autoscaler: JsonObject) -> None:
    spec = autoscaler.get("spec")
    if spec is None:
        spec = autoscaler["spec"] = {}
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1


def set_autoscaler_defaults(autoscaler: JsonObject) -> None:
    """Of an autoscaler in the form of v2."""
    set_v1_autoscaler_defaults(autoscaler)
    spec = autoscaler["spec"]
    if not spec.get("metrics"):
        spec["metrics"] = [copied(DEFAULT_METRIC)]
    behavior = spec.get("behavior")
    if behavior is not None:
        for name, defaults in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
            behavior[name] = {**copied(defaults), **(behavior.get(name) or {})}
